#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "slicewise/lookup.hpp"

#include "parts.hpp"

// KAI's queues as Kueue's: what KAI finds fair for a queue while all that hold Jobs want more is
// its own quota, what others do not use it borrows up to its limit, and whoever wants its own takes
// it from those that borrow. One resource, thousandths of a GPU. Source: NVIDIA/KAI-Scheduler
// pkg/scheduler/plugins/proportion, resource_division.go and reclaimable.go. Unlike there what is
// borrowed goes to who comes first, not by weight, and a parent's limit holds each of its queues,
// not all of them together.
namespace slicewise::sim {
namespace {

using scenarios::KaiQueue;

constexpr std::int64_t kGpu = 1'000;
constexpr const char* kCohort = "KAI";

std::int64_t thousandths(double gpus) { return std::llround(gpus * kGpu); }

bool is_kept_by_kai(const PoolModel& pool) {
  return pool.books && pool.books->keeper == GpuBooks::Keeper::Kai;
}

// Of a pod: the part of its GPUs that KAI books.
std::int64_t asked_by(const WorkloadModel& model, const World& world) {
  for (std::size_t p = 0; p < world.pools.size(); ++p) {
    const PoolModel& pool = world.pools[p];
    const auto& offer = model.on_pool[p].offer;
    if (!is_kept_by_kai(pool) || !offer || !pool.offers[*offer].part) continue;
    const GpuPart& part = *pool.offers[*offer].part;
    const std::int64_t each =
        part.alone || part.memory_mib == 0
            ? kGpu
            : (part.memory_mib * kGpu + pool.books->memory_mib / 2) / pool.books->memory_mib;
    return model.tickets * std::min(each, kGpu);
  }
  return model.resource ? model.tickets * kGpu : 0;
}

class Shares {
 public:
  explicit Shares(const Scenario& scenario) : scenario_(scenario), fair_(size()) {}

  std::int64_t of(std::size_t queue) const { return fair_[queue]; }

  // Among the children of a queue, "" those of none: to each its quota, then what is left by weight
  // in whole GPUs, and what that leaves one by one to those that lost most.
  void divide(const std::string& parent, std::int64_t all) {
    std::vector<std::size_t> children;
    for (std::size_t q = 0; q < size(); ++q) {
      if (parent_of(q) == parent && holds_jobs(at(q).name.value, 0)) children.push_back(q);
    }
    std::int64_t left = all;
    for (const std::size_t q : children) {
      fair_[q] = at(q).quota < 0 ? most(q, all) : std::min(thousandths(at(q).quota), all);
      left -= fair_[q];
    }
    while (divide_by_weight(children, left, all)) {
    }
    for (const std::size_t q : children) divide(at(q).name.value, fair_[q]);
  }

  // Its own limit and its parents'.
  std::optional<std::int64_t> limit_of(std::size_t queue) const {
    std::optional<std::int64_t> least;
    const KaiQueue* one = &at(queue);
    for (std::size_t up = 0; one != nullptr && up < size(); ++up) {
      if (one->limit >= 0) least = std::min(thousandths(one->limit), least.value_or(kNoLimit));
      one = called(one->parent);
    }
    return least;
  }

  bool has_children(std::size_t queue) const {
    return std::ranges::any_of(scenario_.kai_queues, [&](const KaiQueue& other) {
      return other.parent == at(queue).name.value;
    });
  }

 private:
  static constexpr std::int64_t kNoLimit = scenarios::kMostQuota;

  std::size_t size() const { return scenario_.kai_queues.size(); }
  const KaiQueue& at(std::size_t queue) const { return scenario_.kai_queues[queue]; }
  const KaiQueue* called(const std::string& name) const {
    return find_or_null(scenario_.kai_queues, name, [](const auto& one) { return one.name.value; });
  }
  std::string parent_of(std::size_t q) const {
    return called(at(q).parent) == nullptr ? "" : at(q).parent;
  }
  std::int64_t most(std::size_t q, std::int64_t all) const {
    return at(q).limit < 0 ? all : std::min(thousandths(at(q).limit), all);
  }

  // Whether it or a queue below it does.
  bool holds_jobs(const std::string& name, std::size_t depth) const {
    const bool itself = std::ranges::any_of(scenario_.workloads, [&](const Workload& workload) {
      return workload.queue.value == name && workload.count > 0;
    });
    return itself || std::ranges::any_of(scenario_.kai_queues, [&](const KaiQueue& below) {
             return depth < size() && below.parent == name &&
                    holds_jobs(below.name.value, depth + 1);
           });
  }

