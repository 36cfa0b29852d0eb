#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "slicewise/scenarios/gpu_resource.hpp"
#include "slicewise/scenarios/recorded_window.hpp"

#include "../text/kubernetes_names.hpp"
#include "prometheus.hpp"
#include "scenario_draft.hpp"

// How busy a GPU was and what its pods answered, by how many shared it.
namespace slicewise::scenarios {
namespace {

constexpr double kNanosecondsPerSecond = 1e9;

// A language model's server works on more of its requests at once the more there are: one takes
// less of the GPU then, whoever shares it.
constexpr std::string_view kBatchesAsItGoes = "vllm:";

std::string date_of(std::int64_t unix_ns) {
  using std::chrono::sys_days, std::chrono::days, std::chrono::year_month_day;
  constexpr std::int64_t kDay = 86'400'000'000'000;
  const year_month_day date{sys_days{days{unix_ns / kDay}}};
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

// Twice the step of its samples: one may be missing.
std::int64_t longest_step(const std::vector<DeviceUse::Moment>& moments) {
  std::int64_t shortest = kStale;
  for (std::size_t i = 1; i < moments.size(); ++i) {
    shortest = std::min(shortest, moments[i].at - moments[i - 1].at);
  }
  return 2 * shortest;
}

// The share that was recorded at that time.
void add_share(const std::vector<DeviceUse::Moment>& moments, std::int64_t at, Mean& mean) {
  const auto found = std::ranges::lower_bound(moments, at, {}, &DeviceUse::Moment::at);
  if (found != moments.end() && found->at == at) mean.add(std::min(1.0, found->value));
}

// A stretch of time in which the same pods were on a device.
struct Stay {
  Mean sms;
  Mean memory;
  std::vector<double> requests;  // of each pod
  double seconds = 0;
  double busy_seconds = 0;
  std::vector<double> busy;  // of its steps
};

class LevelReader {
 public:
  LevelReader(RecordedSeries& series, std::string workload, ImportReport& report)
      : series_(series), workload_(std::move(workload)), report_(report) {
    std::vector<PodRecord> pods = series.cluster.pods(series.cluster.latest(), report);
    ImportOptions no_trace;
    no_trace.replicas = 1;  // which no level needs: do not guess
    series.gpus.credit(pods, no_trace, report);
    timelines_ = series.gpus.timelines();
    for (const DeviceTimeline& device : timelines_) {
      for (const DeviceUse::Moment& moment : device.moments) {
        for (const std::uint32_t pod : moment.pods) {
          named_[series.gpus.pod(pod)].push_back(moment.at);
        }
      }
    }
    for (auto& [name, times] : named_) std::ranges::sort(times);
    for (PodRecord& pod : pods) {
      add_holder(pod);
      records_.try_emplace(PodName{pod.space, pod.name, {}}, std::move(pod));
    }
    answered_ = series.requests.answered(report);
    for (const auto& [name, counter] : answered_) {
      const std::size_t slash = name.find('/');
      const PodName pod{name.substr(0, slash), name.substr(slash + 1), {}};
      const auto known = records_.find(pod);
      const bool is_placed =
          named_.contains(pod) || (known != records_.end() && !known->second.node.empty());
      if (!is_placed) nowhere_[replicas_of(name)].push_back(&counter);
    }
  }

  std::vector<SharingLevel> read() {
    for (const DeviceTimeline& device : timelines_) read_device(device);
    std::vector<SharingLevel> levels;
    for (auto& [key, level] : levels_) levels.push_back(finished(level));
    return levels;
  }

 private:
  struct Level {
    SharingLevel sum;
    std::int64_t until = 0;
    std::vector<double> busy;
    Mean sms;
    Mean memory;
  };

  // A pod that has a GPU of its node for as long as it is there.
  struct Holder {
    PodName name;
    std::int64_t since = 0;
    std::int64_t until = INT64_MAX;
  };

  // "ml/asr-7c9-x2x4z" and all that were made with it, by their names.
  static std::string replicas_of(const std::string& name) {
    const std::size_t dash = name.rfind('-');
    return dash < name.find('/') ? name : name.substr(0, dash);
  }

  // Whether one of its replicas answered meanwhile that nobody says the place of: it may have had
  // the same GPU.
  bool has_help(std::uint32_t pod, std::int64_t from, std::int64_t to) const {
    const PodName& name = series_.gpus.pod(pod);
    const auto others = nowhere_.find(replicas_of(fmt::format("{}/{}", name.space, name.name)));
    return others != nowhere_.end() &&
           std::ranges::any_of(others->second, [&](const AnsweredSoFar* counter) {
             const auto before = counter->at(from);
             const auto after = counter->at(to);
             return before && after && *after > *before;
           });
  }

  void add_holder(const PodRecord& pod) {
    const PodName name{pod.space, pod.name, {}};
    if (pod.node.empty() || !(asks_for_gpu(pod) || named_.contains(name))) return;
    const std::int64_t since = pod.started     ? *pod.started
                               : pod.scheduled ? *pod.scheduled
                               : pod.arrival   ? *pod.arrival
                                               : pod.seen.value_or(0);
    holders_[pod.node].push_back({name, since, pod.ended.value_or(INT64_MAX)});
  }

  // Whether DCGM names all pods that hold a GPU of the node between two samples: by default it
  // names one of those that share it.
  bool names_all(const std::string& node, std::int64_t from, std::int64_t to) const {
    const auto holders = holders_.find(node);
    if (holders == holders_.end()) return true;
    return std::ranges::all_of(holders->second, [&](const Holder& holder) {
      if (holder.since >= to || holder.until <= from) return true;
      const auto named = named_.find(holder.name);
      return named != named_.end() && (std::ranges::binary_search(named->second, from) ||
                                       std::ranges::binary_search(named->second, to));
    });
  }

  const PodRecord& record(std::uint32_t pod) const { return records_.at(series_.gpus.pod(pod)); }

  std::string workload_of(std::uint32_t pod) const {
    if (!workload_.empty()) return workload_;
    const PodRecord& of = record(pod);
    return dns_name(of.work.empty() ? of.name : of.work.substr(of.work.find('/') + 1), "pod");
  }

  const AnsweredSoFar* counter_of(std::uint32_t pod) const {
    const PodName& name = series_.gpus.pod(pod);
    const auto found = answered_.find(fmt::format("{}/{}", name.space, name.name));
    return found == answered_.end() ? nullptr : &found->second;
  }

  // Why nothing follows from these pods together; "" when something does.
  std::string_view useless(const DeviceUse::Moment& from, const DeviceUse::Moment& to) const {
    const std::vector<std::uint32_t>& pods = from.pods;
    const PodRecord& first = record(pods.front());
    if (!names_all(first.node, from.at, to.at)) {
      return "times of nodes of which DCGM does not name all pods with a GPU: it names one of a "
             "shared GPU unless it runs with --kubernetes-virtual-gpus";
    }
    if ((from.summed || to.summed) && first.node_sharing != "time-slicing") {
      return "times at which DCGM gives the use of each process: how long the GPU had any work "
             "does not follow, but where they take turns";
    }
    for (const std::uint32_t pod : pods) {
      if (has_help(pod, from.at, to.at)) {
        return "times at which replicas answered that nobody says the node of: they may have had "
               "the same GPU, of which DCGM names one pod; query kube_pod_info as well";
      }
      if (workload_of(pod) != workload_of(pods.front())) {
        return "times at which pods of several workloads shared a GPU";
      }
      const AnsweredSoFar* counter = counter_of(pod);
      if (counter == nullptr) return "times of pods without a counter of requests";
      if (counter->counter.starts_with(kBatchesAsItGoes)) {
        return "times of vLLM, where a request takes the less of the GPU the more there are: "
               "calibrate reads its benchmarks";
      }
    }
    return {};
  }

  void read_device(const DeviceTimeline& device) {
    const std::int64_t longest = longest_step(device.moments);
    Stay stay;
    for (std::size_t i = 1; i < device.moments.size(); ++i) {
      const DeviceUse::Moment& from = device.moments[i - 1];
      const DeviceUse::Moment& to = device.moments[i];
      const bool same = from.pods == to.pods && to.at - from.at <= longest;
      if (same) add_step(device, from, to, stay);
      if (!same || i + 1 == device.moments.size()) {
        end_stay(device, from.pods, same ? to.at : from.at, stay);
        stay = {};
      }
    }
  }

  void add_step(const DeviceTimeline& device, const DeviceUse::Moment& from,
                const DeviceUse::Moment& to, Stay& stay) {
    const std::string_view why = useless(from, to);
    const auto place = [&] { return record(from.pods.front()).where; };
    if (!why.empty()) return report_.skipped(why, place);
    std::vector<double> more;
    for (const std::uint32_t pod : from.pods) {
      const auto before = counter_of(pod)->at(from.at);
      const auto after = counter_of(pod)->at(to.at);
      if (!before || !after) {
        return report_.skipped("times at which the requests of a pod were not counted", place);
      }
      more.push_back(*after - *before);
    }
    stay.requests.resize(more.size());
    for (std::size_t p = 0; p < more.size(); ++p) stay.requests[p] += more[p];
    const double seconds = static_cast<double>(to.at - from.at) / kNanosecondsPerSecond;
    const double busy = std::min(1.0, (from.value + to.value) / 2);
    stay.seconds += seconds;
    stay.busy_seconds += busy * seconds;
    stay.busy.push_back(busy);
    add_share(device.sms, to.at, stay.sms);
    add_share(device.memory, to.at, stay.memory);
  }

  void end_stay(const DeviceTimeline& device, const std::vector<std::uint32_t>& pods,
                std::int64_t until, const Stay& stay) {
    if (stay.busy.empty()) return;
    const PodRecord& first = record(pods.front());
    double sum = 0;
    for (const double requests : stay.requests) sum += requests;
    const double mean = sum / static_cast<double>(pods.size());
    // The replicas of one Service differ by chance, those that get none do not share.
    if (mean <= 0 || *std::ranges::min_element(stay.requests) < mean / 2) {
      report_.skipped("times at which a pod of a GPU had less than half of its requests",
                      first.where, static_cast<std::int64_t>(stay.busy.size()));
      return;
    }
    const std::string sharing = pods.size() == 1 ? "" : first.node_sharing;
    const std::string workload = workload_of(pods.front());
    Level& level = levels_[{workload, device.model, device.profile, sharing, pods.size()}];
    level.sum.workload = workload;
    level.sum.gpu = device.model;
    level.sum.slice = device.profile;
    level.sum.sharing = sharing;
    level.sum.pods = static_cast<int>(pods.size());
    if (level.busy.empty()) level.sum.where = first.where;
    level.sum.seconds += stay.seconds;
    level.sum.requests += sum;
    level.sum.busy += stay.busy_seconds;
    level.until = std::max(level.until, until);
    level.busy.insert(level.busy.end(), stay.busy.begin(), stay.busy.end());
    level.sum.sampled = level.sum.sampled || device.sampled;
    level.sms.add(stay.sms);
    level.memory.add(stay.memory);
  }

  static SharingLevel finished(Level& level) {
    SharingLevel out = std::move(level.sum);
    out.busy /= out.seconds;
    out.date = date_of(level.until);
    out.sm_active = level.sms.value();
    out.dram_active = level.memory.value();
    double squares = 0;
    for (const double busy : level.busy) squares += (busy - out.busy) * (busy - out.busy);
    const auto steps = static_cast<double>(level.busy.size());
    // Of a single step nothing is known: as unsure as a share can be.
    out.busy_error = steps < 2 ? 0.5 : std::sqrt(squares / (steps - 1) / steps);
    return out;
  }

  using Key = std::tuple<std::string, std::string, std::string, std::string, std::size_t>;
  RecordedSeries& series_;
  std::string workload_;
  ImportReport& report_;
  std::map<PodName, PodRecord> records_;
  std::vector<DeviceTimeline> timelines_;
  std::map<PodName, std::vector<std::int64_t>> named_;  // when DCGM has them on a device
  std::map<std::string, std::vector<Holder>> holders_;  // by node
  std::map<std::string, AnsweredSoFar> answered_;
  // Counters of pods of which no node is known, by the name that replicas have in common.
  std::map<std::string, std::vector<const AnsweredSoFar*>> nowhere_;
  std::map<Key, Level> levels_;
};

}  // namespace

Expected<RecordedLevels> read_sharing_levels(std::span<const SourceText> files,
                                             const std::string& workload) {
  ImportReport report(false);
  auto series = read_series(files, {}, report);
  if (!series) return tl::unexpected(series.error());
  RecordedLevels out;
  out.levels = LevelReader(*series, workload, report).read();
  out.log = report.take_log(static_cast<std::int64_t>(out.levels.size()));
  if (!out.levels.empty()) return out;
  const std::string why = what_was_skipped(out.log);
  return not_the_format(
      {files.front().name, 1, 1, 1},
      "there is no time at which it is known how busy a GPU was and what its pods answered",
      why.empty()
          ? "query DCGM_FI_DEV_GPU_UTIL, kube_pod_info and a counter of requests: "
            "nv_inference_request_success, ts_inference_requests_total or istio_requests_total"
          : why);
}

}  // namespace slicewise::scenarios
