#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

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

}  // namespace slicewise::scenarios
