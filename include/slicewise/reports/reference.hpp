#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/models/catalogue.hpp"
#include "slicewise/reports/diagnostics_text.hpp"

// What the program knows without a scenario: codes, fields, topics and the catalogue.
namespace slicewise::reports {

// What a code or a field of the scenario file means: for a code what happens in the cluster, the
// real message, the fix and the source; for a field its type, default, meaning and example; for a
// figure of a result, by its key, its unit, its meaning and what CSV, policies and `diff` call it.
// Unknown topics are a PATH_UNKNOWN diagnostic with the nearest names.
Expected<std::string> explain(std::string_view topic, const TextStyle& style);

// What explain() knows, under headings, each with what it is.
std::string explain_index(const TextStyle& style);

// The topics and codes that explain() knows, one a line.
std::string explain_topics();

// The paths of all fields of a scenario file, one a line, each after the one it is in.
std::string explain_fields();

// What each ExitCode means.
struct ExitCodeInfo {
  int code;
  std::string_view meaning;
};
std::vector<ExitCodeInfo> exit_codes();

enum class ListFormat : std::uint8_t { Table, Wide, Json, Yaml, Csv, Name };

// Which rows of `slicewise get` to show. Empty strings match everything.
struct InstanceFilter {
  std::string family = {};           // "g5", or one type: "g5.xlarge"
  std::string gpu = {};              // GPU model or alias
  std::string region = "us-east-1";  // whose price is shown
  Bytes fits = {};                   // memory that CUDA can use on one device at least this
  bool include_retired = true;
  std::string sort = {};  // "", "name", "price", "price-per-gpu", "gpu-memory"
};

Expected<std::string> list_instances(const models::Catalogue& catalogue,
                                     const InstanceFilter& filter, ListFormat format,
                                     const TextStyle& style);
Expected<std::string> list_gpus(const models::Catalogue& catalogue, const std::string& name_filter,
                                ListFormat format, const TextStyle& style);
Expected<std::string> list_mig_profiles(const models::Catalogue& catalogue, const std::string& gpu,
                                        ListFormat format, const TextStyle& style);
Expected<std::string> list_profiles(const models::Catalogue& catalogue, const std::string& kind,
                                    const std::string& gpu, const std::string& name_filter,
                                    ListFormat format, const TextStyle& style);
// On-demand, spot and commitment figures with their sources.
Expected<std::string> list_prices(const models::Catalogue& catalogue, const std::string& instance,
                                  const std::string& region, ListFormat format,
                                  const TextStyle& style);

// `slicewise explain profile NAME`: every figure of a catalogue profile with its provenance and
// source, what follows on MIG slices and beside copies of itself on its own GPU, and what the
// roofline rule makes of it on the others. An unknown name is a PROFILE_UNKNOWN diagnostic.
Expected<std::string> explain_profile(const models::Catalogue& catalogue, std::string_view name,
                                      const TextStyle& style);

}  // namespace slicewise::reports
