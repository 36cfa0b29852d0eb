#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "slicewise/scenarios/gpu_resource.hpp"

#include "prometheus.hpp"

namespace slicewise::scenarios {
namespace {

using UsePart = DeviceUse::Part;

// All entries of one instant, pod by pod.
struct Instant {
  const UsePart* begin = nullptr;
  const UsePart* end = nullptr;
  int pods = 0;
  bool is_equal = true;
  double most = 0;
};

Instant instant_at(const std::vector<UsePart>& entries, std::size_t first) {
  Instant instant{&entries[first], &entries[first]};
  const UsePart* const stop = entries.data() + entries.size();
  for (; instant.end != stop && instant.end->at == instant.begin->at; ++instant.end) {
    const UsePart& entry = *instant.end;
    const bool is_new = instant.end == instant.begin || entry.pod != (instant.end - 1)->pod;
    instant.pods += is_new ? 1 : 0;
    instant.is_equal = instant.is_equal && entry.value == instant.begin->value;
    instant.most = std::max(instant.most, entry.value);
  }
  return instant;
}

std::size_t size_of(const Instant& instant) {
  return static_cast<std::size_t>(instant.end - instant.begin);
}

}  // namespace

void DeviceUse::add(Metric metric, std::uint32_t pod, const std::string& part,
                    const std::vector<Sample>& samples) {
  std::vector<SeriesOfPart>& parts = samples_[metric];
  auto found = std::ranges::find_if(
      parts, [&](const SeriesOfPart& known) { return known.pod == pod && known.name == part; });
  if (found == parts.end()) found = parts.insert(parts.end(), SeriesOfPart{pod, part, {}});
  found->samples.insert(found->samples.end(), samples.begin(), samples.end());
}

DeviceUse::Entries DeviceUse::entries(Metric metric) const {
  Entries result;
  const auto found = samples_.find(metric);
  if (found == samples_.end()) return result;
  std::vector<UsePart>& entries = result.list;
  std::uint32_t number = 0;
  for (const SeriesOfPart& part : found->second) {
    for (const Sample& sample : part.samples) {
      entries.push_back({sample.at, part.pod, number, sample.value});
    }
    ++number;
  }
  const auto identity = [](const UsePart& e) { return std::tuple(e.at, e.pod, e.part); };
  std::ranges::stable_sort(entries, {}, identity);
  // Answers that overlap repeat samples.
  entries.erase(
      std::unique(entries.begin(), entries.end(),
                  [&](const UsePart& a, const UsePart& b) { return identity(a) == identity(b); }),
      entries.end());

  // Idle instants are equal either way. Samples at the borders of a pod's life may differ.
  std::int64_t shared = 0;
  std::int64_t equal = 0;
  for (std::size_t i = 0; i < entries.size();) {
    const Instant instant = instant_at(entries, i);
    i += size_of(instant);
    result.most_pods = std::max(result.most_pods, instant.pods);
    if (size_of(instant) < 2 || instant.most == 0) continue;
    ++shared;
    equal += instant.is_equal ? 1 : 0;
  }
  result.repeated = shared > 0 && equal * 10 >= shared * 9;
  return result;
}

DeviceUse::Uses DeviceUse::uses(Metric metric) const {
  Uses result;
  const Entries all = entries(metric);
  const bool repeated = all.repeated;
  result.most_pods = all.most_pods;
  for (std::size_t i = 0; i < all.list.size();) {
    const Instant instant = instant_at(all.list, i);
    i += size_of(instant);
    for (const UsePart* entry = instant.begin; entry != instant.end;) {
      Use use{entry->pod, entry->at, 0};
      for (; entry != instant.end && entry->pod == use.pod; ++entry) {
        use.value = repeated ? std::max(use.value, entry->value) : use.value + entry->value;
      }
      if (repeated) use.value /= instant.pods;
      result.of_pods.push_back(use);
      if (instant.pods > 1) ++(repeated ? result.split : result.of_processes);
    }
  }
  return result;
}

std::vector<DeviceUse::Moment> DeviceUse::moments(Metric metric) const {
  std::vector<Moment> result;
  const Entries all = entries(metric);
  for (std::size_t i = 0; i < all.list.size();) {
    const Instant instant = instant_at(all.list, i);
    i += size_of(instant);
    Moment moment{instant.begin->at, 0, {}, instant.pods > 1 && !all.repeated};
    for (const UsePart* entry = instant.begin; entry != instant.end; ++entry) {
      moment.value = all.repeated ? instant.most : moment.value + entry->value;
      if (moment.pods.empty() || moment.pods.back() != entry->pod)
        moment.pods.push_back(entry->pod);
    }
    result.push_back(std::move(moment));
  }
  return result;
}

namespace {

constexpr double kBytesPerMebibyte = 1'048'576;

using Metric = DeviceUse::Metric;

struct KnownMetric {
  std::string_view name;
  Metric metric;
  double unit;
};

constexpr std::array kMetrics = {
    KnownMetric{"DCGM_FI_DEV_GPU_UTIL", Metric::Utilisation, 0.01},
    KnownMetric{"DCGM_FI_PROF_GR_ENGINE_ACTIVE", Metric::EngineActive, 1},
    KnownMetric{"DCGM_FI_PROF_SM_ACTIVE", Metric::SmActive, 1},
    KnownMetric{"DCGM_FI_PROF_DRAM_ACTIVE", Metric::DramActive, 1},
    KnownMetric{"DCGM_FI_DEV_FB_USED", Metric::Memory, kBytesPerMebibyte},
};

bool is_exporter(const PodName& pod) { return pod.name.find("dcgm-exporter") != std::string::npos; }

std::optional<std::int32_t> permille_of(const Mean& fraction) {
  const auto mean = fraction.value();
  if (!mean) return std::nullopt;
  return static_cast<std::int32_t>(std::llround(1'000.0 * std::min(*mean, 1.0)));
}

std::int64_t smallest_gap(const std::vector<std::int64_t>& times) {
  std::int64_t gap = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 1; i < times.size(); ++i) {
    if (times[i] > times[i - 1]) gap = std::min(gap, times[i] - times[i - 1]);
  }
  return gap == std::numeric_limits<std::int64_t>::max() ? 0 : gap;
}

}  // namespace

bool GpuMetrics::add(const Labels& labels, const std::vector<Sample>& samples,
                     const SourceLocation& where) {
  const auto* known = std::ranges::find(kMetrics, labels.metric(), &KnownMetric::name);
  if (known == kMetrics.end()) return false;
  Series series{known->metric,
                {},
                std::string(labels["modelName"]),
                exported_pod_of(labels),
                pod_of(labels),
                {},
                {},
                samples,
                where};
  series.device = labels["UUID"];
  if (series.device.empty()) {
    const std::string_view host =
        labels["Hostname"].empty() ? labels["hostname"] : labels["Hostname"];
    series.device = fmt::format("{}/{}", host, labels["gpu"]);
  }
  series.profile = labels["GPU_I_PROFILE"];
  if (!labels["GPU_I_ID"].empty()) series.device += fmt::format("/{}", labels["GPU_I_ID"]);
  series.part = fmt::format("{}/{}", series.plain.container, labels["vgpu"]);
  for (Sample& sample : series.samples) {
    sample.value = std::max(0.0, sample.value * known->unit);
    latest_ = std::max(latest_, sample.at);
  }
  series_.push_back(std::move(series));
  return true;
}

std::uint32_t GpuMetrics::number_of(const PodName& pod, const SourceLocation& where) {
  const auto [place, is_new] =
      numbers_.try_emplace({pod.space, pod.name, {}}, static_cast<std::uint32_t>(names_.size()));
  if (is_new) {
    names_.push_back(place->first);
    first_.push_back(where);
  }
  return place->second;
}

void GpuMetrics::sort_by_device(ImportReport& report) {
  // One series that says exported_pod proves that a plain `pod` is the exporter's.
  const bool keeps_own_labels = std::ranges::any_of(
      series_, [](const Series& series) { return !series.exported.name.empty(); });
  for (Series& series : series_) {
    const PodName& pod = keeps_own_labels ? series.exported : series.plain;
    if (pod.name.empty() || (!keeps_own_labels && is_exporter(pod))) {
      report.noted("series of devices without a pod: idle, or kept beside those of its pods",
                   series.where);
      continue;
    }
    Device& device = devices_[series.device];
    if (!series.profile.empty()) device.profile = series.profile;
    if (!series.model.empty()) device.model = series.model;
    device.use.add(series.metric, number_of(pod, series.where), series.part, series.samples);
    series.samples = {};
  }
}

void GpuMetrics::index(const std::vector<PodRecord>& pods) {
  records_.assign(names_.size(), {});
  for (std::size_t i = 0; i < pods.size(); ++i) {
    const auto found = numbers_.find({pods[i].space, pods[i].name, {}});
    if (found != numbers_.end() && pods[i].arrival) records_[found->second].push_back(i);
  }
  for (std::vector<std::size_t>& of_name : records_) {
    std::ranges::stable_sort(of_name, {}, [&](std::size_t i) { return *pods[i].arrival; });
  }
}

std::optional<std::size_t> GpuMetrics::record_at(std::uint32_t pod, std::int64_t at,
                                                 const std::vector<PodRecord>& pods) const {
  const std::vector<std::size_t>& lives = records_[pod];
  if (lives.empty()) return std::nullopt;
  const auto next =
      std::ranges::upper_bound(lives, at, {}, [&](std::size_t i) { return *pods[i].arrival; });
  return next == lives.begin() ? lives.front() : *(next - 1);
}

// Pods of which there is no kube-state-metrics: alive while they are seen on a GPU.
void GpuMetrics::add_unknown_pods(std::vector<PodRecord>& pods, ImportReport& report) {
  std::vector<std::vector<Sighting>> sightings(names_.size());
  for (const auto& [name, device] : devices_) {
    for (const Metric metric :
         {Metric::Utilisation, Metric::EngineActive, Metric::SmActive, Metric::Memory}) {
      for (const DeviceUse::Use& use : device.use.uses(metric).of_pods) {
        if (records_[use.pod].empty()) sightings[use.pod].push_back({use.at, &device});
      }
    }
  }
  for (std::uint32_t pod = 0; pod < sightings.size(); ++pod) {
    if (!sightings[pod].empty()) add_lives(pods, pod, std::move(sightings[pod]), report);
  }
}

void GpuMetrics::add_lives(std::vector<PodRecord>& pods, std::uint32_t pod,
                           std::vector<Sighting> seen, ImportReport& report) {
  std::ranges::stable_sort(seen, {}, &Sighting::at);
  std::vector<std::int64_t> times;
  times.reserve(seen.size());
  for (const Sighting& sighting : seen) times.push_back(sighting.at);
  const std::int64_t longest_gap = kStale + smallest_gap(times);
  for (std::size_t first = 0; first < seen.size();) {
    std::size_t last = first;
    std::set<const Device*> devices = {seen[first].device};
    while (last + 1 < seen.size() && seen[last + 1].at - seen[last].at <= longest_gap) {
      devices.insert(seen[++last].device);
    }
    PodRecord record;
    record.space = names_[pod].space;
    record.name = names_[pod].name;
    record.where = first_[pod];
    record.arrival = record.scheduled = seen[first].at;
    record.state = JobState::Running;
    if (seen[last].at < latest_ - longest_gap) {
      record.ended = seen[last].at;
      record.state = JobState::Unknown;
    }
    const std::string& profile = seen[first].device->profile;
    const std::string resource =
        profile.empty() ? std::string(kGpuResource) : mig_resource(profile);
    record.amounts[resource] = static_cast<std::int64_t>(devices.size());
    pods.push_back(std::move(record));
    report.guessed(
        "pods known from DCGM alone: they arrive, start and end as they are seen on a GPU",
        [&] { return first_[pod]; });
    first = last + 1;
  }
}

void GpuMetrics::credit_device(const std::string& name, const Device& device,
                               const std::vector<PodRecord>& pods, std::vector<Credit>& credits,
                               ImportReport& report) const {
  const Metric metric = device.busy_metric();
  if (device.by_engine() && device.use.has(metric)) {
    report.noted("devices whose use is DCGM_FI_PROF_GR_ENGINE_ACTIVE: MIG, or no GPU_UTIL");
  }
  for (const Metric kind : {metric, Metric::SmActive, Metric::Memory}) {
    const DeviceUse::Uses uses = device.use.uses(kind);
    for (const DeviceUse::Use& use : uses.of_pods) {
      const auto record = record_at(use.pod, use.at, pods);
      if (!record) continue;
      Credit& credit = credits[*record];
      credit.most_pods = std::max(credit.most_pods, uses.most_pods);
      credit.seen_on(name);
      if (kind == Metric::Memory) {
        credit.most_memory = std::max(credit.most_memory, use.value);
      } else {
        (kind == Metric::SmActive ? credit.sm_active : credit.use).add(use.value);
      }
    }
    if (uses.split > 0) {
      report.repaired(
          "values of a whole device, repeated for each pod on it: split evenly between them",
          SourceLocation{}, uses.split);
    }
    if (uses.of_processes > 0) {
      report.noted("values of pods on one device that differ: taken as those of their processes",
                   SourceLocation{}, uses.of_processes);
    }
  }
}

std::vector<DeviceTimeline> GpuMetrics::timelines() const {
  std::vector<DeviceTimeline> timelines;
  for (const auto& [name, device] : devices_) {
    // Of the two shares the one that samples do not overstate.
    const bool engine = device.use.has(Metric::EngineActive);
    timelines.push_back({device.model, device.profile,
                         device.use.moments(engine ? Metric::EngineActive : device.busy_metric()),
                         device.use.moments(Metric::SmActive),
                         device.use.moments(Metric::DramActive), !engine && !device.by_engine()});
  }
  return timelines;
}

void GpuMetrics::credit(std::vector<PodRecord>& pods, const ImportOptions& options,
                        ImportReport& report) {
  sort_by_device(report);
  index(pods);
  add_unknown_pods(pods, report);
  index(pods);
  std::vector<Credit> credits(pods.size());
  for (const auto& [name, device] : devices_) credit_device(name, device, pods, credits, report);
  for (std::size_t i = 0; i < pods.size(); ++i) {
    PodRecord& pod = pods[i];
    const Credit& credit = credits[i];
    pod.sm_permille = permille_of(credit.sm_active);
    pod.gpu_permille = permille_of(credit.use);
    if (credit.device != nullptr && !credit.on_several) pod.ran_on = *credit.device;
    if (!pod.gpu_permille && pod.arrival && asks_for_gpu(pod)) {
      report.noted(
          "pods with a GPU without DCGM values: the exporter names one pod of a shared GPU unless "
          "it runs with --kubernetes-virtual-gpus",
          pod.where);
    }
    if (credit.most_memory > 0) {
      constexpr double kMost = 1e15;
      pod.gpu_memory = Bytes{std::llround(std::min(credit.most_memory, kMost))};
    }
    if (credit.most_pods > 1 && !pod.node_replicas && !options.replicas) {
      pod.node_replicas = credit.most_pods;
      report.guessed(
          "pods on shared GPUs: replicas taken as the most pods seen on one GPU at a time "
          "(--replicas sets them)",
          pod.where);
    }
  }
}

}  // namespace slicewise::scenarios
