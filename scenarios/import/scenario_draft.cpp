#include "scenario_draft.hpp"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/lookup.hpp"
#include "slicewise/scenarios/cron.hpp"
#include "slicewise/scenarios/quantity.hpp"

#include "../blocks/blocks.hpp"
#include "../fields/bind.hpp"
#include "../text/flow_text.hpp"
#include "../text/kubernetes_names.hpp"
#include "draft_lines.hpp"

namespace slicewise::scenarios {
namespace {

constexpr std::int64_t kMostPods = 1'000'000;
constexpr std::string_view kKindNames[] = {"Job", "Deployment", "Service", "Notebook"};

// Of a block, but for those that have their default.
std::string changed_fields(const FieldList& fields, const void* block) {
  std::string text;
  for (const auto& [name, value] : shown_entries(fields, block)) {
    if (value == fields.find(name)->default_text()) continue;
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", name, value);
  }
  return text;
}

// No more than it is: a patch that asks for more than the manifest's limit is refused.
std::string memory_text(std::int64_t bytes) {
  constexpr std::int64_t kMebibyte = 1'048'576;
  constexpr std::int64_t kMegabyte = 1'000'000;
  if (bytes % kMebibyte == 0) return fmt::format("{}Mi", bytes / kMebibyte);
  if (bytes % kMegabyte == 0) return fmt::format("{}M", bytes / kMegabyte);
  return fmt::format("{}Ki", bytes / 1024);
}

class Writer {
 public:
  explicit Writer(const ScenarioDraft& draft) : draft_(draft) {}

  ScenarioText write() {
    line(
        fmt::format("# Made by `slicewise {}`. TODO marks what the source does not say: the values "
                    "there are Assumed.",
                    draft_.made_by));
    line("apiVersion: slicewise.dev/v1alpha1");
    line("kind: Scenario");
    line(fmt::format("metadata: {{name: {}}}", scalar_text(draft_.name)));
    line("spec:");
    if (draft_.region.empty()) {
      lines_.todo("  region: us-east-1", "Assumed: whose prices count", "region", "prices");
    } else {
      line(fmt::format("  region: {}", in_quotes(draft_.region)));
    }
    line(duration());
    if (draft_.provisioner) {
      line(
          fmt::format("  provisioner: {{{}}}", changed_fields(kProvisioner, &*draft_.provisioner)));
    }
    if (const std::string software = changed_fields(kGpuSoftware, &draft_.software);
        !software.empty()) {
      line(fmt::format("  gpuSoftware: {{{}}}", software));
    }
    line("  nodePools:");
    for (const DraftPool& pool : draft_.pools) write_pool(pool);
    if (!draft_.claims.empty()) line("  resourceClaims:");
    for (const ResourceClaim& claim : draft_.claims) write_claim(claim);
    write_queues();
    line("  workloads:");
    for (const DraftWorkload& workload : draft_.workloads) write_workload(workload);
    return lines_.take();
  }

 private:
  // People and schedules of pods go by the clock: a working day shows them, half an hour of the
  // night does not.
  std::string duration() const {
    const auto has = [&](DraftWorkload::Kind kind) {
      return std::ranges::find(draft_.workloads, kind, &DraftWorkload::kind) !=
             draft_.workloads.end();
    };
    using Kind = DraftWorkload::Kind;
    if (const int days = days_of_crons(); days > 0) {
      return fmt::format("  startsAt: Mon 00:00\n  duration: {}d", days);
    }
    const bool is_scheduled = std::ranges::any_of(draft_.workloads, [](const DraftWorkload& w) {
      return w.scaling && !w.scaling->windows.empty();
    });
    if (has(Kind::Notebook) || is_scheduled) return "  startsAt: Mon 00:00\n  duration: 1d";
    return has(Kind::Service) || has(Kind::Deployment) ? "  duration: 30m" : "  until: AllJobsDone";
  }

