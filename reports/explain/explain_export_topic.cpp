#include "explain_export_topic.hpp"

#include <fmt/format.h>

#include "slicewise/reports/export/kinds.hpp"

namespace slicewise::reports {
namespace {

std::string_view applies_word(Applies applies) { return applies == Applies::Yes ? "yes" : "-"; }

constexpr const char* kWhoseNodes = R"(
AL2023 is the EKS image (and Ubuntu alike) in managed and self-managed node groups: its NVIDIA variant has driver and container toolkit, and you install the device plugin. Bottlerocket NVIDIA variants bring their own device plugin and take its settings from user data. EKS Auto Mode brings its own as well, and nobody can configure it: it cannot share GPUs. eksctl installs a plugin of its own, without sharing, unless --install-nvidia-plugin=false. One device plugin per node, whoever brings it.
A kind that cannot say what the scenario says writes nothing: slicewise explain EXPORT_UNFIT. What a file cannot hold because Kubernetes has no place for it (traffic, measured figures, objectives) stays in the scenario.)";

}  // namespace

std::string export_topic() {
  std::string text = fmt::format("\n  {:<13} {:<6}  {:<9}  {:<12}  {:<9}  {}", "--to", "AL2023",
                                 "KARPENTER", "BOTTLEROCKET", "AUTO MODE", "WHAT");
  for (const ExportKind& kind : kExportKinds) {
    if (kind.shows_run) continue;
    text += fmt::format("\n  {:<13} {:<6}  {:<9}  {:<12}  {:<9}  {}", kind.name,
                        applies_word(kind.al2023), applies_word(kind.karpenter),
                        applies_word(kind.bottlerocket), applies_word(kind.auto_mode), kind.what);
  }
  text += "\nThese show a simulated run and change no cluster:";
  for (const ExportKind& kind : kExportKinds) {
    if (kind.shows_run) text += fmt::format("\n  {:<13} {}", kind.name, kind.what);
  }
  for (const ExportKind& kind : kExportKinds) {
    text += fmt::format("\n{}: {}.", kind.name, kind.remark);
  }
  return text + kWhoseNodes +
         "\nSources: "
         "https://docs.aws.amazon.com/eks/latest/userguide/automode-learn-instances.html ; "
         "https://bottlerocket.dev/en/os/1.54.x/api/settings/kubelet-device-plugins/ ; "
         "https://github.com/eksctl-io/eksctl/blob/main/pkg/eks/tasks.go ; "
         "https://github.com/awslabs/amazon-eks-ami";
}

}  // namespace slicewise::reports
