#include "slicewise/models/catalogue.hpp"

#include <cmath>
#include <stdexcept>
#include <string>

#include "slicewise/lookup.hpp"
#include "slicewise/models/execution_law.hpp"
#include "slicewise/models/hardware.hpp"
#include "slicewise/nearest_name.hpp"

#include "catalog_fields.hpp"
#include "embedded/catalog_files.hpp"

namespace slicewise::models {

Bytes usable_memory(const GpuModel& gpu) { return gpu.memory_usable.value_or(gpu.memory_total); }

Bytes usable_memory(const InstanceType& type, const GpuModel& gpu) {
  return type.gpu_fraction < 1 ? type.gpu_memory : usable_memory(gpu);
}

namespace {

// Its figures hold on one GPU model: without that model's own they carry over to no other.
std::string no_figures(const std::string& gpu_model) { return "no figures for " + gpu_model; }

std::string why_unusable(const WorkloadProfile& profile, const Catalogue& catalogue) {
  if (!profile.solo_step) return "no step time";
  if (catalogue.find_gpu(profile.gpu_model) != nullptr) return {};
  return no_figures(profile.gpu_model);
}

}  // namespace

Misfit misfit_of(const InstanceType& type, const Catalogue& catalogue) {
  if (catalogue.find_gpu(type.gpu_model) == nullptr) {
    return {"gpu", "names a GPU model that the catalogue lacks: " + type.gpu_model};
  }
  const Interconnect* link = catalogue.find_interconnect(type.interconnect);
  if (link == nullptr) {
    return {"interconnect", "is not among the interconnects: " + type.interconnect};
  }
  const std::size_t gpus = link->nvlinks.size();
  if (gpus == 0 || gpus == static_cast<std::size_t>(type.gpu_count)) return {};
  return {"interconnect", "is that of another node size"};  // REQUIRES of GpuSets
}

void mark_unusable(Catalogue& catalogue) {
  for (WorkloadProfile& profile : catalogue.profiles) {
    profile.unusable = why_unusable(profile, catalogue);
  }
  for (LlmModel& model : catalogue.llm_models) {
    const GpuModel* gpu = catalogue.find_gpu(model.gpu_model);
    model.unusable = gpu != nullptr ? "" : no_figures(model.gpu_model);
    if (gpu == nullptr) continue;
    const double head_s = head_read_seconds(model.head_parameters, *gpu);
    model.step.weights_s += head_s - model.head_s;
    model.head_s = head_s;
  }
}

const InstanceType* Catalogue::find_instance(std::string_view name) const {
  return find_or_null(instances, name, &InstanceType::name);
}

const Interconnect* Catalogue::find_interconnect(std::string_view name) const {
  return find_or_null(interconnects, name, &Interconnect::name);
}

const MigGeometry* Catalogue::find_mig(std::string_view gpu_model) const {
  const GpuModel* gpu = find_gpu(gpu_model);
  const std::string_view name = gpu == nullptr ? gpu_model : std::string_view(gpu->name);
  return find_if_or_null(
      mig, [name](const MigGeometry& geometry) { return same_name(geometry.gpu_model, name); });
}

const WorkloadProfile* Catalogue::find_profile(std::string_view name) const {
  return find_or_null(profiles, name, &WorkloadProfile::name);
}

const LlmModel* Catalogue::find_llm_model(std::string_view name) const {
  return find_or_null(llm_models, name, &LlmModel::name);
}

namespace {

Catalogue read_catalogue() {
  Catalogue catalogue;
  catalogue.gpus = read_gpus(catalog_files::gpus_json());
  catalogue.instances = read_instances(catalog_files::instances_json());
  catalogue.interconnects = read_interconnects(catalog_files::interconnects_json());
  for (const InstanceType& type : catalogue.instances) {
    const Misfit misfit = misfit_of(type, catalogue);
    if (misfit.field.empty()) continue;
    throw std::runtime_error("instances.json: " + type.name + ": " + misfit.field + " " +
                             misfit.problem);
  }
  catalogue.mig = read_mig(catalog_files::mig_json());
  catalogue.profiles = read_profiles(catalog_files::profiles_json());
  catalogue.llm_models = read_llm_models(catalog_files::llm_models_json());
  mark_unusable(catalogue);
  catalogue.spot = read_spot(catalog_files::spot_json());
  catalogue.commitments = read_commitments(catalog_files::commitments_json());
  catalogue.prices = read_prices(catalog_files::prices_json());
  add_spot_prices(catalogue.prices, catalogue.spot);
  add_block_prices(catalogue.prices, catalogue.commitments);
  return catalogue;
}

}  // namespace

// Read once: a page, and Python, call verbs one after the other.
Catalogue load_catalogue() {
  static const Catalogue shipped = read_catalogue();
  return shipped;
}

WorkloadProfile on_whole_gpu(WorkloadProfile profile, const Catalogue& catalogue) {
  const MigGeometry* geometry = catalogue.find_mig(profile.gpu_model);
  if (profile.solo_slice.empty() || geometry == nullptr || !profile.solo_step) return profile;
  ClientLaw law;
  law.capacity_share = profile.capacity_share.value_or(1);
  law.bandwidth_share = profile.bandwidth_share.value_or(kDefaultBandwidthShare);
  law.norm_p = profile.norm_p.value_or(kDefaultNorm);
  // Seen from the instance, the whole GPU has more than all SMs.
  const double more = static_cast<double>(geometry->sm_total) / geometry->sm_usable;
  const DomainClient whole = client_in(law, {more, 1}, 1);
  const auto shorter = [&](Duration d) {
    return Duration{std::llround(static_cast<double>(d.ns) * whole.stretch)};
  };
  profile.solo_step = shorter(*profile.solo_step);
  profile.capacity_share = whole.gpu_part;
  profile.bandwidth_share = whole.bandwidth / whole.gpu_part;
  if (profile.throughput_per_second) *profile.throughput_per_second /= whole.stretch;
  profile.solo_slice.clear();
  return profile;
}

}  // namespace slicewise::models
