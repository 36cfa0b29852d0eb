#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/models/catalogue.hpp"
#include "slicewise/sim/calibration.hpp"

#include "law_fit.hpp"

// What fit_profiles() puts together, each in a file of its name.
namespace slicewise::sim::profile_fit {

// fit_profiles(); `leave_out`: with what is fitted to the rest said of each row, four fifths of the
// work.
Expected<FittedProfiles> fit_all(std::span<const models::Measurement> measurements,
                                 const models::Catalogue& catalogue,
                                 std::span<const models::LlmShape> shapes, bool leave_out);

// How the time of a step grows with its batch.

// T(b) = fixed + b per_item on the whole GPU, neither below 0.
struct BatchLine {
  double fixed_ms = 0;
  double per_item_ms = 0;
  double half_width_95 = 0;  // of per_item_ms
  std::string batches;       // "1, 4, 8"
};

// Of one process alone on the whole GPU, least squares of relative errors. nullopt with fewer than
// two batches, and where the time does not grow with them.
std::optional<BatchLine> batch_line(const Company& company);

// What workloads like one are known to take of a GPU, where its own measurements do not tell.

struct ClassFigure {
  double value = 0;  // the median
  double least = 0;
  double most = 0;
  std::size_t profiles = 0;
};

// capacityShare of the catalogue's profiles next to this one: by batch and time alone, each as the
// logarithm of the ratio. Those whose figures were estimated do not count. nullopt: there are none.
std::optional<ClassFigure> capacity_of_class(const models::WorkloadProfile& like,
                                             const models::Catalogue& catalogue);

// How much of its turns a workload uses, from pairs that took turns.

// Of each pair that has a row of both: the GPU's time goes by turns, so that speed x duty is to
// that of the other as the parts of a turn that they use. Those that met, directly or over others,
// have them by least squares of logarithms; the largest is 1. What has a row of one only is noted.
// REQUIRES: each was measured alone, too.
void add_turn_uses(const std::vector<Measurement>& pairs, const models::Catalogue& catalogue,
                   FittedProfiles& fitted);

// The step of a language model from what benchmarks of its server saw.

// Of each workload and GPU whose benchmarks were run with two numbers of requests at once, or with
// prompts of two lengths, or more. Those run once only are told in `notes`. Where a shape has the
// workload's name, its size says what is believed before.
std::vector<FittedStep> fit_steps(std::span<const models::Measurement> measurements,
                                  std::span<const models::LlmShape> shapes,
                                  const models::Catalogue& catalogue, Diagnostics& notes);

// Rows that are in seconds among others in milliseconds.

// Of one setting: their mean would be a time that nobody measured. And times beside others that are
// shorter than alone.
void refuse_other_units(const Company& company, Diagnostics& problems);

// Of times that no sharing explains one is in another unit. And rows that are far from all others
// of their setting.
void note_other_units(const Company& company, Diagnostics& notes);

// What is worth measuring next.

// Of what could be measured of a batch and was not that of which least is known; nullopt where all
// of it is known well enough. `like`: a row of the batch.
std::optional<NextMeasurement> next_measurement(const Company& company, const Ignorance& ignorance,
                                                const models::Catalogue& catalogue,
                                                const Measurement& like,
                                                const FittedProfile& fitted);

}  // namespace slicewise::sim::profile_fit
