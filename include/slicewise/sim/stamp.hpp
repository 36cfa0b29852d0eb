#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/scenarios/scenario.hpp"
#include "slicewise/version.hpp"

namespace slicewise::sim {

// What figures were made from: all that it takes to make them again. Each result has one.
struct Stamp {
  std::string scenario;
  std::string scenario_file;          // as given; "" when it has none
  std::vector<std::string> settings;  // --set
  std::string scenario_sha256;
  std::vector<std::string> inputs;  // what the scenario says, each as --set takes it
  std::string variant;              // of a study; a result has all of them
  std::size_t variants = 1;         // of the file
  std::uint64_t seed = 0;
  int replications = 0;
  std::string price_date;                     // of the newest price in force; "": without prices
  std::string price_file;                     // laid over the catalogue's prices; "" = none
  std::string price_file_sha256;              // of its bytes, in hexadecimal
  std::vector<std::string> catalogue_files;   // laid over the catalogue, in order
  std::vector<std::string> catalogue_sha256;  // of their bytes, in hexadecimal
  bool allow_pending = false;                 // pods that stay Pending did not count, see judge()
  std::string starts_at;  // of a study that was begun at the peak (at_its_peak): "Mon 13:45"
  std::string version{kVersion};  // of the slicewise that made them
};

// Of variant `variant` of the set, which is judged as `judged`.
Stamp stamp_of(const scenarios::ScenarioSet& set, std::size_t variant,
               const scenarios::Scenario& judged, const models::Catalogue& catalogue);

// Of variant `variant` of the set; of files only who read them knows. REQUIRES: there is one.
Stamp stamp_of(const scenarios::ScenarioSet& set, std::size_t variant,
               const models::Catalogue& catalogue);

// Says which files were laid over the catalogue.
void stamp_layers(const models::Catalogue& catalogue, Stamp& stamp);

}  // namespace slicewise::sim
