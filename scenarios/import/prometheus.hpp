#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../text/json_value.hpp"
#include "import_report.hpp"
#include "pod_record.hpp"

namespace slicewise::scenarios {

// For how long Prometheus shows a series after its last sample, in ns.
inline constexpr std::int64_t kStale = 300'000'000'000;

struct Sample {
  std::int64_t at = 0;  // ns since 1970
  double value = 0;
};

// The mean of what is known.
struct Mean {
  double sum = 0;
  std::int64_t count = 0;

  void add(double value) {
    sum += value;
    ++count;
  }
  void add(const Mean& other) {
    sum += other.sum;
    count += other.count;
  }
  std::optional<double> value() const {
    return count == 0 ? std::nullopt : std::optional(sum / static_cast<double>(count));
  }
};

// The labels of a series.
class Labels {
 public:
  explicit Labels(JsonValue metric);

  // "" when it has no such label.
  std::string_view operator[](std::string_view name) const;
  std::string_view metric() const { return (*this)["__name__"]; }
  // The same for the parts of one series; of these labels it has none.
  std::string key(std::span<const std::string_view> without = {}) const;

 private:
  std::vector<std::pair<std::string, std::string>> labels_;
};

using SeriesVisitor = std::function<void(const Labels& labels, const std::vector<Sample>& samples,
                                         const SourceLocation& where)>;

// The pod that a series is about, as its labels name it.
struct PodName {
  std::string space;
  std::string name;
  std::string container;

  friend auto operator<=>(const PodName&, const PodName&) = default;
};

// exported_pod where the server kept its own labels (honorLabels: false), else pod, else pod_name
// of the exporter's older option.
PodName pod_of(const Labels& labels);
// The same but for a plain `pod` label, which with `honorLabels: false` is the exporter's own.
PodName exported_pod_of(const Labels& labels);

// What kube-state-metrics says about pods and nodes. Pods are told apart by uid: names of a
// StatefulSet's pods come again.
class ClusterMetrics {
 public:
  // False when the series is not one that is used.
  bool add(const Labels& labels, const std::vector<Sample>& samples, const SourceLocation& where);

  bool empty() const { return pods_.empty(); }
  std::int64_t latest() const { return latest_; }

  // The pods; one that was seen until `end` or almost is still running.
  std::vector<PodRecord> pods(std::int64_t end, ImportReport& report) const;

 private:
  struct Pod {
    PodRecord record;
    std::map<std::string, Amounts> requests;  // by container
    std::map<std::string, Amounts> limits;
    std::map<std::string, Amounts> init;
    std::map<std::string, std::int64_t> phases;  // when it was last in it
    std::string priority_class;
    bool restarted = false;
    std::int64_t first_seen = INT64_MAX;
    std::int64_t last_seen = 0;
  };
  struct Node {
    std::string instance_type;
    std::string sharing;
    std::optional<int> replicas;
    double gpus = 0;
  };

  bool add_to_pod(Pod& pod, const Labels& labels, std::string_view metric, const Sample& last);
  bool add_resource(Pod& pod, const Labels& labels, std::string_view metric, double value);
  bool add_node(const Labels& labels, std::string_view metric, double value);
  PodRecord finished(const Pod& pod, std::int64_t end, ImportReport& report) const;

  std::map<std::string, Pod> pods_;  // by uid
  std::map<std::string, Node> nodes_;
  std::int64_t latest_ = 0;
};

// The requests that a pod has answered by each time, from when it was first seen.
struct AnsweredSoFar {
  std::string_view counter;
  std::vector<Sample> requests;  // by time

  // nullopt when nothing was seen then or shortly before.
  std::optional<double> at(std::int64_t time) const;
};

// What servers count of the requests that they answered. Series of one pod add up, those of the
// same labels are parts of one, and of those that were scraped twice the largest counts.
class RequestCounters {
 public:
  // False when the series is not one that is used.
  bool add(const Labels& labels, const std::vector<Sample>& samples, const SourceLocation& where);

  std::map<std::string, RequestCount> counts(ImportReport& report) const;     // by "namespace/pod"
  std::map<std::string, AnsweredSoFar> answered(ImportReport& report) const;  // likewise

