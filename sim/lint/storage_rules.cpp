#include <algorithm>

#include <fmt/format.h>

#include "lint_rules.hpp"

// Disks of nodes, and volumes that one node at a time can mount.
namespace slicewise::sim::lint {
namespace {

using scenarios::PodFile;

// The largest disk of the nodes that the pod may get; nullopt: of some nobody says it.
std::optional<Bytes> largest_disk(const LintInput& input, const PodFile& pod) {
  if (!scenarios::asks_for_gpu(pod)) return std::nullopt;
  if (may_be_among_others(pod, input.files, input.catalogue, input.offers)) return std::nullopt;
  std::optional<Bytes> largest;
  for (const NodeOffer& offer : input.offers) {
    if (offer.group == nullptr) return std::nullopt;
    if (!may_run_on(pod, offer)) continue;
    if (!offer.group->disk) return std::nullopt;
    largest = std::max(largest.value_or(Bytes{}), *offer.group->disk);
  }
  return largest;
}

void judge_disk(const LintInput& input, const PodFile& pod) {
  if (pod.disk.amount <= 0) return;
  const auto largest = largest_disk(input, pod);
  if (!largest || pod.disk.amount <= largest->count) return;
  input.tell(Code::PodTooLarge, pod.disk.where,
             fmt::format("Pending for ever: Insufficient ephemeral-storage: {:.0f} GiB are asked "
                         "for, the volumes of these nodes have {:.0f}",
                         in_gibibytes(Bytes{pod.disk.amount}), in_gibibytes(*largest)),
             "a larger volumeSize of the nodes, or a volume of its own");
}

// Source: kubernetes.io/docs/concepts/storage/persistent-volumes, "Access Modes".
void judge_volumes(const LintInput& input, const PodFile& pod) {
  if (pod.copies < 2 || !are_apart(pod, pod)) return;
  for (const Located<std::string>& volume : pod.volumes) {
    const std::pair<std::string, std::string> name{scenarios::namespace_of(pod.space),
                                                   volume.value};
    if (!input.files.volumes_of_one_node.contains(name)) continue;
    input.tell_as(
        Severity::Warning, Code::PodPending, volume.where,
        fmt::format("one of the {} pods of {} {} starts: they are kept to different "
                    "nodes, and one node at a time mounts {} (ReadWriteOnce)",
                    pod.copies, pod.kind, pod.name.substr(0, 60), volume.value.substr(0, 60)),
        "a volume of many nodes (ReadWriteMany, as EFS has them), or a StatefulSet with "
        "volumeClaimTemplates");
  }
}

}  // namespace

void lint_storage(const LintInput& input) {
  for (const PodFile& pod : input.files.pods) {
    if (pod.is_system || pod.has_ended) continue;
    judge_disk(input, pod);
    judge_volumes(input, pod);
  }
}

}  // namespace slicewise::sim::lint