  // One round of `left`. True: some got all that they may have, so that there is another.
  bool divide_by_weight(const std::vector<std::size_t>& children, std::int64_t& left,
                        std::int64_t all) {
    if (left <= 0) return false;
    double weights = 0;
    const auto wants = [&](std::size_t q) {
      return at(q).over_quota_weight > 0 && fair_[q] < most(q, all);
    };
    for (const std::size_t q : children) weights += wants(q) ? at(q).over_quota_weight : 0;
    std::vector<std::pair<double, std::size_t>> lost;
    const std::int64_t now = left;
    bool any_has_all = false;
    for (const std::size_t q : children) {
      if (!wants(q)) continue;
      const double share = static_cast<double>(now) * at(q).over_quota_weight / weights;
      const std::int64_t wanted = most(q, all) - fair_[q];
      const bool has_all = static_cast<double>(wanted) <= share;
      const std::int64_t gets = has_all ? wanted : static_cast<std::int64_t>(share) / kGpu * kGpu;
      if (!has_all) lost.emplace_back(static_cast<double>(gets) - share, q);
      fair_[q] += gets;
      left -= gets;
      any_has_all = any_has_all || has_all;
    }
    if (any_has_all) return true;
    std::ranges::stable_sort(lost);
    for (const auto& [less, q] : lost) {
      const std::int64_t gets = std::min({kGpu, left, most(q, all) - fair_[q]});
      fair_[q] += gets;
      left -= gets;
    }
    return false;
  }

  const Scenario& scenario_;
  std::vector<std::int64_t> fair_;  // by queue
};

}  // namespace

void model_kai_queues(const Scenario& scenario, World& world, Diagnostics& found) {
  std::int64_t all = 0;
  for (const PoolModel& pool : world.pools) {
    if (is_kept_by_kai(pool)) all += kGpu * pool.healthy_gpus() * pool.nodes;
  }
  Shares shares(scenario);
  shares.divide("", all);
  world.quota_cells.push_back({"", std::string(kGpuResource)});
  std::int64_t idle = all;  // no queue's own
  for (std::size_t q = 0; q < scenario.kai_queues.size(); ++q) {
    QueueModel& queue = world.queues.emplace_back();
    queue.spec.name = scenario.kai_queues[q].name;
    queue.spec.cohort = kCohort;
    queue.spec.reclaim = scenarios::QuotaPreemption::Any;
    queue.spec.within_queue = scenarios::QuotaPreemption::LowerPriority;
    const std::int64_t own = shares.has_children(q) ? 0 : shares.of(q);
    QuotaLimits& limits = queue.limits.emplace_back();
    limits.nominal = own;
    if (const auto limit = shares.limit_of(q)) {
      limits.nominal = std::min(own, *limit);
      limits.borrowing = *limit - limits.nominal;
    }
    idle -= limits.nominal;
  }
  for (WorkloadModel& model : world.workloads) {
    const auto queue = std::ranges::find(world.queues, model.spec.queue.value,
                                         [](const QueueModel& one) { return one.spec.name.value; });
    if (queue == world.queues.end()) continue;  // none is named, or QUEUE_UNKNOWN
    const auto q = static_cast<std::size_t>(queue - world.queues.begin());
    QueuedJobs& jobs = model.queued.emplace();
    jobs.queue = q;
    jobs.lead = static_cast<std::size_t>(&model - world.workloads.data());
    jobs.pods = jobs.least = model.spec.pods_per_job;
    const QuotaAmounts each = {{0, asked_by(model, world)}};
    jobs.groups = {{{{kAnyPool, each}}}};
    const auto limit = shares.limit_of(q);
    const bool is_too_much = limit && quota_of(each, jobs.pods)[0].count > *limit;
    if (!shares.has_children(q) && !is_too_much) continue;
    jobs.never = is_too_much ? "it asks for more at once than its queue may ever have"
                             : "its queue has queues below it";
    const FindingsAbout about(model.spec.given_name(), found);
    add_diagnostic(found, Code::JobNeverFits, model.spec.queue.where,
                   fmt::format("KAI never starts a Job of \"{}\": {}", model.name, jobs.never),
                   "raise its queue's limit, name another queue, or ask for less");
  }
  if (idle <= 0) return;
  // After Jobs have found their queues: this one, without a name and Jobs, only lends.
  QueueModel& lender = world.queues.emplace_back();
  lender.spec.cohort = kCohort;
  lender.limits.emplace_back().nominal = idle;
}

}  // namespace slicewise::sim
