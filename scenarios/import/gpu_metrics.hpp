#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cluster_metrics.hpp"
#include "import_report.hpp"
#include "prometheus_answer.hpp"

namespace slicewise::scenarios {

// What DCGM says of one device, a GPU or a MIG instance: who used how much of it, and when.
//
// When several pods share a device, the exporter either repeats the value of the whole device for
// each of them (--kubernetes-virtual-gpus), so that a sum over pods counts it several times, or,
// since March 2026, gives the values of their processes. Equal values at equal times tell the first
// from the second.
class DeviceUse {
 public:
  enum class Metric : std::uint8_t { Utilisation, EngineActive, Memory };

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

  bool has(Metric metric) const { return samples_.contains(metric); }

 private:
  struct Part {
    std::uint32_t pod = 0;
    std::string name;
    std::vector<Sample> samples;
  };
  std::map<Metric, std::vector<Part>> samples_;
};

// What DCGM exporter says about GPUs, and which pods it credits with their use.
class GpuMetrics {
 public:
  // False when the series is not one that is used.
  bool add(const Labels& labels, const std::vector<Sample>& samples, const SourceLocation& where);

  bool empty() const { return series_.empty(); }

  // Gives the pods their use of GPUs, and adds to them the pods that only DCGM knows.
  void credit(std::vector<PodRecord>& pods, const ImportOptions& options, ImportReport& report);

 private:
  struct Series {
    DeviceUse::Metric metric{};
    std::string device;
    PodName exported;  // from labels that can only mean the pod on the GPU
    PodName plain;     // from labels that may mean the exporter's own
    std::string profile;
    std::string part;
    std::vector<Sample> samples;
    SourceLocation where;
  };
  struct Device {
    DeviceUse use;
    std::string profile;  // of a MIG instance
  };
  // What one pod used, over all its devices.
  struct Credit {
    double use = 0;
    std::int64_t samples = 0;
    double most_memory = 0;
    int most_pods = 0;  // on one of its devices at a time
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
  void credit_device(const Device& device, const std::vector<PodRecord>& pods,
                     std::vector<Credit>& credits, ImportReport& report) const;

  std::vector<Series> series_;
  std::map<std::string, Device> devices_;
  std::vector<PodName> names_;         // without containers
  std::vector<SourceLocation> first_;  // where each was met first
  std::map<PodName, std::uint32_t> numbers_;
  std::vector<std::vector<std::size_t>> records_;  // of each name, in order of arrival
  std::int64_t latest_ = 0;
};

}  // namespace slicewise::scenarios
