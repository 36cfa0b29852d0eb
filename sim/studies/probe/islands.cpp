#include "islands.hpp"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "slicewise/sim/cluster/cluster.hpp"

#include "../../result/merge.hpp"
#include "../../run/replications.hpp"
#include "../../run/shared_tasks.hpp"

namespace slicewise::sim {

namespace {

// What the key of a first replication begins with.
constexpr std::string_view kUntilItMisses = "until it misses ";

// What a replication did on one of its islands, or altogether where it cannot be taken apart.
struct IslandFound {
  std::shared_ptr<const IslandRecord> part;
  std::optional<Replication> whole;
  std::vector<SureMiss> misses;  // of the whole
};

template <class Archive>
void visit_parts(Archive& archive, IslandFound& found) {
  bool is_part = found.part != nullptr;
  archive(is_part);
  if (!is_part) return archive(found.whole, found.misses);
  IslandRecord record = found.part ? *found.part : IslandRecord{};
  archive(record);
  found.part = std::make_shared<const IslandRecord>(std::move(record));
}

// Nothing moves a pod, starts or ends one while requests come and go.
bool pods_stay(const World& world) {
  if (!world.duration || world.changes_nodes() || !world.pipelines.empty()) return false;
  const bool layouts_change = std::ranges::any_of(world.pools, [](const PoolModel& pool) {
    return !pool.layout_changes.empty() || pool.nos.has_value();
  });
  // A claim keeps its pods on one node, whoever came first.
  const bool claims = std::ranges::any_of(world.pools, &PoolModel::dra);
  return !layouts_change && !claims &&
         std::ranges::all_of(world.workloads, [](const WorkloadModel& workload) {
           return workload.spec.kind == WorkloadKind::Service && !workload.spec.autoscaling &&
                  !workload.spec.faults;
         });
}

// The replication, ended as soon as `misses` is not empty. At a glance less is enough for that, and
// it ends as soon as it is likely that nothing is missed, too.
std::optional<Replication> until_it_misses(const World& world, std::size_t replication,
                                           const RunOptions& options, bool at_a_glance,
                                           std::vector<SureMiss>& misses) {
  SureMisses sure(world, static_cast<std::uint32_t>(replication),
                  at_a_glance ? kMissEnough : kClearFactor);
  return whole_replication(world, replication, options, [&](const Replication& so_far) {
    misses = sure.in(so_far);
    return !misses.empty() || (at_a_glance && is_likely_to_hold(world, so_far));
  });
}

World without_requests(World world, std::span<const std::size_t> but = {}) {
  for (std::size_t w = 0; w < world.workloads.size(); ++w) {
    if (!contains(but, w)) world.workloads[w].spec.traffic.reset();
  }
  return world;
}

// Groups that were found to have something in common.
class Unions {
 public:
  explicit Unions(std::size_t count) : of_(count) { std::iota(of_.begin(), of_.end(), 0); }

  std::size_t find(std::size_t n) const {
    while (of_[n] != n) n = of_[n];
    return n;
  }
  void join(std::size_t a, std::size_t b) {
    of_[std::max(find(a), find(b))] = std::min(find(a), find(b));
  }

