#include "bundle_parts.hpp"

#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/filled_text.hpp"
#include "slicewise/printable.hpp"
#include "slicewise/scenarios/load.hpp"

#include "../document/document_text.hpp"
#include "embedded/script_files.hpp"
#include "guide.hpp"
#include "pod_objects.hpp"
#include "pod_owner.hpp"
#include "pod_remarks.hpp"

namespace slicewise::reports {
namespace {

using scenarios::Scenario;
using scenarios::Workload;

// "'voice' deployment 'asr'", as kubectl finds it.
std::string words_of(const Workload& workload) {
  const PodOwner owner = owner_of(workload);
  return fmt::format("{} {} {}", shell_word(workload.namespace_name), resource_word(owner),
                     shell_word(owner.name));
}

}  // namespace

std::string shell_word(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string origin_of(const ExportOptions& options) {
  const std::string& origin = options.origin;
  return origin.empty() ? "" : " " + printable(origin);
}

std::string script_title(const Scenario& scenario, const ExportOptions& options,
                         std::string_view what) {
  return comment(fmt::format("{} scenario variant {}, written by slicewise.{}", what,
                             yaml_scalar(scenario.name), origin_of(options)));
}

// Of PriorityClasses and ScaledObjects, which have to be there before the pods that name them.
std::string object_lines(const Scenario& scenario, std::string_view verb) {
  std::string out;
  for (const ExportFile& file : pod_object_files(scenario)) {
    const std::string line = fmt::format("kubectl {} -f pods/{}\n", verb, file.path);
    out +=
        file.path == kScaledObjects ? filled(script_files::with_keda_sh(), {{"line", line}}) : line;
  }
  return out;
}

std::string patch_lines(const Scenario& scenario) {
  std::string calls;
  for (const Workload& workload : scenario.workloads) {
    if (!is_patched_in_place(workload)) continue;
    calls += fmt::format("  patch_object \"$1\" {} {}\n", words_of(workload),
                         shell_word(patch_file(workload)));
  }
  return calls.empty() ? calls : filled(script_files::patch_objects_sh(), {{"calls", calls}});
}

std::vector<std::string> left_by_hand(const Scenario& scenario) {
  std::vector<std::string> out;
  for (const Workload& workload : scenario.workloads) {
    if (is_patched_in_place(workload)) continue;
    const std::vector<std::string> names = object_names(scenario, workload);
    const std::string kind = owner_of(workload).kind;
    const std::string objects =
        names.size() == 1 ? fmt::format("{} {}", kind, names.front())
                          : fmt::format("{}s {} to {}", kind, names.front(), names.back());
    out.push_back(printable(fmt::format("{} in namespace {}, see pods/{}", objects,
                                        workload.namespace_name, patch_file(workload))));
  }
  return out;
}

// After all else: what is patched, and what is left to people.
std::string pod_steps(const Scenario& scenario, bool waits) {
  const std::vector<std::string> left = left_by_hand(scenario);
  const bool patches = left.size() < scenario.workloads.size();
  const std::string out = patches ? "\npatch_objects none\n" : "";
  std::string by_hand;
  for (const std::string& one : left) {
    by_hand += fmt::format("echo {} >&2\n", shell_word("by hand: " + one));
  }
  for (const Workload& workload : scenario.workloads) {
    const std::string remark = quota_remark(scenario, workload);
    if (!remark.empty()) by_hand += fmt::format("echo {} >&2\n", shell_word(remark));
  }
  if (patches && waits) by_hand += script_files::wait_for_rollouts_sh();
  return out + by_hand;
}

std::string undo_lines(const Scenario& scenario) {
  std::string calls;
  for (const Workload& workload : scenario.workloads) {
    if (is_patched_in_place(workload))
      calls += fmt::format("undo_rollout {}\n", words_of(workload));
  }
  return calls.empty() ? calls : filled(script_files::undo_objects_sh(), {{"calls", calls}});
}

std::string type_checks(const std::vector<PoolTarget>& targets) {
  std::string calls;
  for (const PoolTarget& target : targets) {
    // A NodePool may have several, and may be given another.
    if (is_of_node_pool(*target.pool)) continue;
    calls += fmt::format("check_type {} {}\n", shell_word(label_of_nodes(*target.pool)),
                         shell_word(target.instance->name));
  }
  return calls.empty() ? calls : filled(script_files::check_types_sh(), {{"calls", calls}});
}

std::string node_checks(const Scenario& scenario, const std::vector<PoolNodes>& nodes,
                        std::string_view help) {
  if (patch_lines(scenario).empty()) return {};
  std::set<std::string> calls;
  for (const PoolNodes& one : nodes) {
    const scenarios::NodePool& pool = *one.target.pool;
    // An autoscaler may have taken all nodes of a group away.
    if (!is_of_node_pool(pool) && pool.nodes == 0) continue;
    std::string call = "check_nodes " + shell_word(label_of_nodes(pool));
    for (const auto& [key, value] : node_labels(one)) {
      if (key != kConfigLabel && key != scenarios::kPoolLabel) continue;
      call += " " + shell_word(fmt::format("{}={}", key, value));
    }
    calls.insert(call + "\n");
  }
  return calls.empty()
             ? std::string()
             : filled(script_files::check_nodes_sh(),
                      {{"help", help}, {"calls", fmt::format("{}", fmt::join(calls, ""))}});
}

std::string pod_lines(const Scenario& scenario) {
  std::string out;
  for (const Workload& workload : scenario.workloads) {
    const std::string& space = workload.namespace_name;
    if (workload.autoscaling) {
      out +=
          fmt::format("    kubectl -n {} get {}   # MIN {}, MAX {}\n", space, scaler_of(workload),
                      workload.autoscaling->min_replicas, workload.autoscaling->max_replicas);
    } else if (!workload.manifest.scaled_by.empty()) {
      out += fmt::format("    kubectl -n {} get {}   # REPLICAS {} in the scenario\n", space,
                         workload.manifest.scaled_by, workload.count);
    } else if (is_patched_in_place(workload)) {
      const PodOwner owner = owner_of(workload);
      out += fmt::format("    kubectl -n {} get {} {}     # READY {}/{}\n", space,
                         resource_word(owner), owner.name, workload.count, workload.count);
    } else if (workload.schedule) {
      out += fmt::format("    kubectl -n {} get cronjob {}     # SCHEDULE {}\n", space,
                         owner_of(workload).name, workload.schedule->cron.text);
    } else {
      out += fmt::format("    kubectl -n {} get pods              # {} of {}\n", space,
                         workload.pods_at_once(), workload.name.value);
    }
  }
  for (const Workload& workload : scenario.workloads) {
    const std::string remark = quota_remark(scenario, workload);
    if (!remark.empty()) out += "\n" + remark + "\n";
  }
  return out;
}

std::string checksums(const ExportFiles& files) {
  std::string out;
  for (const ExportFile& file : files) {
    out += fmt::format("{}  {}\n", scenarios::sha256_hex(file.text), file.path);
  }
  return out;
}

}  // namespace slicewise::reports
