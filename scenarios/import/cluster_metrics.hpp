#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "pod_record.hpp"
#include "prometheus_answer.hpp"

namespace slicewise::scenarios {

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
    std::int64_t last_seen = 0;
  };
  struct Node {
    std::string instance_type;
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

}  // namespace slicewise::scenarios
