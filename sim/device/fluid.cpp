#include "slicewise/sim/device/fluid.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>

namespace slicewise::sim {
namespace {

// Work below this is rounding, not work: without it 100 ns at a third of the speed take 301 ns.
constexpr double kRoundingNs = 1e-3;

// Beyond the range of the clock for practical purposes, inside that of its integers.
constexpr double kFarthestNs = 4e18;

// Of the speeds that are kept: a few kilobytes for each domain, whoever shares it.
constexpr std::size_t kMostKept = 256;
constexpr std::size_t kMostTold = 64;  // contexts that a company has a bit for

std::uint64_t bit(std::uint32_t context) { return std::uint64_t{1} << context % kMostTold; }

// How many companies of so many contexts are kept: a power of two, 0 where they cannot be told.
std::size_t slots_for(std::size_t contexts) {
  if (contexts == 0 || contexts > kMostTold) return 0;
  const std::size_t room = std::bit_floor(kMostKept / contexts);
  return contexts < std::numeric_limits<std::size_t>::digits - 1
             ? std::min(room, std::size_t{1} << contexts)
             : room;
}

}  // namespace

Fluid::Fluid(std::uint32_t contexts) : clients_(contexts) {
  active_.reserve(contexts);
  laws_.reserve(contexts);
  left_ns_.reserve(contexts);
  speeds_.reserve(contexts);
  const std::size_t slots = slots_for(contexts);
  known_.resize(slots);
  known_speeds_.resize(slots * contexts);
  known_busy_rates_.resize(slots * contexts);
}

void Fluid::set_client(std::uint32_t context, const models::DomainClient& client) {
  assert(!is_active(find(context), context) && client.duty > 0 && client.duty <= 1);
  if (clients_[context].law == client) return;
  clients_[context].law = client;
  for (std::uint64_t& company : known_) {
    if ((company & bit(context)) != 0) company = 0;
  }
}

void Fluid::advance(TimePoint t) {
  assert(now_ <= t && t <= next_.at);
  now_ = t;
}

std::uint32_t Fluid::complete() {
  assert(now_ == next_.at && !active_.empty());
  const std::uint32_t finished = next_.context;
  settle();
  remove(find(finished));
  change_speeds();
  return finished;
}

void Fluid::start(std::uint32_t context, Duration work) {
  const std::size_t place = find(context);
  assert(context < clients_.size() && work.ns > 0 && !is_active(place, context));
  settle();
  const auto offset = static_cast<std::ptrdiff_t>(place);
  active_.insert(active_.begin() + offset, context);
  laws_.insert(laws_.begin() + offset, clients_[context].law);
  left_ns_.insert(left_ns_.begin() + offset, static_cast<double>(work.ns));
  company_ |= bit(context);
  change_speeds();
}

void Fluid::wait_by_chance(std::uint32_t context, RandomStream& random) {
  const std::size_t place = find(context);
  assert(is_active(place, context) && since_ == now_);
  const double kernel_ns = models::awaited_kernel_ns(laws_, place);
  const double mean_ns = left_ns_[place] * (1 / speeds_[place] - 1);
  if (kernel_ns <= 0 || mean_ns <= 0) return;
  const double waits_ns = random.inverse_gaussian(mean_ns, 2 * mean_ns * kernel_ns);
  left_ns_[place] += (waits_ns - mean_ns) * speeds_[place];
  project();
}

Duration Fluid::left(std::uint32_t context) const {
  const std::size_t place = find(context);
  assert(is_active(place, context));
  const double left = left_ns_[place] - speeds_[place] * elapsed_ns();
  return {std::max<std::int64_t>(0, static_cast<std::int64_t>(std::ceil(left - kRoundingNs)))};
}

void Fluid::shorten(std::uint32_t context, Duration less) {
  assert(Duration{} <= less && less < left(context));
  settle();
  left_ns_[find(context)] -= static_cast<double>(less.ns);
  project();
}

void Fluid::cancel(std::uint32_t context) {
  const std::size_t place = find(context);
  if (!is_active(place, context)) return;
  settle();
  remove(place);
  change_speeds();
}

EngineTime Fluid::time() const {
  EngineTime time;
  for (std::uint32_t context = 0; context < clients_.size(); ++context) {
    time.busy += busy_of(context);
  }
  time.idle = now_ - TimePoint{} - time.busy;
  return time;
}

// Rounded down, so that the contexts' sum never exceeds the time elapsed.
Duration Fluid::busy_of(std::uint32_t context) const {
  const Client& client = clients_[context];
  const double unsettled = client.busy_part_ns + client.busy_rate * elapsed_ns();
  return client.busy + Duration{static_cast<std::int64_t>(unsettled)};
}

std::size_t Fluid::find(std::uint32_t context) const {
  return static_cast<std::size_t>(std::lower_bound(active_.begin(), active_.end(), context) -
                                  active_.begin());
}

void Fluid::remove(std::size_t place) {
  clients_[active_[place]].busy_rate = 0;
  company_ &= ~bit(active_[place]);
  const auto offset = static_cast<std::ptrdiff_t>(place);
  active_.erase(active_.begin() + offset);
  laws_.erase(laws_.begin() + offset);
  left_ns_.erase(left_ns_.begin() + offset);
}

// Brings work and busy time up to now(), at the speeds that held since the last change.
void Fluid::settle() {
  const double elapsed = elapsed_ns();
  since_ = now_;
  for (std::size_t place = 0; place < active_.size(); ++place) {
    left_ns_[place] = std::max(0.0, left_ns_[place] - speeds_[place] * elapsed);
    Client& client = clients_[active_[place]];
    const double busy = client.busy_part_ns + client.busy_rate * elapsed;
    const double whole = std::floor(busy);
    client.busy += Duration{static_cast<std::int64_t>(whole)};
    client.busy_part_ns = busy - whole;
  }
}

// Where a company is kept; spread as Knuth has it (The Art of Computer Programming 3, 6.4).
std::size_t Fluid::slot_of(std::uint64_t company) const {
  constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15;
  constexpr int kHighHalf = 32;
  if (company < known_.size()) return company;  // all of them where few share the domain
  return (company * kGolden >> kHighHalf) & (known_.size() - 1);
}

void Fluid::change_speeds() {
  const std::size_t count = active_.size();
  speeds_.resize(count);
  if (known_.empty() || count == 0) {
    models::shared_speeds(laws_, speeds_);
    split_busy_time();
    project();
    return;
  }
  const std::size_t slot = slot_of(company_);
  double* const speeds = &known_speeds_[slot * clients_.size()];
  double* const busy_rates = &known_busy_rates_[slot * clients_.size()];
  if (known_[slot] == company_) {
    for (std::size_t place = 0; place < count; ++place) {
      speeds_[place] = speeds[place];
      clients_[active_[place]].busy_rate = busy_rates[place];
    }
  } else {
    models::shared_speeds(laws_, speeds_);
    split_busy_time();
    known_[slot] = company_;
    for (std::size_t place = 0; place < count; ++place) {
      speeds[place] = speeds_[place];
      busy_rates[place] = clients_[active_[place]].busy_rate;
    }
  }
  project();
}

void Fluid::split_busy_time() {
  double idle = 1;
  double work = 0;
  for (std::size_t place = 0; place < active_.size(); ++place) {
    const double duty = laws_[place].duty;
    idle *= (1 - duty) * speeds_[place];
    work += duty * speeds_[place];
  }
  for (std::size_t place = 0; place < active_.size(); ++place) {
    Client& client = clients_[active_[place]];
    client.busy_rate = (1 - idle) * (laws_[place].duty * speeds_[place] / work);
  }
}

void Fluid::project() {
  next_ = {kNever, 0};
  for (std::size_t place = 0; place < active_.size(); ++place) {
    const double wait = std::ceil(left_ns_[place] / speeds_[place] - kRoundingNs);
    const TimePoint at =
        now_ + Duration{static_cast<std::int64_t>(std::clamp(wait, 0.0, kFarthestNs))};
    if (at < next_.at) next_ = {at, active_[place]};
  }
}

}  // namespace slicewise::sim
