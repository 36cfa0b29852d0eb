#pragma once

#include <string_view>

#include "slicewise/models/catalogue.hpp"

// One reader per catalogue file. All throw std::runtime_error that names file and field.
namespace slicewise::models {

std::vector<InstanceType> read_instances(std::string_view json);
std::vector<Interconnect> read_interconnects(std::string_view json);
std::vector<GpuModel> read_gpus(std::string_view json);
std::vector<MigGeometry> read_mig(std::string_view json);
std::vector<WorkloadProfile> read_profiles(std::string_view json);
std::vector<LlmModel> read_llm_models(std::string_view json);
std::vector<SpotMarket> read_spot(std::string_view json);
std::vector<Commitment> read_commitments(std::string_view json);
PriceBook read_prices(std::string_view json);

// Adds a spot price per market: the median over availability zones where there is one, else the
// Spot Advisor's saving off the on-demand price, marked derived.
void add_spot_prices(PriceBook& book, const std::vector<SpotMarket>& markets);

}  // namespace slicewise::models
