#include "node_clocks.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "slicewise/scenarios/quantity.hpp"

namespace slicewise::scenarios {
namespace {

// Sources: aws/karpenter-provider-aws, charts/karpenter/values.yaml and the options of
// sigs.k8s.io/karpenter, pkg/operator/options; kubernetes/autoscaler, cluster-autoscaler/FAQ.md.
struct Clock {
  Provisioner::Kind kind;
  std::string_view value;  // of the chart
  std::string_view variable;
  std::string_view flag;
  Duration Provisioner::*field;
};
constexpr Clock kClocks[] = {
    {Provisioner::Kind::Karpenter, "batchIdleDuration", "BATCH_IDLE_DURATION",
     "--batch-idle-duration=", &Provisioner::batch_idle},
    {Provisioner::Kind::Karpenter, "batchMaxDuration", "BATCH_MAX_DURATION",
     "--batch-max-duration=", &Provisioner::batch_max},
    {Provisioner::Kind::ClusterAutoscaler, "scan-interval", "",
     "--scan-interval=", &Provisioner::scan_interval},
    {Provisioner::Kind::ClusterAutoscaler, "scale-down-unneeded-time", "",
     "--scale-down-unneeded-time=", &Provisioner::unneeded_time},
};

// The one who starts nodes, not anybody's flag of that name.
bool is_of(const PodFile& pod, const ContainerFile& container, Provisioner::Kind kind) {
  const std::string_view word =
      kind == Provisioner::Kind::Karpenter ? "karpenter" : "cluster-autoscaler";
  return std::ranges::any_of(std::array{pod.name, container.image, container.command},
                             [&](const std::string& text) { return text.find(word) != text.npos; });
}

// Of its command; "" it is not there.
std::string_view flag_of(const ContainerFile& container, std::string_view flag) {
  const std::string_view command = container.command;
  const std::size_t at = command.find(flag);
  if (at == command.npos) return {};
  const std::string_view rest = command.substr(at + flag.size());
  return rest.substr(0, rest.find(' '));
}

}  // namespace

void take_clocks(const ClusterFiles& cluster, Provisioner& provisioner) {
  for (const Clock& clock : kClocks) {
    if (clock.kind != provisioner.kind) continue;
    const auto take = [&](std::string_view text) {
      const auto time = parse_duration(text);
      if (time && time->ns > 0) provisioner.*clock.field = *time;
    };
    for (const KeyValue& value : cluster.node_clocks) {
      if (value.key == clock.value) take(value.value);
    }
    for (const PodFile& pod : cluster.pods) {
      for (const ContainerFile& container : pod.containers) {
        if (!is_of(pod, container, clock.kind)) continue;
        for (const KeyValue& variable : container.env) {
          if (variable.key == clock.variable) take(variable.value);
        }
        take(flag_of(container, clock.flag));
      }
    }
  }
  // The batch ends by then.
  provisioner.batch_idle = std::min(provisioner.batch_idle, provisioner.batch_max);
}

}  // namespace slicewise::scenarios
