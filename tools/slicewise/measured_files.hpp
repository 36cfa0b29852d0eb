#pragma once

#include <string>
#include <vector>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/models/llm_shape.hpp"
#include "slicewise/models/measurements.hpp"
#include "slicewise/sim/calibration.hpp"

#include "options.hpp"

namespace slicewise::tools {

// What a user measured or recorded, in whatever files.
struct MeasuredFiles {
  std::vector<models::Measurement> measurements;  // of the window those that count
  std::vector<models::LlmShape> shapes;
  std::vector<sim::WindowPoint> window;
  std::vector<std::string> notes;  // what of the files counts, and what was left out
};

// --workload, --gpu and the like: what files leave out.
std::vector<CLI::Option*> add_context(CLI::App& verb, models::MeasuredContext& context);

// The files that are named, decompressed.
Expected<std::vector<SourceText>> read_measured_texts(const std::vector<std::string>& names);

// Sorts the files by what they hold; answers of Prometheus are one window. All mistakes at once.
Expected<MeasuredFiles> read_measured(const std::vector<SourceText>& files,
                                      const models::Catalogue& catalogue,
                                      const models::MeasuredContext& context = {});

}  // namespace slicewise::tools
