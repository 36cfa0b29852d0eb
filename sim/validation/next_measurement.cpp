#include <algorithm>
#include <vector>

#include "slicewise/models/mig.hpp"

#include "profile_parts.hpp"

namespace slicewise::sim::profile_fit {
namespace {

constexpr double kEnough = 1.1;  // from the least to the most that it may take

// By the law: two and four processes side by side, and the smallest slice.
std::vector<Measurement> settings_of_law(Measurement like, const models::Catalogue& catalogue) {
  std::vector<Measurement> settings;
  like.slice = "full";
  like.share = {};
  like.active_threads = 1;
  like.sharing = MeasuredSharing::Mps;
  for (const int clients : {2, 4}) {
    like.clients = clients;
    settings.push_back(like);
  }
  const models::MigGeometry* geometry = catalogue.find_mig(like.gpu);
  if (geometry == nullptr || geometry->profiles.empty()) return settings;
  const models::MigProfile& smallest = *std::ranges::min_element(
      geometry->profiles, {}, [](const models::MigProfile& p) { return p.compute_slices; });
  like.sharing = MeasuredSharing::Alone;
  like.clients = 1;
  like.slice = smallest.name;
  like.share = models::mig_share(*geometry, smallest);
  settings.push_back(like);
  return settings;
}

}  // namespace

std::optional<NextMeasurement> next_measurement(const Company& company, const Ignorance& ignorance,
                                                const models::Catalogue& catalogue,
                                                const Measurement& like,
                                                const FittedProfile& fitted) {
  std::optional<NextMeasurement> best;
  double widest = kEnough;
  const auto offer = [&](const Measurement& setting, double least_ms, double most_ms) {
    if (most_ms <= widest * least_ms) return;
    widest = most_ms / least_ms;
    best = NextMeasurement{setting, least_ms, most_ms};
  };
  for (const Measurement& setting : settings_of_law(like, catalogue)) {
    const bool known = std::ranges::any_of(company.law, [&](const Measurement& m) {
      return m.batch == setting.batch && place_of(m) == place_of(setting);
    });
    if (known) continue;
    const Ignorance::Range seconds = ignorance.range_of(company.point(setting));
    offer(setting, 1e3 * seconds.least, 1e3 * seconds.most);
  }
  if (!fitted.profile.duty) {
    Measurement turns = like;
    turns.slice = "full";
    turns.share = {};
    turns.active_threads = 1;
    turns.sharing = MeasuredSharing::TimeSlicing;
    turns.clients = 2;
    const double alone_ms = in_ms(*fitted.profile.solo_step);
    offer(turns, alone_ms, 2 * alone_ms);  // whatever the duty is
  }
  return best;
}

}  // namespace slicewise::sim::profile_fit
