#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "slicewise/nearest_name.hpp"

#include "blocks.hpp"

// Several workloads that are one object of the cluster, as the ReplicatedJobs of a JobSet are.
namespace slicewise::scenarios {
namespace {

// What a second part has otherwise than the first; "" nothing that an object has once.
std::string_view difference(const Workload& first, const Workload& part) {
  if (first.schedule || part.schedule) return "schedule";
  if (first.min_parallelism || part.min_parallelism) return "minParallelism";
  if (first.queue.value != part.queue.value) return "queue";
  if (first.priority != part.priority) return "priority";
  if (first.submit_at != part.submit_at) return "submitAt";
  return "";
}

void check_part(const Workload& first, const Workload& part, Findings& findings) {
  const std::string_view what = difference(first, part);
  if (what.empty()) return;
  const bool is_of_one = what == "schedule" || what == "minParallelism";
  findings.add(Code::SettingConflict, part.part_of.where,
               is_of_one
                   ? fmt::format("{} of an object with several parts", what)
                   : fmt::format("parts of \"{}\" with different {}", part.part_of.value, what),
               is_of_one ? "Kubernetes has it of objects with one kind of pods"
                         : "an object has one: write the same for all of its parts",
               fmt::format("the first part is \"{}\"", first.name.value));
}

// REQUIRES: the workloads before it are those above it.
void check_start(const Scenario& scenario, const Workload& workload, Findings& findings) {
  for (const StartDependency& wanted : workload.depends_on) {
    if (wanted.name.value.empty()) continue;  // its field is missing, which is told
    std::vector<std::string> above;
    for (const Workload& other : scenario.workloads) {
      if (&other == &workload) break;
      if (other.kind == WorkloadKind::Job && !other.trace && !other.schedule) {
        above.push_back(other.name.value);
      }
    }
    if (std::ranges::find(above, wanted.name.value) != above.end()) continue;
    const auto near = nearest_name(wanted.name.value, above);
    findings.add(
        Code::SettingConflict, wanted.name.where,
        fmt::format("no Job above \"{}\" is called \"{}\"", workload.name.value, wanted.name.value),
        near ? fmt::format("did you mean {}?", *near)
             : "it waits for a workload of kind Job, without a schedule, that stands above it");
  }
}

}  // namespace

void check_parts(const Scenario& scenario, Findings& findings) {
  std::map<std::pair<std::string, std::string>, const Workload*> first_of;
  for (const Workload& workload : scenario.workloads) {
    check_start(scenario, workload, findings);
    if (workload.part_of.value.empty()) continue;
    const auto key = std::pair(workload.namespace_name, workload.part_of.value);
    const auto [first, is_new] = first_of.emplace(key, &workload);
    if (!is_new) check_part(*first->second, workload, findings);
  }
}

}  // namespace slicewise::scenarios
