#include "slicewise/sim/run_size.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "parts.hpp"

namespace slicewise::sim {
namespace {

// Bytes of one of each in the loop, measured on x86-64 with runs of 10^4 to 10^6 of them.
constexpr double kPodBytes = 640;
constexpr double kNodeBytes = 1'500;
constexpr double kDomainBytes = 1'300;
constexpr double kRequestBytes = 160;

constexpr double kPodEvents = 6;  // submitted, bound, pulled, started, loaded, ended
constexpr double kLongestRunSeconds = 366 * 86'400;
constexpr double kNanosecond = 1e-9;  // the shortest time between two looks

struct Load {
  double requests = 0;  // in the run
  std::string words;
};

// Requests a second that its replicas can answer where they are fastest.
double most_requests(const WorkloadModel& workload) {
  const auto& llm = workload.spec.llm;
  double least = std::numeric_limits<double>::infinity();
  for (const PoolDemand& pool : workload.on_pool) {
    for (std::size_t k = 0; k < pool.in_kind.size(); ++k) {
      double here = seconds_per_request(pool.in_kind[k]);
      if (llm && llm->output) here *= llm->output->mean / pool.llm[k].max_sequences;
      least = std::min(least, here);
    }
  }
  return std::isfinite(least) ? workload.spec.count / least
                              : std::numeric_limits<double>::infinity();
}

double step_seconds(const std::vector<scenarios::RateStep>& steps, std::size_t nth, double run) {
  const double end = nth + 1 < steps.size() ? to_seconds(steps[nth + 1].at) : run;
  return std::max(0.0, std::min(end, run) - to_seconds(steps[nth].at));
}

// `most`: requests a second that all replicas together can answer.
Load load_of(const Traffic& traffic, double run, double most) {
  if (const auto* closed = std::get_if<scenarios::ClosedLoop>(&traffic.shape)) {
    const double rate =
        std::min(most, closed->clients / std::max(1e-9, to_seconds(closed->think_time)));
    return {rate * run, fmt::format("{} clients, {:.4g}/s x {:.6g} s", closed->clients, rate, run)};
  }
  if (const auto* trace = std::get_if<scenarios::RequestTrace>(&traffic.shape)) {
    const auto rows = static_cast<double>(trace->rows.size());
    const double span = rows > 0 ? to_seconds(trace->rows.back().at) / trace->scale : 0;
    const double times = trace->repeats && span > 0 ? std::max(1.0, run / span) : 1;
    return {rows * times, fmt::format("{} rows x {:.4g}", trace->rows.size(), times)};
  }
  if (const auto* clients = std::get_if<scenarios::ClientTraffic>(&traffic.shape)) {
    double sum = 0;  // over all clients of requests in their windows, and the longest of them
    double last = 0;
    for (const scenarios::ClientWindow& window : clients->windows) {
      sum += window.rate.per_second * to_seconds(clients->window) * clients->scale;
      last = std::max(last, to_seconds(window.at + clients->window));
    }
    const double times = last > 0 ? std::min(run / last, clients->repeats ? run : 1.0) : 0;
    return {sum * times, fmt::format("{:.4g} in the file's {:.4g} s x {:.4g}", sum, last, times)};
  }
  if (const auto* steps = std::get_if<std::vector<scenarios::RateStep>>(&traffic.shape)) {
    double sum = 0;
    for (std::size_t n = 0; n < steps->size(); ++n) {
      sum += (*steps)[n].rate.per_second * step_seconds(*steps, n, run);
    }
    return {sum, fmt::format("{:.4g} in {} steps", sum, steps->size())};
  }
  const double rate = traffic.mean.per_second;
  return {rate * run, fmt::format("{:.4g}/s x {:.6g} s", rate, run)};
}

double events_of_request(const WorkloadModel& workload, const World& world) {
  const scenarios::Serving& serving = workload.spec.serving;
  bool in_turns = false;
  for (std::size_t p = 0; p < world.pools.size(); ++p) {
    in_turns |= workload.on_pool[p].schedulable && world.pools[p].takes_turns();
  }
  const double host = (serving.cpu_before.ns > 0 ? 1 : 0) + (serving.cpu_after.ns > 0 ? 1 : 0);
  const double copies = serving.copies && in_turns ? 2 : 0;  // each gives a turn away
  return 2 + host + copies + serving.bursts * (serving.cpu_between.ns > 0 ? 2 : 1);
}

// Pods that can run at once where the workload's may: what its offers have at most.
double places_of(const World& world, const WorkloadModel& workload) {
  std::int64_t places = 0;
  for (std::size_t p = 0; p < world.pools.size(); ++p) {
    const PoolModel& pool = world.pools[p];
    const auto& offer = workload.on_pool[p].offer;
    if (!offer || !admits(pool, workload.spec.pod)) continue;
    places += pool.most_tickets_per_node(*offer) * pool.node_slots();
  }
  return static_cast<double>(places);
}

// Of a run that lasts until its Jobs are done, if each had a GPU when it came, or once those of its
// workload before it are done.
double seconds_of_run(const World& world) {
  if (world.duration) return to_seconds(*world.duration);
  double longest = 0;
  for (const WorkloadModel& workload : world.workloads) {
    const Workload& spec = workload.spec;
    if (spec.kind != WorkloadKind::Job) continue;
    double each = 0;
    if (spec.measured && spec.measured->unit_time) each = to_seconds(*spec.measured->unit_time);
    double last = to_seconds(spec.submit_at) + to_seconds(spec.submit_interval) * spec.count;
    if (spec.trace && !spec.trace->jobs->empty()) {
      last = to_seconds(spec.trace->jobs->back().submitted);
    }
    const double run = each * static_cast<double>(workload.units);
    const double places = places_of(world, workload);
    const double queue = places > 0 ? run * spec.count / places : 0;
    longest = std::max({longest, last + run, queue});
  }
  return std::min(longest, kLongestRunSeconds);
}

class Estimate {
 public:
  explicit Estimate(const World& world) : world_(world), run_(seconds_of_run(world)) {}