 private:
  std::vector<std::size_t> of_;
};

std::size_t domains_of(const PoolModel& pool) {
  std::size_t domains = 0;
  for (const NodeLayout& layout : pool.layouts) domains += layout.domains.size();
  return domains;
}

// Of one GPU or instance, for requests as they come; 0: they have no rate in advance.
double busy_with(const WorkloadModel& workload) {
  const auto& traffic = workload.spec.traffic;
  if (!traffic || workload.spec.count == 0) return 0;
  double gpu = 0;
  for (const PoolDemand& demand : workload.on_pool) {
    if (!demand.schedulable) continue;
    for (const Demand& there : demand.in_kind) gpu = std::max(gpu, to_seconds(there.gpu));
  }
  return traffic->mean.per_second * gpu;
}

}  // namespace

IslandRun::IslandRun(const World& world, const RunOptions& options, IslandRecords* known,
                     IslandKeys keys)
    : world_(world),
      options_(options),
      known_(known),
      keys_(std::move(keys)),
      quiet_(without_requests(world)),
      stays_(pods_stay(world)) {
  std::size_t domain = 0;
  for (std::size_t p = 0; p < world.pools.size(); ++p) {
    for (int n = 0; n < world.pools[p].node_slots(); ++n) {
      node_pool_.push_back(p);
      first_domain_.push_back(domain);
      domain += domains_of(world.pools[p]);
    }
  }
  first_domain_.push_back(domain);
}

// Every pod works on GPUs of one node, and nothing ever happened to it.
IslandRun::Replica IslandRun::apart(const Replication& quiet) const {
  Replica one;
  Island& all = one.islands.emplace_back();
  for (std::size_t w = 0; w < world_.workloads.size(); ++w) all.workloads.push_back(w);
  for (std::size_t n = 0; n < node_pool_.size(); ++n) all.nodes.push_back(n);
  one.done.push_back(0);
  one.in_one = true;
  std::size_t pods = 0;
  for (const WorkloadModel& w : world_.workloads) pods += static_cast<std::size_t>(w.spec.count);
  if (quiet.pending_at_end + quiet.oom_kills + quiet.restarts + quiet.evicted > 0) return one;
  std::vector<std::optional<std::size_t>> sits(pods);
  std::vector<std::optional<std::size_t>> on_node(node_pool_.size());  // a workload there
  Unions together(world_.workloads.size());
  std::size_t found = 0;
  for (std::size_t n = 0; n < node_pool_.size(); ++n) {
    for (std::size_t d = first_domain_[n]; d < first_domain_[n + 1]; ++d) {
      for (const std::uint32_t pod : quiet.domains[d].fullest) {
        if (sits[pod] && *sits[pod] != n) return one;
        found += sits[pod] ? 0 : 1;
        sits[pod] = n;
        const std::size_t w = workload_of_pod(world_, pod);
        if (on_node[n]) together.join(*on_node[n], w);
        on_node[n] = w;
      }
    }
  }
  if (found < pods) return one;
  Replica parts;
  std::map<std::size_t, std::size_t> island_of;
  for (std::size_t w = 0; w < world_.workloads.size(); ++w) {
    const auto [at, fresh] = island_of.emplace(together.find(w), parts.islands.size());
    if (fresh) parts.islands.emplace_back();
    parts.islands[at->second].workloads.push_back(w);
  }
  for (std::size_t n = 0; n < node_pool_.size(); ++n) {
    if (on_node[n]) parts.islands[island_of[together.find(*on_node[n])]].nodes.push_back(n);
  }
  parts.done.resize(parts.islands.size());
  return parts;
}

void IslandRun::lay_out(int replications) {
  while (records_.size() < static_cast<std::size_t>(replications)) {
    const auto r = static_cast<std::uint32_t>(records_.size());
    if (stays_) {
      records_.push_back(run_replication(quiet_, r, options_.interrupted));
      replicas_.push_back(apart(records_.back()));
      continue;
    }
    records_.emplace_back();
    Replica& all = replicas_.emplace_back();
    all.islands.emplace_back();
    for (std::size_t w = 0; w < world_.workloads.size(); ++w) {
      all.islands.front().workloads.push_back(w);
    }
    all.done.push_back(0);
    all.in_one = true;
  }
}

bool IslandRun::is_apart() {
  lay_out(1);
  return replicas_.front().islands.size() > 1;
}

std::vector<std::size_t> IslandRun::busiest_first() {
  lay_out(1);
  std::vector<std::pair<double, std::size_t>> order;
  for (const Island& island : replicas_.front().islands) {
    double busy = 0;
    for (const std::size_t w : island.workloads) busy += busy_with(world_.workloads[w]);
    busy /= static_cast<double>(std::max<std::size_t>(1, island.nodes.size()));
    for (const std::size_t w : island.workloads) order.emplace_back(-busy, w);
  }
  std::ranges::sort(order);
  std::vector<std::size_t> workloads;
  workloads.reserve(order.size());
  for (const auto& [busy, w] : order) workloads.push_back(w);
  return workloads;
}

bool IslandRun::run_all(int replications) {
  std::vector<Wanted> all;
  all.reserve(world_.workloads.size());
  for (std::size_t w = 0; w < world_.workloads.size(); ++w) all.push_back({w, replications});
  return run(all, all.size());
}

std::vector<SureMiss> IslandRun::misses_of(std::size_t workload) const {
  std::vector<SureMiss> found = misses_;
  const Island& home = replicas_.front().islands[island_of(0, workload)];
  std::erase_if(found, [&](const SureMiss& miss) { return !home.has(miss.of); });
  return found;
}

std::size_t IslandRun::island_of(std::size_t replication, std::size_t workload) const {
  const auto& islands = replicas_[replication].islands;
  const auto has_it = [&](const Island& island) { return island.has(workload); };
  return static_cast<std::size_t>(std::ranges::find_if(islands, has_it) - islands.begin());
}

// What others simulated already is put in at once.
std::vector<IslandRun::Missing> IslandRun::missing_of(std::span<const Wanted> wanted) {
  int most = 0;
  for (const Wanted& each : wanted) most = std::max(most, each.replications);
  lay_out(most);
  std::vector<Missing> missing;
  for (std::size_t r = 0; r < static_cast<std::size_t>(most); ++r) {
    for (std::size_t i = 0; i < replicas_[r].islands.size(); ++i) {
      const bool asked = std::ranges::any_of(wanted, [&](const Wanted& each) {
        return r < static_cast<std::size_t>(each.replications) &&
               replicas_[r].islands[i].has(each.workload);
      });
      if (asked && !is_done(r, i)) missing.push_back({r, i});
    }
  }
  return missing;
}

bool IslandRun::has(const Wanted& wanted) const {
  for (std::size_t r = 0; r < static_cast<std::size_t>(wanted.replications); ++r) {
    if (r >= replicas_.size()) return false;
    if (replicas_[r].done[island_of(r, wanted.workload)] == 0) return false;
  }
  return true;
}

bool IslandRun::is_done(std::size_t replication, std::size_t island) {
  Replica& replica = replicas_[replication];
  if (replica.done[island] == 0 && !replica.in_one && known_ && looks_ahead(options_)) {
    const Island& there = replica.islands[island];
    const auto known = record_by(replication, [&](std::string_view until, First) {
      return known_->find(fmt::format("{}{}", until, key_of(replication, there)));
    });
    if (known) put_in(replication, island, *known);
  }
  return replica.done[island] != 0;
}

// Who needs some replications needs the next ones, too, unless they say no: those that keep all
// threads busy.
void IslandRun::add_next(std::span<const Wanted> wanted, std::vector<Missing>& tasks) {
  const std::size_t width = side_by_side(options_);
  if (tasks.empty()) return;
  for (std::size_t r = 1; r < static_cast<std::size_t>(world_.replications); ++r) {
    for (const Wanted& each : wanted) {
      if (tasks.size() % width == 0) return;
      if (r < static_cast<std::size_t>(each.replications)) continue;
      lay_out(static_cast<int>(r) + 1);
      const Missing there{r, island_of(r, each.workload)};
      const bool known = contains(tasks, there);
      if (!known && !is_done(there.replication, there.island)) tasks.push_back(there);
    }
  }
}

bool IslandRun::run(std::span<const Wanted> wanted, std::size_t needed) {
  std::vector<Missing> tasks = missing_of(wanted.first(needed));
  const std::size_t asked = tasks.size();
  for (const Missing& each : missing_of(wanted.subspan(needed))) {
    if (!contains(tasks, each)) tasks.push_back(each);
  }
  add_next(wanted, tasks);
  std::atomic<bool> in_vain = false;
  const auto simulate_task = [&](std::size_t t) -> std::optional<IslandFound> {
    const auto [r, i] = tasks[t];
    const GiveUp stop = [&in_vain, ahead = t >= asked](const Replication&) {
      return ahead && in_vain;
    };
    IslandFound found;
    if (!replicas_[r].in_one) {
      found.part = record_of(r, replicas_[r].islands[i], stop);
    } else if (first_ != First::Whole && r == 0) {
      found.whole = until_it_misses(world_, 0, options_, false, found.misses);
    } else {
      found.whole = whole_replication(world_, r, options_, stop);
    }
    if (!found.part && !found.whole) return std::nullopt;
    const bool misses = !(found.part ? found.part->misses : found.misses).empty();
    if (t < asked && misses) in_vain = true;
    return t >= asked && in_vain ? std::nullopt : std::optional(std::move(found));
  };
  auto results = results_of<IslandFound>(tasks.size(), options_,
                                         [&](std::size_t t) -> std::optional<IslandFound> {
                                           if (t < asked) return simulate_task(t);
                                           try {
                                             return simulate_task(t);
                                           } catch (...) {
                                             return std::nullopt;  // who needs it meets it again
                                           }
                                         });
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    if (!results[t] && t < asked) return false;
    if (!results[t]) continue;
    IslandFound& found = *results[t];
    const auto [r, i] = tasks[t];
    if (found.part) {
      put_in(r, i, *found.part);
      continue;
    }
    misses_.insert(misses_.end(), found.misses.begin(), found.misses.end());
    records_[r] = std::move(*found.whole);
    replicas_[r].done[i] = 1;
  }
  return !is_interrupted(options_);
}

