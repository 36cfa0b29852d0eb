#include <cmath>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/models/execution_law.hpp"
#include "slicewise/models/sharing_law.hpp"

namespace slicewise::models {

WorkloadProfile on_whole_gpu(WorkloadProfile profile, const Catalogue& catalogue) {
  const MigGeometry* geometry = catalogue.find_mig(profile.gpu_model);
  if (profile.solo_slice.empty() || geometry == nullptr || !profile.solo_step) return profile;
  ClientLaw law;
  law.capacity_share = profile.capacity_share.value_or(1);
  law.bandwidth_share = profile.bandwidth_share.value_or(kDefaultBandwidthShare);
  law.norm_p = profile.norm_p.value_or(kTrainingNorm);
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
