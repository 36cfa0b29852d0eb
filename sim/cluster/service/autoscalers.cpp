#include "autoscalers.hpp"

#include <algorithm>

#include "../control/pod_life.hpp"
#include "../control/terminations.hpp"
#include "replicas.hpp"
#include "services.hpp"

namespace slicewise::sim {
namespace {

// Interceptors and exporters are read about once a second. Source: KEDA HTTP add-on, "Scaling",
// granularity of the request rate.
constexpr Duration kLongestSamplePeriod = seconds(1);

int samples_per_look(const scenarios::Autoscaling& scaling) {
  if (!scaling.has_metric()) return 1;
  const std::int64_t longest = kLongestSamplePeriod.ns;
  const std::int64_t samples = (scaling.sync_period.ns + longest - 1) / longest;
  return static_cast<int>(std::max<std::int64_t>(1, samples));
}

Duration sample_period(const scenarios::Autoscaling& scaling) {
  return nanoseconds(std::max<std::int64_t>(1, scaling.sync_period.ns / samples_per_look(scaling)));
}

// As far as the run goes: what is beyond is never asked for. A scenario with windows has a
// duration.
std::vector<scenarios::ReplicaStep> schedule_of(const scenarios::Autoscaling& scaling,
                                                const World& world) {
  constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max() - 1;
  return *scenarios::replica_steps(scaling.schedule, world.starts_at,
                                   world.duration.value_or(Duration{}), kAny);
}

std::size_t samples_of_window(const scenarios::Autoscaling& scaling) {
  return static_cast<std::size_t>(
      std::max<std::int64_t>(1, scaling.window.ns / sample_period(scaling).ns));
}

}  // namespace

Scaler::Scaler(const ClusterState& cluster, WorkloadId id, std::uint32_t of_service)
    : workload(id),
      service(of_service),
      model(&cluster.world->workloads[index(id)]),
      sample_period(sim::sample_period(settings())),
      samples_per_look(sim::samples_per_look(settings())),
      next_sample(TimePoint{} + model->spec.submit_at + sample_period),
      metric(samples_of_window(settings())),
      schedule(schedule_of(settings(), *cluster.world)),
      controller(settings(), settings().start_replicas.value_or(scheduled({}))),
      wish(controller.wanted()) {
  for (std::uint32_t p = 0; p < cluster.pods.size(); ++p) {
    if (cluster.pods[p].workload == id) pods.push_back(p);
  }
  wanted.reserve(pods.size());
  leaving.reserve(pods.size());
  for (int nth = 0; nth < wish && nth < static_cast<int>(pods.size()); ++nth) {
    wanted.push_back(pods[static_cast<std::size_t>(nth)]);
  }
  if (settings().metric == scenarios::Autoscaling::Metric::GpuUtilization) {
    busy_before.resize(cluster.domains.size());
  }
}

int Scaler::scheduled(TimePoint now) {
  while (next_step < schedule.size() && TimePoint{} + schedule[next_step].at <= now) ++next_step;
  return next_step == 0 ? 0 : schedule[next_step - 1].replicas;
}

namespace {

using Metric = scenarios::Autoscaling::Metric;

// Which pods a ReplicaSet deletes first: those without a node, then by how far they have come, of
// those that are ready from the node with most of them, then the newest. Source: kubernetes,
// pkg/controller/controller_utils.go, ActivePodsWithRanks.
int progress(PodPhase phase) {
  switch (phase) {
    case PodPhase::Unsubmitted:
    case PodPhase::Suspended:
    case PodPhase::Pending:
      return 0;
    case PodPhase::Pulling:
      return 1;
    case PodPhase::Working:
      return 3;
    default:
      return 2;
  }
}

}  // namespace

Autoscalers::Autoscalers(RunState& run, GpuAccess& gpus, Services& services,
                         const Replicas& replicas, PodLife& pods)
    : run_(run),
      gpus_(gpus),
      services_(services),
      servers_(replicas),
      pods_(pods),
      scaler_of_(services.count(), kNoScaler),
      replicas_of_(run.cluster.pods.size()) {
  for (std::uint32_t s = 0; s < services.count(); ++s) {
    if (!services[s].model->spec.autoscaling) continue;
    scaler_of_[s] = static_cast<std::uint32_t>(scalers_.size());
    scalers_.emplace_back(run.cluster, services[s].workload, s);
    Scaler& scaler = scalers_.back();
    run.record.workloads[index(scaler.workload)].scaling.most = scaler.wish;
    for (std::size_t nth = 0; nth < scaler.pods.size(); ++nth) {
      const std::uint32_t p = scaler.pods[nth];
      if (nth < scaler.wanted.size()) {
        replicas_of_[p].wanted_at = first_submission(scaler.model->spec, nth);
      } else {
        run.timers.clear(TimerKind::Pod, p);
      }
    }
    arm(scaler);
  }
}

Scaler& Autoscalers::scaler_of(std::uint32_t p) {
  return scalers_[scaler_of_[services_.of_pod(p)]];
}

void Autoscalers::arm(const Scaler& scaler) {
  TimePoint next = scaler.next_sample;
  if (!scaler.leaving.empty()) next = std::min(next, scaler.leaving.front().killed_at);
  const auto& timeout = scaler.model->spec.serving.timeout;
  if (timeout && !scaler.held.empty()) {
    next = std::min(next, scaler.held.front().queued + *timeout);
  }
  run_.timers.set(TimerKind::Scaler, scaler_of_[scaler.service], next);
}

void Autoscalers::on_timer(std::size_t nth) {
  Scaler& scaler = scalers_[nth];
  const auto& timeout = scaler.model->spec.serving.timeout;
  while (timeout && !scaler.held.empty() && scaler.held.front().queued + *timeout <= run_.now) {
    services_.lose(scaler.service, scaler.held.pop(), Loss::TimedOut);
  }
  while (!scaler.leaving.empty() && scaler.leaving.front().killed_at <= run_.now) {
    replica_gone(scaler.leaving.front().pod);
  }
  if (run_.now == scaler.next_sample) {
    scaler.next_sample = run_.now + scaler.sample_period;
    sample(scaler);
    if (++scaler.samples_taken == scaler.samples_per_look) look(scaler);
  }
  arm(scaler);
}

void Autoscalers::sample(Scaler& scaler) {
  const ServiceState& service = services_[scaler.service];
  const std::int64_t asked = service.asked - scaler.asked_before;
  scaler.asked_before = service.asked;
  std::size_t outstanding = scaler.held.size();
  std::size_t queued = scaler.held.size();
  for (const std::uint32_t p : service.ready) {
    outstanding += servers_.of_pod(p).outstanding;
    queued += servers_.of_pod(p).queued();
  }
  scaler.active = scaler.active || asked > 0 || outstanding > 0;
  switch (scaler.settings().metric) {
    case Metric::Queue:
      return scaler.metric.add(static_cast<double>(queued));
    case Metric::Concurrency:
      return scaler.metric.add(static_cast<double>(outstanding));
    case Metric::RequestRate:
      return scaler.metric.add(static_cast<double>(asked) / to_seconds(scaler.sample_period));
    case Metric::GpuUtilization:
      return scaler.metric.add(sample_gpus(scaler));
  }
}

// Percent of the time that each ready pod's GPU or MIG instance was busy, summed over the pods.
// What DCGM reports is the whole device's: under time-slicing, MPS and vGPU each pod on it shows
// the work of all, so that pods that share a GPU drive each other's count up.
double Autoscalers::sample_gpus(Scaler& scaler) {
  const auto busy = [this](std::size_t d) { return gpus_.busy(make_id<DomainId>(d)); };
  double percent = 0;
  for (const std::uint32_t p : services_[scaler.service].ready) {
    const std::size_t d = index(run_.cluster.pods[p].domain);
    percent += 100 * to_seconds(busy(d) - scaler.busy_before[d]) / to_seconds(scaler.sample_period);
  }
  for (std::size_t d = 0; d < run_.cluster.domains.size(); ++d) scaler.busy_before[d] = busy(d);
  return percent;
}

void Autoscalers::look(Scaler& scaler) {
  const auto ready = static_cast<int>(services_[scaler.service].ready.size());
  const int scheduled = scaler.scheduled(run_.now);
  // Requests are seen by a metric alone.
  const bool active = scheduled > 0 || (scaler.settings().has_metric() && scaler.active);
  scaler.samples_taken = 0;
  scaler.controller.look(
      run_.now, {scaler.metric.mean(), ready, std::max(0, scaler.wish - ready), active, scheduled});
  scaler.active = false;
  scale(scaler);
}

// No pod is ready: the request waits at the front, and a service at zero gets its first pod.
void Autoscalers::hold(std::size_t service, Request request) {
  Scaler& scaler = scalers_[scaler_of_[service]];
  request.queued = run_.now;
  scaler.held.push(request);
  if (run_.now >= TimePoint{} + scaler.model->spec.submit_at) scaler.controller.request(run_.now);
  scale(scaler);
  arm(scaler);
}

// Submits or takes away pods until as many are wanted as the autoscaler says.
void Autoscalers::scale(Scaler& scaler) {
  const int wish = scaler.controller.wanted();
  ScalingRecord& record = run_.record.workloads[index(scaler.workload)].scaling;
  account_wish(scaler);
  record.ups += wish > scaler.wish ? 1 : 0;
  record.downs += wish < scaler.wish ? 1 : 0;
  record.most = std::max(record.most, wish);
  record.most_by_metric = scaler.controller.most_by_metric();
  scaler.wish = wish;
  while (scaler.wanted.size() > static_cast<std::size_t>(wish)) dismiss(scaler);
  for (const std::uint32_t p : scaler.pods) {
    if (scaler.wanted.size() >= static_cast<std::size_t>(wish)) break;
    Replica& replica = replicas_of_[p];
    const bool gone = run_.cluster.pods[p].phase == PodPhase::Unsubmitted;
    if (!gone || replica.wanted_at != kNever) continue;
    replica.wanted_at = run_.now;
    replica.was_ready = false;
    scaler.wanted.push_back(p);
    run_.timers.set(TimerKind::Pod, p, run_.now);
  }
}

void Autoscalers::account_wish(Scaler& scaler) {
  run_.record.workloads[index(scaler.workload)].scaling.replica_ns +=
      static_cast<double>(scaler.wish) * static_cast<double>((run_.now - scaler.wish_since).ns);
  scaler.wish_since = run_.now;
}

// Takes a pod out of the endpoints, of a StatefulSet that with the highest ordinal. One that has
// requests inside finishes them first.
void Autoscalers::dismiss(Scaler& scaler) {
  const bool by_ordinal = scaler.model->spec.manifest.kind == "StatefulSet";
  std::vector<int> replicas_on(run_.cluster.nodes.size());
  for (const std::uint32_t p : scaler.wanted) {
    const Pod& pod = run_.cluster.pods[p];
    if (is_bound(pod.phase)) ++replicas_on[index(pod.node)];
  }
  const auto goes_before = [&](std::uint32_t a, std::uint32_t b) {
    const Pod& left = run_.cluster.pods[a];
    const Pod& right = run_.cluster.pods[b];
    if (by_ordinal) return a > b;
    if (progress(left.phase) != progress(right.phase)) {
      return progress(left.phase) < progress(right.phase);
    }
    if (left.phase != PodPhase::Working) return false;
    const auto rank = [&](const Pod& pod) {
      return std::pair(replicas_on[index(pod.node)], pod.work_started);
    };
    return rank(left) > rank(right);
  };
  const auto last = std::min_element(scaler.wanted.rbegin(), scaler.wanted.rend(), goes_before);
  const std::uint32_t p = *last;
  scaler.wanted.erase(std::next(last).base());
  std::erase(services_[scaler.service].ready, p);
  if (run_.cluster.pods[p].phase != PodPhase::Working || servers_.of_pod(p).outstanding == 0) {
    return remove_replica(p);
  }
  replicas_of_[p].leaving = true;
  scaler.leaving.push_back({p, run_.now + kTerminationGracePeriod});
}

void Autoscalers::replica_idle(std::uint32_t p) {
  if (is_leaving(p)) return replica_gone(p);
  pods_.endings().idle(p);
}

void Autoscalers::replica_gone(std::uint32_t p) {
  remove_replica(p);
  Scaler& scaler = scaler_of(p);
  scale(scaler);
  arm(scaler);
}

// More replicas than are left without it.
bool Autoscalers::a_window_wanted(std::uint32_t p) {
  const Pod& pod = run_.cluster.pods[p];
  const auto& scaling = run_.cluster.model(pod).spec.autoscaling;
  if (!scaling || scaling->schedule.empty()) return false;
  const Scaler& scaler = scaler_of(p);
  for (std::size_t step = 0; step < scaler.schedule.size(); ++step) {
    const auto begins = [&](std::size_t nth) { return TimePoint{} + scaler.schedule[nth].at; };
    const bool was_over = step + 1 < scaler.schedule.size() && begins(step + 1) <= pod.queued;
    const auto asked = static_cast<std::size_t>(scaler.schedule[step].replicas);
    if (!was_over && begins(step) <= run_.now && asked > scaler.wanted.size()) return true;
  }
  return false;
}

// Ends the pod, whatever it is doing; its place can be submitted again.
void Autoscalers::remove_replica(std::uint32_t p) {
  std::erase_if(scaler_of(p).leaving, [p](const Scaler::Leaving& other) { return other.pod == p; });
  pods_.remove(p);
  run_.timers.clear(TimerKind::Pod, p);
  replicas_of_[p].leaving = false;
  replicas_of_[p].wanted_at = kNever;
}

void Autoscalers::replica_ready(std::size_t service, std::uint32_t p) {
  if (scaler_of_[service] == kNoScaler) return;
  Scaler& scaler = scalers_[scaler_of_[service]];
  Replica& replica = replicas_of_[p];
  if (!replica.was_ready) {
    replica.was_ready = true;
    // Nobody waited for those that were ready before the run began.
    if (!run_.starts_warm(scaler.model->spec)) {
      run_.record.workloads[index(scaler.workload)].scaling.start_up.add(run_.now -
                                                                         replica.wanted_at);
    }
  }
  while (!scaler.held.empty()) services_.enter(scaler.service, scaler.held.pop());
  arm(scaler);
}

void Autoscalers::record_wishes() {
  for (Scaler& scaler : scalers_) account_wish(scaler);
}

}  // namespace slicewise::sim