void IslandRun::put_in(std::size_t replication, std::size_t at, const IslandRecord& record) {
  const Island& island = replicas_[replication].islands[at];
  Replication& whole = records_[replication];
  replicas_[replication].done[at] = 1;
  for (SureMiss miss : record.misses) {
    miss.of = island.workloads[miss.of];
    misses_.push_back(miss);
  }
  for (std::size_t i = 0; i < island.workloads.size(); ++i) {
    whole.workloads[island.workloads[i]] = record.workloads[i];
  }
  auto time = record.domains.begin();
  for (std::size_t i = 0; i < island.nodes.size(); ++i) {
    const std::size_t n = island.nodes[i];
    whole.nodes[n] = record.nodes[i];
    for (std::size_t d = first_domain_[n]; d < first_domain_[n + 1]; ++d) {
      whole.domains[d].time = *time++;
    }
  }
}

// REQUIRES: nobody cut it out before.
IslandRecord IslandRun::cut_out(Replication& all, const Island& island) const {
  IslandRecord record;
  for (const std::size_t w : island.workloads) {
    record.workloads.push_back(std::move(all.workloads[w]));
  }
  for (const std::size_t n : island.nodes) {
    record.nodes.push_back(all.nodes[n]);
    for (std::size_t d = first_domain_[n]; d < first_domain_[n + 1]; ++d) {
      record.domains.push_back(all.domains[d].time);
    }
  }
  return record;
}