  // In which each CronJob is due; 0: there is none.
  int days_of_crons() const {
    int longest = 0;
    for (const DraftWorkload& workload : draft_.workloads) {
      if (!workload.cron) continue;
      longest = std::max(longest, 1);
      if (workload.cron->suspend) continue;
      const Duration from = time_zone(workload.cron->time_zone).value_or(TimeZone{}).offset;
      for (const int days : {1, 7, 31, 365}) {
        longest = std::max(longest, days);
        const auto due =
            cron_times(*parse_cron(workload.cron->schedule), from, from + hours(24) * days, 1);
        if (!due.empty()) break;
      }
    }
    return longest;
  }

  static std::string nodes_text(const DraftPool& pool) {
    constexpr std::int64_t kMost = 10'000;
    if (!pool.most_nodes) {
      return fmt::format("    nodes: {}", std::clamp<std::int64_t>(pool.nodes, 1, kMost));
    }
    const std::int64_t most = std::clamp<std::int64_t>(*pool.most_nodes, 1, kMost);
    return fmt::format("    nodes: {{min: {}, max: {}}}",
                       std::clamp<std::int64_t>(pool.nodes, 0, most), most);
  }

  void write_pool(const DraftPool& pool) {
    line(fmt::format("  - name: {}", scalar_text(pool.name)));
    const std::string type = fmt::format("    instanceType: {}", in_quotes(pool.instance_type));
    pool.type_is_assumed ? lines_.todo(type, "Assumed", "instanceType", pool.name) : line(type);
    // What may be started in a cluster that is there, and is not, is nothing of today's.
    const bool is_there = !draft_.has_all_nodes || !pool.is_in_files || pool.nodes > 0;
    if (pool.type_is_assumed && is_there) lines_.assumed_pool(pool.name);
    const std::string nodes = nodes_text(pool);
    pool.nodes_are_assumed
        ? lines_.todo(nodes, "Assumed: enough GPUs for the pods", "nodes", pool.name)
        : line(nodes);
    if (pool.weight > 0) {
      line(fmt::format("    weight: {}", std::min<std::int64_t>(pool.weight, 100)));
    }
    const auto write = [&](const std::string& name, const auto& value) {
      if (value) line(fmt::format("    {}: {}", name, shown_member(*kNodePool.find(name), *value)));
    };
    write("consolidationPolicy", pool.consolidation);
    write("consolidateAfter", pool.consolidate_after);
    write("expireAfter", pool.expire_after);
    if (!pool.capacity_type.empty()) line(fmt::format("    capacityType: {}", pool.capacity_type));
    if (pool.falls_back) line("    spot: {fallback: on-demand}");
    write_labels("    labels", pool.labels);
    if (!pool.taints.empty()) {
      line("    taints: " + shown_member(*kNodePool.find("taints"), pool.taints));
    }
    if (!pool.daemon_sets.empty()) {
      line("    daemonSets: " + shown_member(*kNodePool.find("daemonSets"), pool.daemon_sets));
    }
    const Allocatable& own = pool.allocatable;
    if (own.is_told()) {
      line("    allocatable: " + shown_member(*kNodePool.find("allocatable"), own));
    }
    const std::vector<std::string> sharing = pool.sharing.entries();
    for (const std::string& entry : sharing) {
      const bool is_todo = pool.sharing_is_assumed && &entry == &sharing.back();
      is_todo ? lines_.todo("    " + entry, "Assumed", "sharing", pool.name) : line("    " + entry);
    }
  }

  void write_claim(const ResourceClaim& claim) {
    line(fmt::format("  - name: {}", scalar_text(claim.name.value)));
    if (claim.is_template) line("    kind: ResourceClaimTemplate");
    if (claim.count > 1) line(fmt::format("    count: {}", claim.count));
    if (!claim.selectors.empty()) line("    selectors:");
    for (const Located<std::string>& selector : claim.selectors) {
      line("    - " + in_quotes(selector.value));
    }
    if (claim.sharing) line("    sharing: " + sharing_text(*claim.sharing));
  }