 private:
  struct Series {
    std::vector<Sample> samples;
    SourceLocation where;
  };
  using Scrapes = std::map<std::string, Series>;  // by all labels
  using PodCounter = std::pair<std::string, std::size_t>;
  // Of one counter; nullptr when it counts more than there can be.
  static const Series* largest(const Scrapes& scrapes, ImportReport& report);
  std::map<PodCounter, std::map<std::string, Scrapes>> series_;  // by what was counted
};

// How much a counter grew, and from when to when it was seen. One that fell began anew.
struct Increase {
  double count = 0;
  std::int64_t since_ns = INT64_MAX;
  std::int64_t until_ns = 0;
};
Increase increase_of(std::vector<Sample> samples);

// Labels of who asked, not of who was asked: by two jobs, or by two servers of which one may fail.
inline constexpr std::array<std::string_view, 7> kOfScrape = {
    "job", "instance", "endpoint", "service", "prometheus", "prometheus_replica", "replica"};

// "asr_seconds" of "asr_seconds_bucket": people copy the name of a series.
std::string histogram_of(const std::string& metric);

// A histogram of latencies that the user named.
class LatencyHistogram {
 public:
  // Seconds, unless the name ends with another unit.
  explicit LatencyHistogram(const std::string& named);

  // False when the series is not of its buckets.
  bool add(const Labels& labels, const std::vector<Sample>& samples, const SourceLocation& where);

  using Buckets = std::map<double, double>;        // requests of at most so many seconds
  std::map<std::string, Buckets> of_pods() const;  // by "namespace/pod"

  // Between the bounds by the rule of Prometheus' histogram_quantile(); nullopt of no requests.
  static std::optional<Duration> quantile(const Buckets& buckets, double q);

 private:
  std::string bucket_;  // name of its series
  double unit_ = 1;
  struct Scrape {
    double bound = 0;
    std::vector<Sample> samples;
  };
  // By pod, by what is counted, by who asked.
  std::map<std::string, std::map<std::string, std::map<std::string, Scrape>>> series_;
};

// What was recorded of the pods of each controller that ask for GPUs, by namespace and name.
std::vector<RecordedWorkload> recorded_workloads(const std::vector<PodRecord>& pods,
                                                 const LatencyHistogram& latency);

// What DCGM says of one device, a GPU or a MIG instance: who used how much of it, and when.
//
// When several pods share a device, the exporter either repeats the value of the whole device for
// each of them (--kubernetes-virtual-gpus), so that a sum over pods counts it several times, or,
// since March 2026, gives the values of their processes. Equal values at equal times tell the first
// from the second.
class DeviceUse {
 public:
  enum class Metric : std::uint8_t { Utilisation, EngineActive, SmActive, DramActive, Memory };

  // One sample of one container or replica.
  struct Part {
    std::int64_t at = 0;
    std::uint32_t pod = 0;
    std::uint32_t part = 0;
    double value = 0;
  };

  // `pod`: any number that the caller gives it. `part`: its container and replica.
  void add(Metric metric, std::uint32_t pod, const std::string& part,
           const std::vector<Sample>& samples);

  // The share of one pod: a fraction of the device, or bytes.
  struct Use {
    std::uint32_t pod = 0;
    std::int64_t at = 0;
    double value = 0;
  };
  struct Uses {
    std::vector<Use> of_pods;  // by time
    std::int64_t split = 0;  // values of the whole device that were repeated, and were split evenly
    std::int64_t of_processes = 0;  // values of pods that shared the device but differ
    int most_pods = 0;              // at one time
  };
  Uses uses(Metric metric) const;

  // The device as a whole at one time.
  struct Moment {
    std::int64_t at = 0;
    double value = 0;
    std::vector<std::uint32_t> pods;  // in order of their numbers
    bool summed = false;              // over the processes of several pods
  };
  std::vector<Moment> moments(Metric metric) const;  // by time

  bool has(Metric metric) const { return samples_.contains(metric); }

 private:
  struct SeriesOfPart {
    std::uint32_t pod = 0;
    std::string name;
    std::vector<Sample> samples;
  };
  // What all parts say of one metric, instant by instant.
  struct Entries {
    std::vector<Part> list;
    int most_pods = 0;
    bool repeated = false;  // the value of the device for each of its pods
  };
  Entries entries(Metric metric) const;

