#include "pod_owner.hpp"

#include <algorithm>

#include "slicewise/nearest_name.hpp"

namespace slicewise::reports {
namespace {

using scenarios::WorkloadKind;

struct OwnKind {
  std::string_view kind;
  std::string_view api_version;
  bool rolls_out = false;
};
constexpr OwnKind kOwnKinds[] = {
    {"Deployment", "apps/v1", true},
    {"StatefulSet", "apps/v1", true},
    {"DaemonSet", "apps/v1", true},
    {"ReplicaSet", "apps/v1"},
    {"Job", "batch/v1"},
    {"CronJob", "batch/v1"},
};

// Of a Notebook every user has one, made when the user starts it.
std::string_view usual_kind(const scenarios::Workload& workload) {
  switch (workload.kind) {
    case WorkloadKind::Job:
      return workload.schedule ? "CronJob" : "Job";
    case WorkloadKind::Notebook:
      return "StatefulSet";
    case WorkloadKind::Deployment:
    case WorkloadKind::Service:
      break;
  }
  return "Deployment";
}

}  // namespace

PodOwner owner_of(const scenarios::Workload& workload) {
  const scenarios::Manifest& manifest = workload.manifest;
  PodOwner owner;
  owner.kind = manifest.kind.empty() ? std::string(usual_kind(workload)) : manifest.kind;
  owner.name = manifest.name.empty() ? workload.name.value : manifest.name;
  const auto* own = std::ranges::find(kOwnKinds, owner.kind, &OwnKind::kind);
  const bool is_one_run = owner.kind == "CronJob" && !workload.schedule;  // its template unknown
  if (own == std::ranges::end(kOwnKinds) || is_one_run) return owner;
  owner.api_version = own->api_version;
  owner.rolls_out = own->rolls_out;
  return owner;
}

std::string resource_word(const PodOwner& owner) { return lower_case(owner.kind); }

bool is_patched_in_place(const scenarios::Workload& workload) {
  const bool is_kept_up =
      workload.kind == WorkloadKind::Deployment || workload.kind == WorkloadKind::Service;
  return is_kept_up && owner_of(workload).rolls_out;
}

}  // namespace slicewise::reports