  RunSize of_all() {
    for (const PoolModel& pool : world_.pools) add(pool);
    for (const WorkloadModel& workload : world_.workloads) add(workload);
    for (const PipelineModel& pipeline : world_.pipelines) {
      double events = 1;
      double most = std::numeric_limits<double>::infinity();
      for (const PipelineModel::Stage& stage : pipeline.stages) {
        const WorkloadModel& workload = world_.workloads[index(stage.workload)];
        events += 1 + events_of_request(workload, world_);
        most = std::min(most, most_requests(workload));
      }
      const Load load = load_of(pipeline.spec.traffic, run_, most);
      add_event("requests of pipeline " + pipeline.name, load, events, pipeline.spec.where);
    }
    if (scenarios::preempts(world_.pod_queue)) add_looks();
    return std::move(size_);
  }

 private:
  // Whenever a job comes or ends, at all that run: who has to go?
  void add_looks() {
    constexpr double kOneThatMayRun = 0.1;  // of an event, measured on 200 and 2,488 GPUs
    double jobs = 0;
    const Workload* most = nullptr;
    for (const WorkloadModel& workload : world_.workloads) {
      if (workload.spec.kind != WorkloadKind::Job) continue;
      jobs += workload.jobs();
      if (most == nullptr || workload.spec.count > most->count) most = &workload.spec;
    }
    if (most == nullptr) return;
    double domains = 0;
    for (const PoolModel& pool : world_.pools) domains += domains_of(pool) * pool.node_slots();
    size_.events.push_back({fmt::format("looks of the queue at who runs: {:.0f} jobs x 2 x {:.4g} "
                                        "GPUs or instances x {} events",
                                        jobs, domains, kOneThatMayRun),
                            2 * jobs * domains * kOneThatMayRun, most->where});
  }

  static double domains_of(const PoolModel& pool) {
    return static_cast<double>(pool.layouts.empty() ? 0 : pool.layouts.front().domains.size());
  }