  void write_queues() {
    if (!draft_.flavors.empty()) line("  resourceFlavors:");
    for (const ResourceFlavor& flavor : draft_.flavors) {
      line(fmt::format("  - {{{}}}", changed_fields(kResourceFlavor, &flavor)));
    }
    if (!draft_.cluster_queues.empty()) line("  clusterQueues:");
    for (const ClusterQueue& queue : draft_.cluster_queues) {
      line(fmt::format("  - {{{}}}", changed_fields(kClusterQueue, &queue)));
    }
    if (!draft_.kai_queues.empty()) line("  kaiQueues:");
    for (const KaiQueue& queue : draft_.kai_queues) {
      line(fmt::format("  - {{{}}}", changed_fields(kKaiQueue, &queue)));
    }
  }

  static std::string sharing_text(const ClaimSharing& sharing) {
    constexpr std::array<std::string_view, 4> kIntervals = {"Default", "Short", "Medium", "Long"};
    if (sharing.strategy == ClaimSharing::Strategy::TimeSlicing) {
      return fmt::format("{{strategy: TimeSlicing, timeSlicingConfig: {{interval: {}}}}}",
                         kIntervals[static_cast<std::size_t>(sharing.interval)]);
    }
    std::string settings;
    if (sharing.active_threads) {
      settings = fmt::format("defaultActiveThreadPercentage: {}", *sharing.active_threads);
    }
    if (sharing.memory_limit) {
      settings += fmt::format("{}defaultPinnedDeviceMemoryLimit: {}Mi",
                              settings.empty() ? "" : ", ", sharing.memory_limit->count >> 20);
    }
    return fmt::format("{{strategy: MPS, mpsConfig: {{{}}}}}", settings);
  }

  void write_labels(const std::string& key, const DraftLabels& labels) {
    const std::map<std::string, std::string> sorted(labels.begin(), labels.end());
    if (!sorted.empty()) line(key + ": " + shown_value(*kNodePool.find("labels"), sorted));
  }

  void write_workload(const DraftWorkload& w) {
    line(fmt::format("  - name: {}", scalar_text(w.name)) +
         (w.comment.empty() ? "" : "  # " + w.comment));
    if (!w.space.empty()) line(fmt::format("    namespace: {}", scalar_text(w.space)));
    line(fmt::format("    kind: {}", kKindNames[static_cast<std::size_t>(w.kind)]));
    if (w.kind == DraftWorkload::Kind::Job) {
      write_jobs(w);
    } else if (w.kind != DraftWorkload::Kind::Notebook &&
               (!w.scaling || w.scaling->windows.empty())) {
      line(fmt::format("    replicas: {}", std::clamp<std::int64_t>(w.pods, 0, kMostPods)));
    }
    if (w.scaling) write_scaling(*w.scaling);
    if (w.priority != 0) line(fmt::format("    priority: {}", w.priority));
    if (w.never_preempts) line("    preemptionPolicy: Never");
    // No file says which devices the driver of its nodes publishes: the run finds out who meets a
    // claim.
    const bool may_be_unmet =
        !w.claim.empty() && std::ranges::any_of(draft_.pools, &DraftPool::is_in_files);
    if (w.stays_pending || may_be_unmet) line("    mayStayPending: true");
    if (w.backoff_limit) line(fmt::format("    backoffLimit: {}", *w.backoff_limit));
    if (w.ignores_disruptions) line("    ignoreDisruptions: true");
    if (!w.restart_policy.empty()) line(fmt::format("    restartPolicy: {}", w.restart_policy));
    if (!w.starts_on.empty()) line("    startsOn:");
    for (const StartPlace& place : w.starts_on) {
      line(fmt::format("    - {{pool: {}, node: {}, pods: {}}}", scalar_text(place.pool.value),
                       place.node, place.pods));
    }
    write_pod(w);
    write_budget(w);
    write_manifest(w);
    constexpr std::int64_t kMilli = 1'000'000;
    if (w.startup && w.startup->ns >= kMilli) {
      line(fmt::format(
          "    startup: {{imagePull: {}ms}}  # from node to container, mean of the pods seen",
          w.startup->ns / kMilli));
    }
    w.uses_gpu ? write_figures(w, lines_) : line("    processesPerPod: 0");
  }

