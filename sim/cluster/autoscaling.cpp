#include <algorithm>

#include "cluster_run.hpp"

// The autoscalers of Services. Not modelled: the time that the endpoints of a Service take to
// follow its pods, and new pods beside those that are leaving when all places are taken (a place
// becomes free when its pod has gone).
namespace slicewise::sim {
namespace {

using Metric = scenarios::Autoscaling::Metric;

// Default terminationGracePeriodSeconds. Source: Kubernetes documentation, "Pod Lifecycle".
constexpr Duration kTerminationGracePeriod = seconds(30);

// Which pods a ReplicaSet deletes first: those without a node, then by how far they have come.
// Source: Kubernetes documentation, "ReplicaSet", scaling down.
int progress(PodPhase phase) {
  switch (phase) {
    case PodPhase::Unsubmitted:
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

void ClusterRun::add_scalers() {
  scaler_of_.resize(services_.size(), kNoScaler);
  for (std::uint32_t s = 0; s < services_.size(); ++s) {
    if (!services_[s].model->spec.autoscaling) continue;
    scaler_of_[s] = static_cast<std::uint32_t>(scalers_.size());
    scalers_.emplace_back(cluster_, services_[s].workload, s);
    Scaler& scaler = scalers_.back();
    record_.workloads[index(scaler.workload)].scaling.most = scaler.wish;
    for (std::size_t nth = 0; nth < scaler.pods.size(); ++nth) {
      const std::uint32_t p = scaler.pods[nth];
      if (nth < scaler.wanted.size()) {
        cluster_.pods[p].wanted_at = first_submission(scaler.model->spec, nth);
      } else {
        timers_.clear(p);
      }
    }
    arm_scaler(scaler_of_[s]);
  }
}

Scaler* ClusterRun::scaler_of_service(std::size_t service) {
  return scaler_of_[service] == kNoScaler ? nullptr : &scalers_[scaler_of_[service]];
}

void ClusterRun::arm_scaler(std::size_t a) {
  const Scaler& scaler = scalers_[a];
  TimePoint next = scaler.next_sample;
  if (!scaler.leaving.empty()) next = std::min(next, scaler.leaving.front().killed_at);
  const auto& timeout = scaler.model->spec.serving.timeout;
  if (timeout && !scaler.held.empty()) {
    next = std::min(next, scaler.held.front().queued + *timeout);
  }
  timers_.set(first_scaler_timer_ + static_cast<std::uint32_t>(a), next);
}

void ClusterRun::on_scaler_timer(std::size_t a) {
  Scaler& scaler = scalers_[a];
  const auto& timeout = scaler.model->spec.serving.timeout;
  while (timeout && !scaler.held.empty() && scaler.held.front().queued + *timeout <= now_) {
    lose(scaler.service, scaler.held.pop(), Loss::TimedOut);
  }
  while (!scaler.leaving.empty() && scaler.leaving.front().killed_at <= now_) {
    replica_gone(scaler.leaving.front().pod);
  }
  if (now_ == scaler.next_sample) {
    scaler.next_sample = now_ + scaler.sample_period;
    sample(scaler);
    if (++scaler.samples_taken == scaler.samples_per_look) look(scaler);
  }
  arm_scaler(a);
}

void ClusterRun::sample(Scaler& scaler) {
  const ServiceState& service = services_[scaler.service];
  const std::int64_t asked = service.asked - scaler.asked_before;
  scaler.asked_before = service.asked;
  std::size_t outstanding = scaler.held.size();
  std::size_t queued = scaler.held.size();
  for (const std::uint32_t p : service.ready) {
    outstanding += servers_[p].outstanding;
    queued += servers_[p].queued();
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
double ClusterRun::sample_gpus(Scaler& scaler) {
  const auto busy = [this](std::size_t d) {
    Duration total;
    with_engine(cluster_.domains[d], [&](auto& engine) {
      engine.advance(now_);
      total = engine.time().busy;
    });
    return total;
  };
  double percent = 0;
  for (const std::uint32_t p : services_[scaler.service].ready) {
    const std::size_t d = index(cluster_.pods[p].domain);
    percent += 100 * to_seconds(busy(d) - scaler.busy_before[d]) / to_seconds(scaler.sample_period);
  }
  for (std::size_t d = 0; d < cluster_.domains.size(); ++d) scaler.busy_before[d] = busy(d);
  return percent;
}

void ClusterRun::look(Scaler& scaler) {
  const auto ready = static_cast<int>(services_[scaler.service].ready.size());
  scaler.samples_taken = 0;
  scaler.controller.look(
      now_, {scaler.metric.mean(), ready, std::max(0, scaler.wish - ready), scaler.active});
  scaler.active = false;
  scale(scaler);
}

// No pod is ready: the request waits at the front, and a service at zero gets its first pod.
void ClusterRun::hold(Scaler& scaler, Request request) {
  request.queued = now_;
  scaler.held.push(request);
  if (now_ >= TimePoint{} + scaler.model->spec.submit_at) scaler.controller.request(now_);
  scale(scaler);
  arm_scaler(scaler_of_[scaler.service]);
}

// Submits or takes away pods until as many are wanted as the autoscaler says.
void ClusterRun::scale(Scaler& scaler) {
  const int wish = scaler.controller.wanted();
  ScalingRecord& record = record_.workloads[index(scaler.workload)].scaling;
  account_wish(scaler);
  record.ups += wish > scaler.wish ? 1 : 0;
  record.downs += wish < scaler.wish ? 1 : 0;
  record.most = std::max(record.most, wish);
  scaler.wish = wish;
  while (scaler.wanted.size() > static_cast<std::size_t>(wish)) dismiss(scaler);
  for (const std::uint32_t p : scaler.pods) {
    if (scaler.wanted.size() >= static_cast<std::size_t>(wish)) break;
    Pod& pod = cluster_.pods[p];
    if (pod.phase != PodPhase::Unsubmitted || pod.wanted_at != kNever) continue;
    pod.wanted_at = now_;
    pod.was_ready = false;
    scaler.wanted.push_back(p);
    timers_.set(p, now_);
  }
}

void ClusterRun::account_wish(Scaler& scaler) {
  record_.workloads[index(scaler.workload)].scaling.replica_ns +=
      static_cast<double>(scaler.wish) * static_cast<double>((now_ - scaler.wish_since).ns);
  scaler.wish_since = now_;
}

// Takes the pod that has come least far, of several the newest, out of the endpoints. One that has
// requests inside finishes them first.
void ClusterRun::dismiss(Scaler& scaler) {
  const auto goes_before = [this](std::uint32_t a, std::uint32_t b) {
    const Pod& left = cluster_.pods[a];
    const Pod& right = cluster_.pods[b];
    if (progress(left.phase) != progress(right.phase)) {
      return progress(left.phase) < progress(right.phase);
    }
    return left.phase == PodPhase::Working && left.work_started > right.work_started;
  };
  const auto last = std::min_element(scaler.wanted.rbegin(), scaler.wanted.rend(), goes_before);
  const std::uint32_t p = *last;
  scaler.wanted.erase(std::next(last).base());
  std::erase(services_[scaler.service].ready, p);
  if (cluster_.pods[p].phase != PodPhase::Working || servers_[p].outstanding == 0) {
    return remove_replica(p);
  }
  cluster_.pods[p].leaving = true;
  scaler.leaving.push_back({p, now_ + kTerminationGracePeriod});
}

void ClusterRun::leave_if_finished(std::uint32_t p) {
  if (!cluster_.pods[p].leaving || servers_[p].outstanding > 0) return;
  replica_gone(p);
}

// A pod that was leaving has gone: its place may be wanted again.
void ClusterRun::replica_gone(std::uint32_t p) {
  remove_replica(p);
  Scaler& scaler = *scaler_of_service(service_of_[index(cluster_.pods[p].workload)]);
  scale(scaler);
  arm_scaler(scaler_of_[scaler.service]);
}

// Ends the pod, whatever it is doing; its place can be submitted again.
void ClusterRun::remove_replica(std::uint32_t p) {
  Pod& pod = cluster_.pods[p];
  Scaler& scaler = *scaler_of_service(service_of_[index(pod.workload)]);
  std::erase_if(scaler.leaving, [p](const Scaler::Leaving& other) { return other.pod == p; });
  if (pod.phase == PodPhase::Pending) {
    scheduler_.withdraw(p);
    enter_phase(p, PodPhase::Unsubmitted);
  } else if (pod.phase != PodPhase::Unsubmitted) {
    if (holds_container(pod.phase)) end_container(p, true);
    set_activity(p, PodPhase::Unsubmitted);
    release_node(p);
    wake_scheduler();
  }
  timers_.clear(p);
  pod.leaving = false;
  pod.wanted_at = kNever;
}

// The pod serves: its start-up is over, and what waited at the front goes in.
void ClusterRun::replica_ready(Scaler& scaler, std::uint32_t p) {
  Pod& pod = cluster_.pods[p];
  if (!pod.was_ready) {
    pod.was_ready = true;
    record_.workloads[index(scaler.workload)].scaling.start_up.add(now_ - pod.wanted_at);
  }
  while (!scaler.held.empty()) enter(scaler.service, scaler.held.pop());
  arm_scaler(scaler_of_[scaler.service]);
}

}  // namespace slicewise::sim