  void add(const PoolModel& pool) {
    const double nodes = pool.node_slots();
    const double each = kNodeBytes + domains_of(pool) * kDomainBytes;
    size_.memory.push_back(
        {fmt::format("nodes of {}: {:.0f} x {:.0f} bytes", pool.name, nodes, each), nodes * each,
         pool.where});
    const double hours_of_run = run_ / 3'600;
    const bool falls_back = pool.spot && pool.spot->fallback;
    const double price =
        to_dollars((falls_back ? pool.spot->fallback->usd : pool.price.usd).per_hour);
    size_.bill.push_back({fmt::format("nodes of {}: {:.0f} x ${:.4g}/h x {:.4g} h", pool.name,
                                      nodes, price, hours_of_run),
                          nodes * price * hours_of_run, pool.where});
    if (!pool.changes_nodes()) return;
    const double scans = run_ / std::max(kNanosecond, to_seconds(world_.provisioner.scan_interval));
    size_.events.push_back(
        {fmt::format("looks at the nodes of {}: {:.4g}", pool.name, scans), scans, pool.where});
  }

  void add(const WorkloadModel& workload) {
    const Workload& spec = workload.spec;
    const double pods = spec.count;
    size_.memory.push_back(
        {fmt::format("pods of {}: {:.0f} x {:.0f} bytes", workload.name, pods, kPodBytes),
         pods * kPodBytes, spec.where});
    size_.events.push_back(
        {fmt::format("pods of {}: {:.0f} x {:.0f} events", workload.name, pods, kPodEvents),
         pods * kPodEvents, spec.where});
    if (scenarios::runs_batches(spec.kind)) add_steps(workload, pods);
    if (spec.kind == WorkloadKind::Notebook) add_cells(workload);
    if (spec.kind == WorkloadKind::Service && spec.traffic) add_requests(workload);
    if (!spec.autoscaling) return;
    const double looks = run_ / std::max(kNanosecond, to_seconds(spec.autoscaling->sync_period));
    size_.events.push_back(
        {fmt::format("autoscaler of {}: {:.6g} s / {:.4g} s x 2 events", workload.name, run_,
                     to_seconds(spec.autoscaling->sync_period)),
         2 * looks, spec.autoscaling->where});
  }

  // Batch work has events of its own where a pool is simulated burst by burst; a Deployment's
  // starts over. Elsewhere it has one when it is done.
  void add_steps(const WorkloadModel& workload, double pods) {
    double steps = 0;
    for (std::size_t pool = 0; pool < world_.pools.size(); ++pool) {
      if (world_.pools[pool].exact && workload.on_pool[pool].schedulable &&
          workload.spec.uses_gpu()) {
        steps = static_cast<double>(workload.steps_per_unit);
      }
    }
    const Workload& spec = workload.spec;
    double units = static_cast<double>(workload.units);
    if (spec.kind == WorkloadKind::Deployment && spec.measured && spec.measured->unit_time) {
      units = std::max(units, run_ / to_seconds(*spec.measured->unit_time));
      if (steps == 0) units /= static_cast<double>(workload.units);
    } else if (steps == 0) {
      units = 1;
    } else if (spec.measured && spec.measured->unit_time) {
      units = std::min(units, run_ / to_seconds(*spec.measured->unit_time));
    }
    const double each = std::max(1.0, 2 * steps);
    size_.events.push_back({fmt::format("work of {}: {:.0f} pods x {:.4g} units x {:.4g} events",
                                        workload.name, pods, units, each),
                            pods * units * each, spec.where});
  }

  void add_cells(const WorkloadModel& workload) {
    const scenarios::Notebooks& people = *workload.spec.notebooks;
    const double sessions = people.users * people.sessions_per_day * run_ / 86'400;
    const double cells =
        to_seconds(people.length.mean) /
        std::max(kNanosecond, to_seconds(people.interval.mean + people.gpu_time.mean));
    size_.events.push_back({fmt::format("cells of {}: {:.4g} sessions x {:.4g} cells x 3 events",
                                        workload.name, sessions, cells),
                            sessions * cells * 3, workload.spec.where});
  }

