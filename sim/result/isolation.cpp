#include "slicewise/sim/isolation.hpp"

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/sim/pool_choice.hpp"

#include "merge.hpp"

namespace slicewise::sim {
namespace {

// Two pods that may be at one place at a time.
struct Meeting {
  const WorkloadModel* first;
  const WorkloadModel* second;
};

bool may_run_on(const WorkloadModel& workload, std::size_t pool) {
  return workload.spec.count > 0 && workload.on_pool[pool].schedulable && workload.spec.uses_gpu();
}

// `tickets`: that the place has, by the pool's offers. Who asks for none opens the GPU all the
// same.
bool fit_together(const World& world, const WorkloadModel& a, const WorkloadModel& b,
                  std::size_t pool, const std::vector<std::int64_t>& tickets) {
  const auto offer_a = a.on_pool[pool].offer;
  const auto offer_b = b.on_pool[pool].offer;
  const PoolModel& model = world.pools[pool];
  if (model.books && offer_a && offer_b) {
    return model.books->room_for(*model.offers[*offer_b].part, *model.offers[*offer_a].part, 1) > 0;
  }
  const auto held = [&](const WorkloadModel& w) {
    return w.on_pool[pool].shares_several ? 1 : w.tickets;
  };
  const auto fits = [&](const WorkloadModel& w, std::optional<std::size_t> offer) {
    return !offer || held(w) <= tickets[*offer];
  };
  if (!fits(a, offer_a) || !fits(b, offer_b)) return false;
  return !offer_a || offer_a != offer_b || held(a) + held(b) <= tickets[*offer_a];
}

std::optional<Meeting> meeting(const World& world, std::size_t pool,
                               const std::vector<std::int64_t>& tickets,
                               scenarios::IsolationRule::Between between) {
  const bool any_two = between == scenarios::IsolationRule::Between::Pods;
  for (const WorkloadModel& a : world.workloads) {
    if (!may_run_on(a, pool)) continue;
    for (const WorkloadModel& b : world.workloads) {
      const bool counts =
          any_two ? &a != &b || a.spec.count > 1 : a.spec.namespace_name != b.spec.namespace_name;
      if (counts && may_run_on(b, pool) && fit_together(world, a, b, pool, tickets)) {
        return Meeting{&a, &b};
      }
    }
  }
  return std::nullopt;
}

void add_tickets(const std::vector<Tickets>& offered, std::vector<std::int64_t>& tickets) {
  for (const Tickets& one : offered) tickets[one.offer] += one.count;
}

// The tickets of every GPU of a node, by the pool's offers, under every layout. Of a whole GPU that
// claims hold, those of each claim.
std::vector<std::vector<std::int64_t>> tickets_by_gpu(const PoolModel& pool) {
  std::vector<std::vector<std::int64_t>> all;
  const std::vector<std::int64_t> none(pool.offers.size());
  for (const NodeLayout& layout : pool.layouts) {
    const std::size_t before = all.size();
    all.resize(before + static_cast<std::size_t>(pool.gpus_per_node), none);
    for (const NodeLayout::Domain& domain : layout.domains) {
      if (pool.kinds[domain.kind].partition.empty()) {
        for (const std::vector<Tickets>& together : pool.companies(domain.kind)) {
          add_tickets(together, all.emplace_back(none));
        }
      } else {
        add_tickets(pool.kinds[domain.kind].tickets,
                    all[before + static_cast<std::size_t>(domain.gpu)]);
      }
    }
  }
  return all;
}

std::string who_meets(const Meeting& meeting, scenarios::IsolationRule::Between between) {
  if (between == scenarios::IsolationRule::Between::Namespaces) {
    return fmt::format("pods of the namespaces {} and {}", meeting.first->spec.namespace_name,
                       meeting.second->spec.namespace_name);
  }
  if (meeting.first == meeting.second) return fmt::format("two pods of {}", meeting.first->name);
  return fmt::format("pods of {} and {}", meeting.first->name, meeting.second->name);
}

std::vector<std::string_view> missing(const scenarios::IsolationRule& rule,
                                      const Isolation& given) {
  std::vector<std::string_view> gaps;
  if (rule.memory && given.memory == Isolation::Memory::None) {
    gaps.emplace_back("one can take the GPU memory of the other");
  }
  if (rule.compute && given.compute != Isolation::Compute::Hardware) {
    gaps.emplace_back("one can slow the other");
  }
  if (rule.fault && given.fault == Isolation::Fault::Shared) {
    gaps.emplace_back("a fatal fault of one ends the other");
  }
  return gaps;
}

// Why pods that hold these tickets of a domain have less between them than is required.
std::optional<std::string> gap_in(const World& world, std::size_t pool, const DomainKind& kind,
                                  const std::vector<Tickets>& together) {
  const scenarios::IsolationRule& rule = *world.isolation;
  const PoolModel& model = world.pools[pool];
  std::vector<std::int64_t> tickets(model.offers.size());
  add_tickets(together, tickets);
  const auto met = meeting(world, pool, tickets, rule.between);
  if (!met) return std::nullopt;
  // Pods that open a GPU which nothing divides take turns.
  const bool divided = !std::holds_alternative<models::Exclusive>(kind.sharing);
  const Isolation given =
      divided ? isolation_of(pool_result(model)) : isolation_of(Strategy::TimeSlicing);
  const auto gaps = missing(rule, given);
  if (gaps.empty()) return std::nullopt;
  return fmt::format(
      "{} may share {} of node pool \"{}\" {}: {}", who_meets(*met, rule.between),
      kind.partition.empty() ? "a GPU" : "a MIG instance", model.name,
      divided ? fmt::format("under {}", strategy_name(model.strategy)) : "that they do not ask for",
      fmt::join(gaps, "; "));
}

}  // namespace

Isolation isolation_of(const NodePoolResult& pool) {
  if (pool.active_threads) {  // MPS of whatever plugin
    Isolation found = isolation_of(Strategy::Mps);
    if (!pool.memory_limit) found.memory = Isolation::Memory::None;
    if (*pool.active_threads >= 1) found.compute = Isolation::Compute::None;
    return found;
  }
  return isolation_of(strategy_of(pool.strategy).value_or(Strategy::TimeSlicing));
}

std::string_view level_name(Isolation::Memory level) {
  if (level == Isolation::Memory::None) return "none";
  return level == Isolation::Memory::Hardware ? "hardware" : "processLimit";
}

std::string_view level_name(Isolation::Compute level) {
  if (level == Isolation::Compute::None) return "none";
  return level == Isolation::Compute::Hardware ? "hardware" : "cap";
}

std::string_view level_name(Isolation::Fault level) {
  if (level == Isolation::Fault::Shared) return "shared";
  return level == Isolation::Fault::Hardware ? "hardware" : "process";
}

GpuNeighbours gpu_neighbours(const World& world) {
  using Between = scenarios::IsolationRule::Between;
  GpuNeighbours found;
  for (std::size_t pool = 0; pool < world.pools.size(); ++pool) {
    for (const std::vector<std::int64_t>& tickets : tickets_by_gpu(world.pools[pool])) {
      found.pods = found.pods || meeting(world, pool, tickets, Between::Pods);
      found.namespaces = found.namespaces || meeting(world, pool, tickets, Between::Namespaces);
    }
  }
  return found;
}

std::optional<std::string> isolation_gap(const World& world, std::size_t pool) {
  if (!world.isolation) return std::nullopt;
  const PoolModel& model = world.pools[pool];
  for (std::size_t k = 0; k < model.kinds.size(); ++k) {
    for (const std::vector<Tickets>& together : model.companies(k)) {
      if (auto gap = gap_in(world, pool, model.kinds[k], together)) return gap;
    }
  }
  return std::nullopt;
}

}  // namespace slicewise::sim
