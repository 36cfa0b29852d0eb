#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/models/gpu_model.hpp"
#include "slicewise/models/instance_type.hpp"
#include "slicewise/models/interconnect.hpp"
#include "slicewise/models/llm_step.hpp"
#include "slicewise/models/mig_geometry.hpp"
#include "slicewise/models/price_book.hpp"
#include "slicewise/models/workload_profile.hpp"

namespace slicewise::models {

// A spot or commitment figure that is not a plain list price.
struct SpotMarket {
  std::string instance;
  std::string region;
  std::optional<int> savings_percent;  // Spot Advisor, against on-demand
  std::string interruption_bucket;     // monthly reclaim frequency: "<5%", ..., ">20%"; "" unknown
  std::optional<UsdPerHour> median;    // over availability zones with a real market
  int zones = 0;                       // behind the median
  std::string advisor_date;            // "" without Spot Advisor figures
  std::string median_date;             // "" without a median
};

struct Commitment {
  std::string instance;
  std::string kind;    // "Standard RI 1 year all upfront", "Capacity Block"
  std::string region;  // or "most regions"
  std::optional<double> discount_percent;
  std::optional<UsdPerHour> usd;
  std::string valid;  // when the figure held
  std::string note;
  Source source;
};

// Everything that is true before a run starts: read once from the data embedded in the binary,
// immutable afterwards. Lists keep the order of the catalogue files (family, then size).
struct Catalogue {
  std::vector<GpuModel> gpus;
  std::vector<InstanceType> instances;
  std::vector<Interconnect> interconnects;
  std::vector<MigGeometry> mig;
  std::vector<WorkloadProfile> profiles;
  std::vector<SpotMarket> spot;
  std::vector<Commitment> commitments;
  PriceBook prices;
  std::vector<LlmModel> llm_models;

  // nullptr when unknown. GPU models are found by name or alias, ignoring case.
  const GpuModel* find_gpu(std::string_view name) const;
  const InstanceType* find_instance(std::string_view name) const;
  const Interconnect* find_interconnect(std::string_view name) const;
  const MigGeometry* find_mig(std::string_view gpu_model) const;
  const WorkloadProfile* find_profile(std::string_view name) const;
  const LlmModel* find_llm_model(std::string_view name) const;
};

// The profile as the whole GPU without MIG runs it: figures that were measured on the largest MIG
// instance, which has 98 of an A100's 108 SMs, are carried over by law E1. Others stay as they are.
WorkloadProfile on_whole_gpu(WorkloadProfile profile, const Catalogue& catalogue);

// Parses the embedded catalogue. The data ships with the program, so a defect in it is a bug:
// throws std::runtime_error that names file and field.
Catalogue load_catalogue();

}  // namespace slicewise::models
