#pragma once

#include <string>
#include <vector>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/reports/diagnostics_text.hpp"

namespace slicewise::reports {

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

}  // namespace slicewise::reports
