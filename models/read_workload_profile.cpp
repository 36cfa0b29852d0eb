#include "slicewise/models/uncertain_figures.hpp"

#include "catalog_fields.hpp"

namespace slicewise::models {
namespace {

std::optional<Duration> maybe_seconds(CatalogFields& fields, const std::string& name) {
  const auto value = maybe_number(fields, name);
  if (!value) return std::nullopt;
  return from_seconds(*value);
}

}  // namespace

WorkloadProfile read_workload_profile(CatalogFields fields) {
  constexpr double kMostNorm = 1'000;
  constexpr double kMostSigma = 10;
  WorkloadProfile profile;
  profile.name = fields.text("name");
  profile.title = fields.has("title") ? fields.text("title") : profile.name;
  profile.kind = fields.text("kind");
  profile.gpu_model = fields.text("gpu");
  profile.batch = maybe_integer(fields, "batch", 1);
  profile.precision = text_or_empty(fields, "precision");
  profile.items_per_step = maybe_number(fields, "itemsPerStep");
  profile.throughput_per_second = maybe_number(fields, "throughputPerSecond");
  profile.solo_step = maybe_milliseconds(fields, "soloMs");
  profile.fixed_part = maybe_milliseconds(fields, "fixedMs");
  profile.gpu_work = maybe_milliseconds(fields, "workMs");
  profile.norm_p = maybe_number(fields, "normP", 1, kMostNorm);
  profile.capacity_share = maybe_share(fields, "capacityShare");
  profile.bandwidth_share = maybe_share(fields, "bandwidthShare");
  profile.sensitivity = maybe_number(fields, "sensitivity");
  profile.pressure = maybe_number(fields, "pressure");
  profile.duty = maybe_share(fields, "duty");
  profile.request_duty = maybe_share(fields, "requestDuty");
  profile.turn_use = maybe_share(fields, "turnUse");
  profile.kernel_time = maybe_milliseconds(fields, "kernelMs");
  profile.extra_per_item = maybe_milliseconds(fields, "extraPerItemMs");
  profile.host_time = maybe_milliseconds(fields, "hostMs");
  profile.time_sigma = maybe_number(fields, "timeSigma", 0, kMostSigma);
  profile.memory = maybe_mebibytes(fields, "memoryMib");
  profile.burst = maybe_seconds(fields, "burstSeconds");
  profile.idle = maybe_seconds(fields, "idleSeconds");
  profile.solo_slice = text_or_empty(fields, "soloSlice");
  profile.source = is_users(fields) && !fields.has("source") ? fields.reading()->usual_source.text
                                                             : fields.text("source");
  if (fields.has("provenance")) profile.provenance = fields.named_texts("provenance");
  if (fields.has("uncertainty")) profile.uncertainty = read_uncertainty(fields, kUncertainFigures);
  profile.note = text_or_empty(fields, "note");
  if (profile.solo_step && profile.solo_step->ns == 0) fields.fail("soloMs", "must be above 0");
  fields.done();
  return profile;
}

}  // namespace slicewise::models
