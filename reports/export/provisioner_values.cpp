#include "provisioner_values.hpp"

#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../document/document_text.hpp"
#include "guide.hpp"

namespace slicewise::reports {

ExportFiles provisioner_values(const scenarios::Provisioner& provisioner) {
  using nlohmann::json;
  const scenarios::Provisioner usual;
  json changed = json::object();
  const auto add = [&](const char* name, Duration scenarios::Provisioner::*field) {
    const Duration time = provisioner.*field;
    if (time != usual.*field) changed[name] = fmt::format("{}ms", time.ns / 1'000'000);
  };
  const bool is_karpenter = provisioner.kind == scenarios::Provisioner::Kind::Karpenter;
  if (is_karpenter) {
    add("batchIdleDuration", &scenarios::Provisioner::batch_idle);
    add("batchMaxDuration", &scenarios::Provisioner::batch_max);
  } else if (provisioner.kind == scenarios::Provisioner::Kind::ClusterAutoscaler) {
    add("scan-interval", &scenarios::Provisioner::scan_interval);
    add("scale-down-unneeded-time", &scenarios::Provisioner::unneeded_time);
  }
  if (changed.empty()) return {};
  const std::string path = is_karpenter ? "karpenter-values.yaml" : "autoscaler-values.yaml";
  const std::string text =
      comment("When it decides, as simulated. apply.sh leaves its release alone:") +
      commented(is_karpenter ? "  helm upgrade karpenter "
                               "oci://public.ecr.aws/karpenter/karpenter -n kube-system \\\n"
                               "    --reuse-values -f karpenter-values.yaml\n"
                             : "  helm upgrade cluster-autoscaler autoscaler/cluster-autoscaler "
                               "-n kube-system \\\n    --reuse-values -f autoscaler-values.yaml\n");
  return {{path, text + yaml_text(json{{is_karpenter ? "settings" : "extraArgs", changed}})}};
}

}  // namespace slicewise::reports