  void write_jobs(const DraftWorkload& w) {
    constexpr std::int64_t kMostOfGang = 1'000;
    const bool is_gang = !w.gang.empty() && w.pods > 1;
    line(
        fmt::format("    count: {}", is_gang ? 1 : std::clamp<std::int64_t>(w.pods, 0, kMostPods)));
    if (is_gang) line(fmt::format("    podsPerJob: {}", std::min(w.pods, kMostOfGang)));
    if (w.parallelism) line(fmt::format("    parallelism: {}", *w.parallelism));
    if (!w.queue.empty()) line("    queue: " + scalar_text(w.queue));
    if (!w.part_of.empty()) line("    partOf: " + scalar_text(w.part_of));
    if (w.min_parallelism) {
      line(fmt::format("    minParallelism: {}", std::min(*w.min_parallelism, kMostPods)));
    }
    write_dependencies(w);
    if (w.cron) write_schedule(*w.cron);
  }

  // Steps of the object that are workloads here, which the import has said of others.
  void write_dependencies(const DraftWorkload& w) {
    std::string text;
    for (const StartDependency& wanted : w.starts_after) {
      const DraftWorkload* other = step_of(draft_, w, wanted.name.value);
      if (other == nullptr) continue;
      const bool is_complete = wanted.status == StartDependency::Status::Complete;
      text += fmt::format("{}{{name: {}, status: {}}}", text.empty() ? "" : ", ",
                          scalar_text(other->name), is_complete ? "Complete" : "Ready");
    }
    if (!text.empty()) line(fmt::format("    dependsOn: [{}]", text));
  }

  void write_schedule(const CronFile& cron) {
    std::string text = fmt::format("    schedule: {{cron: {}", in_quotes(cron.schedule));
    if (!cron.time_zone.empty() && time_zone(cron.time_zone)) {
      text += fmt::format(", timeZone: {}", in_quotes(cron.time_zone));
    }
    if (cron.policy == "Forbid" || cron.policy == "Replace") {
      text += fmt::format(", concurrencyPolicy: {}", cron.policy);
    }
    if (cron.suspend) text += ", suspend: true";
    const std::string deadline = cron.deadline_seconds + "s";
    if (parse_duration(deadline)) text += fmt::format(", startingDeadline: {}", deadline);
    line(text + "}");
  }

  void write_scaling(const ScalingFile& scaling) {
    std::string text =
        fmt::format("    autoscaling: {{min: {}, max: {}", scaling.fewest, scaling.most);
    if (!scaling.metric.empty()) {
      text += fmt::format(", metric: {}, target: {}", scaling.metric, scaling.target);
    }
    for (const auto& [key, value] : {std::pair("syncPeriod", &scaling.every),
                                     std::pair("scaleDownWindow", &scaling.down_window),
                                     std::pair("scaleUpWindow", &scaling.up_window),
                                     std::pair("cooldown", &scaling.cooldown)}) {
      if (!value->empty()) text += fmt::format(", {}: {}", key, *value);
    }
    if (scaling.windows.empty()) return line(text + "}");
    line(text + ",");
    line("      schedule: [");
    for (ReplicaWindow window : scaling.windows) {
      window.replicas = static_cast<int>(std::min<std::int64_t>(window.replicas, scaling.most));
      line(fmt::format("        {},", window_text(window)));
    }
    line("      ]}");
  }