  void add_requests(const WorkloadModel& workload) {
    const Workload& spec = workload.spec;
    const double most = most_requests(workload);
    const Load load = load_of(*spec.traffic, run_, most);
    add_event("requests of " + workload.name, load, events_of_request(workload, world_),
              spec.traffic->where);
    if (const auto* closed = std::get_if<scenarios::ClosedLoop>(&spec.traffic->shape)) {
      size_.memory.push_back({fmt::format("clients of {}: {} x {:.0f} bytes", workload.name,
                                          closed->clients, kRequestBytes),
                              closed->clients * kRequestBytes, spec.traffic->where});
      return;
    }
    // What comes faster than it is answered waits, unless something limits that.
    const double waiting = load.requests - most * run_;
    if (waiting <= 0 || spec.serving.queue_limit || spec.serving.timeout) return;
    size_.memory.push_back(
        {fmt::format(
             "requests that wait for {}: ({:.4g}/s - {:.4g}/s answered) x {:.6g} s x {:.0f} bytes",
             workload.name, load.requests / run_, most, run_, kRequestBytes),
         waiting * kRequestBytes, spec.traffic->where});
  }

  void add_event(const std::string& what, const Load& load, double each,
                 const SourceLocation& where) {
    size_.events.push_back({fmt::format("{}: {} x {:.0f} events", what, load.words, each),
                            load.requests * each, where});
  }

  const World& world_;
  double run_;
  RunSize size_{.of = "a replication", .events = {}, .memory = {}, .bill = {}};
};

double total(const std::vector<SizePart>& parts) {
  double sum = 0;
  for (const SizePart& part : parts) sum += part.amount;
  return sum;
}

// Two digits are all that is known, more what tells the sum from the limit.
std::string digits_beside(double sum, double limit) {
  std::string text = fmt::format("{:.2g}", sum);
  for (int digits = 3; digits <= 6 && text == fmt::format("{:.2g}", limit); ++digits) {
    text = fmt::format("{:.{}g}", sum, digits);
  }
  return text;
}

Diagnostic too_large(std::string_view of, std::vector<SizePart> parts, double limit,
                     std::string_view unit, const std::string& help) {
  constexpr std::size_t kShown = 3;
  const double sum = total(parts);
  std::ranges::stable_sort(parts, std::ranges::greater(), &SizePart::amount);
  std::vector<std::string> words;
  for (const SizePart& part : parts) {
    if (words.size() == kShown || part.amount < sum / 100) break;
    words.push_back(fmt::format("{} = {:.2g}", part.words, part.amount));
  }
  return make_diagnostic(
      Code::RunTooLarge, parts.front().where,
      fmt::format("{} would take about {} {}, more than {:.2g}: {}", of, digits_beside(sum, limit),
                  unit, limit, fmt::join(words, "; ")),
      help);
}

}  // namespace

RunSize estimate_size(const World& world) { return Estimate(world).of_all(); }

Diagnostics beyond_limits(const RunSize& size, const SizeLimits& limits) {
  constexpr double kMargin = 1.1;  // that the flag named stays above what was rounded
  constexpr double kMiB = 1 << 20;
  const std::string lift = "simulate less, or lift the limit with ";
  const double events = total(size.events);
  const double bytes = total(size.memory);
  const auto most_bytes = static_cast<double>(limits.memory.count);
  Diagnostics found;
  if (events > limits.events) {
    found.push_back(too_large(size.of, size.events, limits.events, "events",
                              lift + fmt::format("--max-events {:.0f}", kMargin * events)));
  }
  if (bytes > most_bytes) {
    found.push_back(
        too_large(size.of, size.memory, most_bytes, "bytes of memory",
                  lift + fmt::format("--max-memory {:.0f}Mi", std::ceil(kMargin * bytes / kMiB))));
  }
  if (total(size.bill) > kMostBill) {
    found.push_back(too_large(size.of, size.bill, kMostBill, "dollars",
                              "simulate less: a bill is counted up to that"));
  }
  return found;
}

}  // namespace slicewise::sim