  std::map<Metric, std::vector<SeriesOfPart>> samples_;
};

// One device, and which pods were on it when.
struct DeviceTimeline {
  std::string model;                       // as DCGM calls it: "NVIDIA A10G"
  std::string profile;                     // of a MIG instance
  std::vector<DeviceUse::Moment> moments;  // of the share of the time in which it was busy
  std::vector<DeviceUse::Moment> sms;      // ... in which its SMs were, and
  std::vector<DeviceUse::Moment> memory;   // its memory
  bool sampled = false;                    // busy by GPU_UTIL
};

// What DCGM exporter says about GPUs, and which pods it credits with their use.
class GpuMetrics {
 public:
  // False when the series is not one that is used.
  bool add(const Labels& labels, const std::vector<Sample>& samples, const SourceLocation& where);

  bool empty() const { return series_.empty(); }

  // Gives the pods their use of GPUs, and adds to them the pods that only DCGM knows.
  void credit(std::vector<PodRecord>& pods, const ImportOptions& options, ImportReport& report);

  // Of the devices that pods were credited with; pods by number.
  std::vector<DeviceTimeline> timelines() const;
  const PodName& pod(std::uint32_t number) const { return names_[number]; }

 private:
  struct Series {
    DeviceUse::Metric metric{};
    std::string device;
    std::string model;
    PodName exported;  // from labels that can only mean the pod on the GPU
    PodName plain;     // from labels that may mean the exporter's own
    std::string profile;
    std::string part;
    std::vector<Sample> samples;
    SourceLocation where;
  };
  struct Device {
    DeviceUse use;
    std::string model;
    std::string profile;  // of a MIG instance

    // MIG instances have no GPU_UTIL.
    bool by_engine() const { return !profile.empty() || !use.has(DeviceUse::Metric::Utilisation); }
    DeviceUse::Metric busy_metric() const {
      return by_engine() ? DeviceUse::Metric::EngineActive : DeviceUse::Metric::Utilisation;
    }
  };
  // What one pod used, over all its devices.
  struct Credit {
    Mean use;  // a fraction, as is the next
    Mean sm_active;
    double most_memory = 0;
    int most_pods = 0;  // on one of its devices at a time
    const std::string* device = nullptr;
    bool on_several = false;

    void seen_on(const std::string& name) {
      on_several = on_several || (device != nullptr && device != &name);
      device = &name;
    }
  };
  // Times at which a pod was seen on a GPU.
  struct Sighting {
    std::int64_t at = 0;
    const Device* device = nullptr;
  };

  void sort_by_device(ImportReport& report);
  std::uint32_t number_of(const PodName& pod, const SourceLocation& where);
  void add_unknown_pods(std::vector<PodRecord>& pods, ImportReport& report);
  void add_lives(std::vector<PodRecord>& pods, std::uint32_t pod, std::vector<Sighting> seen,
                 ImportReport& report);
  void index(const std::vector<PodRecord>& pods);
  std::optional<std::size_t> record_at(std::uint32_t pod, std::int64_t at,
                                       const std::vector<PodRecord>& pods) const;
  void credit_device(const std::string& name, const Device& device,
                     const std::vector<PodRecord>& pods, std::vector<Credit>& credits,
                     ImportReport& report) const;

  std::vector<Series> series_;
  std::map<std::string, Device> devices_;
  std::vector<PodName> names_;         // without containers
  std::vector<SourceLocation> first_;  // where each was met first
  std::map<PodName, std::uint32_t> numbers_;
  std::vector<std::vector<std::size_t>> records_;  // of each name, in order of arrival
  std::int64_t latest_ = 0;
};

// All that is read of the answers of a Prometheus server.
struct RecordedSeries {
  ClusterMetrics cluster;
  GpuMetrics gpus;
  RequestCounters requests;
  LatencyHistogram latency;
};

// `latency`: the histogram that the user named, or "".
Expected<RecordedSeries> read_series(std::span<const SourceText> files, const std::string& latency,
                                     ImportReport& report);

}  // namespace slicewise::scenarios
