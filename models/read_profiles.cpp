#include <nlohmann/json.hpp>

#include "catalog_fields.hpp"
#include "catalog_readers.hpp"

namespace slicewise::models {
namespace {

std::optional<Duration> maybe_seconds(CatalogFields& fields, const std::string& name) {
  const auto value = fields.maybe_number(name);
  if (!value) return std::nullopt;
  return from_seconds(*value);
}

WorkloadProfile read_workload_profile(CatalogFields fields) {
  WorkloadProfile profile;
  profile.name = fields.text("name");
  profile.title = fields.text("title");
  profile.kind = fields.text("kind");
  profile.gpu_model = fields.text("gpu");
  profile.batch = fields.maybe_integer("batch");
  profile.precision = fields.text("precision");
  profile.items_per_step = fields.maybe_number("itemsPerStep");
  profile.throughput_per_second = fields.maybe_number("throughputPerSecond");
  profile.solo_step = fields.maybe_milliseconds("soloMs");
  profile.fixed_part = fields.maybe_milliseconds("fixedMs");
  profile.gpu_work = fields.maybe_milliseconds("workMs");
  profile.norm_p = fields.maybe_number("normP");
  profile.capacity_share = fields.maybe_number("capacityShare");
  profile.bandwidth_share = fields.maybe_number("bandwidthShare");
  profile.sensitivity = fields.maybe_number("sensitivity");
  profile.pressure = fields.maybe_number("pressure");
  profile.duty = fields.maybe_number("duty");
  profile.memory = fields.maybe_mebibytes("memoryMib");
  profile.burst = maybe_seconds(fields, "burstSeconds");
  profile.idle = maybe_seconds(fields, "idleSeconds");
  profile.solo_slice = fields.text_or_empty("soloSlice");
  profile.source = fields.text("source");
  profile.provenance = fields.named_texts("provenance");
  profile.note = fields.text_or_empty("note");
  fields.done();
  return profile;
}

}  // namespace

std::vector<WorkloadProfile> read_profiles(std::string_view json) {
  const auto document = nlohmann::json::parse(json);
  CatalogFields file(document, "profiles.json");
  const std::string date = file.text("date");
  std::vector<WorkloadProfile> profiles;
  for (CatalogFields& fields : file.objects("profiles")) {
    profiles.push_back(read_workload_profile(fields));
    profiles.back().date = date;
  }
  file.done();
  return profiles;
}

}  // namespace slicewise::models