std::optional<IslandRecord> IslandRun::simulate(std::size_t replication, const Island& island,
                                                First ends, const GiveUp& stop) const {
  const World alone = without_requests(world_, island.workloads);
  std::vector<SureMiss> misses;
  auto all = ends == First::Whole ? whole_replication(alone, replication, options_, stop)
                                  : until_it_misses(alone, replication, options_,
                                                    ends == First::UntilItTells, misses);
  if (!all || (stop && stop(*all))) return std::nullopt;
  // Other worlds have the same workloads in other places.
  for (SureMiss& miss : misses) {
    const auto place = std::ranges::find(island.workloads, miss.of);
    assert(place != island.workloads.end());
    miss.of = static_cast<std::size_t>(place - island.workloads.begin());
  }
  IslandRecord record = cut_out(*all, island);
  record.misses = std::move(misses);
  return record;
}

void IslandRun::run_together(int replications) {
  if (known_ == nullptr || first_ == First::UntilItTells) return;
  lay_out(replications);
  run_in_parallel(static_cast<std::size_t>(replications), options_,
                  [&](std::size_t r) { simulate_together(r); });
}

// Islands that are sure to miss something are left to who asks for them, and ends with that.
void IslandRun::simulate_together(std::size_t replication) const {
  const Replica& replica = replicas_[replication];
  if (replica.in_one) return;
  const auto key = [&](const Island& island) {
    return fmt::format("{}{}", replication == 0 ? kUntilItMisses : "", key_of(replication, island));
  };
  std::vector<const Island*> missing;
  std::vector<std::size_t> workloads;
  for (const Island& island : replica.islands) {
    if (known_->find(key(island))) continue;
    missing.push_back(&island);
    workloads.insert(workloads.end(), island.workloads.begin(), island.workloads.end());
  }
  if (missing.size() < 2) return;
  const World with_requests = without_requests(world_, workloads);
  auto all = whole_replication(with_requests, replication, options_);
  if (!all) return;
  std::vector<SureMiss> misses;
  if (replication == 0) misses = SureMisses(with_requests, 0, kClearFactor).in(*all);
  for (const Island* island : missing) {
    const auto misses_there = [&](const SureMiss& miss) { return island->has(miss.of); };
    if (std::ranges::any_of(misses, misses_there)) continue;
    known_->get(key(*island), [&] { return cut_out(*all, *island); });
  }
}

