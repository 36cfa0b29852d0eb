#include "sure_misses.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "slicewise/sim/judge.hpp"
#include "slicewise/sim/serving/arrivals.hpp"

#include "../../cluster/entity_streams.hpp"
#include "../../result/merge.hpp"

namespace slicewise::sim {
namespace {

// Nobody but its own source sends it requests, at times that no answer changes.
bool is_open_loop(const World& world, std::size_t workload) {
  const auto& traffic = world.workloads[workload].spec.traffic;
  if (!traffic || std::holds_alternative<scenarios::ClosedLoop>(traffic->shape)) return false;
  return std::ranges::none_of(world.pipelines, [&](const PipelineModel& pipeline) {
    return std::ranges::any_of(pipeline.stages, [&](const PipelineModel::Stage& stage) {
      return index(stage.workload) == workload;
    });
  });
}

// Requests that went wrong so that the objective is missed by far, if there are more of them than
// such a share of all; nullopt: they do not say.
struct Wrong {
  std::int64_t requests = 0;
  double share = 0;
};
// `by_far`: how many times its limit a latency must be.
std::vector<Wrong> wrong_by(const scenarios::Objective& objective, const RequestRecord& record,
                            double by_far) {
  std::vector<Wrong> wrong;
  const std::int64_t lost = record.refused + record.dropped + record.timed_out;
  const auto quantile = latency_quantile(objective.figure);
  const auto* limit = std::get_if<Duration>(&objective.limit);
  if (quantile && limit != nullptr) {
    const Duration too_slow{static_cast<std::int64_t>(static_cast<double>(limit->ns) * by_far)};
    wrong.push_back({record.latency.count_above(too_slow), 1 - *quantile});
    wrong.push_back({lost, kClearFactor * (1 - *quantile)});
  }
  const auto* least = std::get_if<scenarios::Share>(&objective.limit);
  if (objective.figure == scenarios::Figure::Availability && least != nullptr &&
      least->of_one < 1) {
    wrong.push_back({lost, kClearFactor * (1 - least->of_one)});
  }
  return wrong;
}

const RequestRecord& record_in(const Replication& replication, const SureMiss& whose) {
  return whose.of_pipeline ? replication.pipelines[whose.of].requests
                           : replication.workloads[whose.of].requests;
}

// Requests that are too slow come in bursts: their share scatters as if there were so many times
// fewer of them.
constexpr double kInABurst = 10;
// Standard deviations beyond which nobody waits for the end.
constexpr double kLikely = 2;

// Of the share that may be too slow, in so many requests.
double deviation(double share, std::int64_t requests) {
  return std::sqrt(share * (1 - share) * kInABurst / static_cast<double>(requests));
}

}  // namespace

SureMisses::SureMisses(const World& world, std::uint32_t replication, double by_far)
    : world_(world), replication_(replication), by_far_(by_far) {
  if (!world.duration) return;
  for (std::size_t w = 0; w < world.workloads.size(); ++w) {
    const WorkloadModel& model = world.workloads[w];
    if (!is_open_loop(world, w)) continue;
    sources_.push_back(
        {{false, w, 0}, &*model.spec.traffic, &model.spec.objectives, entity_of(model.name)});
  }
  for (std::size_t p = 0; p < world.pipelines.size(); ++p) {
    const PipelineModel& model = world.pipelines[p];
    if (std::holds_alternative<scenarios::ClosedLoop>(model.spec.traffic.shape)) continue;
    sources_.push_back(
        {{true, p, 0}, &model.spec.traffic, &model.spec.objectives, entity_of(model.name)});
  }
}

std::int64_t SureMisses::requests_of(Source& source) const {
  if (source.requests) return *source.requests;
  Arrivals arrivals(*source.traffic, world_.starts_at, world_.seed, replication_, source.entity);
  const TimePoint end = TimePoint{} + *world_.duration;
  std::int64_t requests = 0;
  for (; arrivals.next() <= end; arrivals.advance()) {
    if (arrivals.next() - TimePoint{} >= world_.warmup) ++requests;
  }
  source.requests = requests;
  return requests;
}

// Whether one replication tells the latency within a few percent.
bool SureMisses::is_told(Source& source, const scenarios::Objective& objective) const {
  const auto quantile = latency_quantile(objective.figure);
  const bool scales =
      !source.whose.of_pipeline && world_.workloads[source.whose.of].spec.autoscaling;
  return quantile && !scales &&
         static_cast<double>(requests_of(source)) * (1 - *quantile) >= kRequestsBeyond;
}

std::vector<SureMiss> SureMisses::in(const Replication& so_far) {
  std::vector<SureMiss> sure;
  for (Source& source : sources_) {
    const RequestRecord& record = record_in(so_far, source.whose);
    for (std::size_t o = 0; o < source.objectives->size(); ++o) {
      const scenarios::Objective& objective = (*source.objectives)[o];
      const auto missed_by = [&](double by_far) {
        return std::ranges::any_of(wrong_by(objective, record, by_far), [&](const Wrong& wrong) {
          // One more than the share, whatever way it is rounded. Where as much went wrong of what
          // came so far it is worth to count what will come.
          const auto goes_wrong_of = [&](std::int64_t all) {
            return static_cast<double>(wrong.requests) > wrong.share * static_cast<double>(all) + 1;
          };
          return goes_wrong_of(record.arrived) && goes_wrong_of(requests_of(source));
        });
      };
      const bool missed =
          missed_by(kClearFactor) ||
          (by_far_ < kClearFactor && missed_by(by_far_) && is_told(source, objective));
      if (missed) sure.push_back({source.whose.of_pipeline, source.whose.of, o});
    }
  }
  return sure;
}

bool is_likely_to_hold(const World& world, const Replication& so_far) {
  if (!world.pipelines.empty()) return false;
  for (std::size_t w = 0; w < world.workloads.size(); ++w) {
    const Workload& spec = world.workloads[w].spec;
    if (!spec.traffic) continue;
    const bool steady = std::holds_alternative<std::monostate>(spec.traffic->shape);
    const RequestRecord& record = so_far.workloads[w].requests;
    if (!steady || record.answered == 0 || record.refused + record.dropped + record.timed_out > 0) {
      return false;
    }
    for (const scenarios::Objective& objective : spec.objectives) {
      const auto quantile = latency_quantile(objective.figure);
      const auto* limit = std::get_if<Duration>(&objective.limit);
      if (!quantile || limit == nullptr) return false;
      const double may_be = 1 - *quantile;
      const double most = may_be - kLikely * deviation(may_be, record.answered);
      const auto slow = static_cast<double>(record.latency.count_above(*limit));
      if (slow > most * static_cast<double>(record.answered)) return false;
    }
  }
  return true;
}

VariantResult result_of_misses(const World& world, std::span<const SureMiss> misses,
                               std::span<const Replication> records) {
  VariantResult alone;
  alone.replications = static_cast<int>(records.size());
  for (const SureMiss& miss : misses) {
    WorkloadResult of = miss.of_pipeline ? pipeline_result(world, miss.of, records)
                                         : workload_result(world, miss.of, records);
    of.objectives = {of.objectives[miss.objective]};
    alone.workloads.push_back(std::move(of));
  }
  alone.verdict = judge(alone, world.allow_pending);
  // Where pods are by now and what still waits may change.
  std::erase_if(alone.verdict.reasons, [](const Verdict::Reason& reason) {
    return reason.cause != Verdict::Cause::ObjectiveMissed;
  });
  return alone;
}

}  // namespace slicewise::sim