  void write_pod(const DraftWorkload& w) {
    std::string requests;
    if (w.cpu_milli > 0) requests = fmt::format("cpu: {}m", w.cpu_milli);
    if (w.memory_bytes > 0) {
      requests +=
          fmt::format("{}memory: {}", requests.empty() ? "" : ", ", memory_text(w.memory_bytes));
    }
    std::string limits;
    if (w.cpu_limit_milli > 0) limits = fmt::format("cpu: {}m", w.cpu_limit_milli);
    if (w.uses_gpu && w.claim.empty() && !w.asks_kai) {
      limits += fmt::format("{}{}: {}", limits.empty() ? "" : ", ", w.resource, w.gpus);
    }
    for (const auto& [name, amount] : w.parts) limits += fmt::format(", {}: {}", name, amount);
    line("    podTemplate:");
    line(fmt::format("      resources: {{requests: {{{}}}, limits: {{{}}}}}", requests, limits));
    PodTemplate pod;
    pod.claim.value = w.claim;
    pod.tolerations = w.tolerations;
    pod.node_selector = {w.node_selector.begin(), w.node_selector.end()};
    pod.node_affinity = w.node_affinity;
    pod.pod_affinity = w.pod_affinity;
    pod.anti_affinity = w.anti_affinity;
    pod.host_ports = w.host_ports;
    if (!pod.node_selector.contains(std::string(kArchitectureLabel))) {
      pod.image_architectures = w.architectures;
    }
    pod.preferences = w.preferences;
    pod.labels = {w.labels.begin(), w.labels.end()};
    pod.annotations = {w.annotations.begin(), w.annotations.end()};
    for (const auto& [name, value] : shown_entries(kPodTemplate, &pod)) {
      line(fmt::format("      {}: {}", name, value));
    }
    write_labels("      env", w.environment);
  }

  void write_budget(const DraftWorkload& w) {
    if (!w.budget) return;
    // Named like the workload, too: exports take one without a name for a new one.
    const std::string& name = w.budget->name;
    line(fmt::format("    disruptionBudget: {{{}{}: {}{}}}",
                     is_subdomain(name) ? fmt::format("name: {}, ", in_quotes(name)) : "",
                     w.budget->keeps ? "minAvailable" : "maxUnavailable", w.budget->value,
                     w.budget->is_percent ? "%" : ""));
  }

  // What exports would not guess from the workload.
  void write_manifest(const DraftWorkload& w) {
    constexpr std::string_view kMakers[] = {"Job", "Deployment", "Deployment", "StatefulSet"};
    std::string text;
    const auto add = [&](std::string_view key, const std::string& value) {
      text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", key, value);
    };
    std::string kind = w.object_kind;
    if (!w.object_group.empty()) kind += fmt::format(".{}", w.object_group);
    if (is_kind(kind) && kind != kMakers[static_cast<std::size_t>(w.kind)]) {
      add("kind", in_quotes(kind));
    }
    if (is_subdomain(w.object_name) && w.object_name != w.name)
      add("name", in_quotes(w.object_name));
    std::vector<std::string> containers;
    if (std::ranges::all_of(w.containers, is_dns_label)) {
      for (const std::string& name : w.containers) containers.push_back(in_quotes(name));
    }
    if (!containers.empty()) add("containers", fmt::format("[{}]", fmt::join(containers, ", ")));
    if (!w.scaled_by.empty()) add("scaledBy", in_quotes(w.scaled_by));
    if (!text.empty()) line(fmt::format("    manifest: {{{}}}", text));
  }

  void line(const std::string& text) { lines_.add(text); }

  const ScenarioDraft& draft_;
  DraftLines lines_;
};

}  // namespace

const DraftWorkload* step_of(const ScenarioDraft& draft, const DraftWorkload& of,
                             std::string_view step) {
  return find_if_or_null(draft.workloads, [&](const DraftWorkload& other) {
    return other.step == step && other.object_kind == of.object_kind &&
           other.object_name == of.object_name && other.space == of.space;
  });
}

ScenarioText written(const ScenarioDraft& draft) { return Writer(draft).write(); }

}  // namespace slicewise::scenarios