// Who sits where, on which kind of node.
std::string IslandRun::key_of(std::size_t replication, const Island& island) const {
  std::string key = fmt::format("{} {}", replication, keys_.about(island));
  for (const std::size_t n : island.nodes) {
    const PoolModel& pool = world_.pools[node_pool_[n]];
    key += fmt::format("\n{} {}", keys_.pools[node_pool_[n]], pool.price.usd.per_hour.nano);
    std::size_t d = first_domain_[n];
    for (const NodeLayout& layout : pool.layouts) {
      for (const NodeLayout::Domain& domain : layout.domains) {
        key += fmt::format(" | {}", pool.kinds[domain.kind].partition);
        for (const std::uint32_t pod : records_[replication].domains[d].fullest) {
          const std::size_t w = workload_of_pod(world_, pod);
          std::size_t first = 0;
          for (std::size_t o = 0; o < w; ++o) {
            first += static_cast<std::size_t>(world_.workloads[o].spec.count);
          }
          key += fmt::format(" {}/{}", world_.workloads[w].name, pod - first);
        }
        ++d;
      }
    }
  }
  return key;
}

std::shared_ptr<const IslandRecord> IslandRun::record_of(std::size_t replication,
                                                         const Island& island, const GiveUp& stop) {
  const auto get = [&](std::string_view until, First ends) {
    const auto make = [&] { return simulate(replication, island, ends, stop); };
    // Hardly anybody glances at the same twice.
    if (known_ != nullptr && ends != First::UntilItTells) {
      return known_->get(fmt::format("{}{}", until, key_of(replication, island)), make);
    }
    auto record = make();
    return record ? std::make_shared<const IslandRecord>(std::move(*record)) : nullptr;
  };
  return record_by(replication, get);
}

std::shared_ptr<const IslandRecord> IslandRun::record_by(std::size_t replication,
                                                         const GetRecord& get) const {
  if (replication > 0 || (known_ == nullptr && first_ == First::Whole)) {
    return get("", First::Whole);
  }
  if (first_ == First::UntilItTells) return get("until it tells ", First::UntilItTells);
  // Who asked first must not matter: it is always begun so that it may be given up.
  auto record = get(kUntilItMisses, First::UntilItMisses);
  const bool will_do = first_ == First::UntilItMisses || !record || record->misses.empty();
  return will_do ? record : get("", First::Whole);
}

}  // namespace slicewise::sim
