#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "slicewise/scenarios/gpu_resource.hpp"
#include "slicewise/scenarios/kai_part.hpp"
#include "slicewise/scenarios/quantity.hpp"

#include "../text/scalars.hpp"
#include "manifest_reader.hpp"
#include "pod_sets.hpp"
#include "pod_spec.hpp"

// The pods of an object, and what is wrong with a pod wherever it runs.
namespace slicewise::scenarios::manifests {
namespace {

bool is_gpu_software(std::string_view image) {
  constexpr std::array<std::string_view, 8> kImages = {
      kPluginImage,   "dcgm",           "gpu-feature-discovery", "node-feature-discovery",
      "gpu-operator", kMigManagerImage, "k8s-driver-manager",    "container-toolkit"};
  return std::ranges::any_of(kImages,
                             [&](std::string_view part) { return image.find(part) != image.npos; });
}

using Asked = AskedAmount<const Node*>;

class PodFileReader {
 public:
  PodFileReader(Context& context, const Node& object, PodFile pod)
      : context_(context), object_(object), pod_(std::move(pod)) {}

  void read(const PodSet& set, const Node& pods) {
    const Node* owner_meta = object_.find("metadata");
    const Node* spec = set.is_bare_spec ? &pods : pods.find("spec");
    const Node* meta = set.is_bare_spec ? &pods : pods.find("metadata");
    pod_.object_annotations = pairs_of(node_below(owner_meta, {"annotations"}));
    pod_.annotations = pairs_of(node_below(meta, {"annotations"}));
    pod_.labels = pairs_of(node_below(meta, {"labels"}));
    pod_.space = text_below(owner_meta, {"namespace"});
    // Kueue looks at the Jobs that a CronJob makes, not at the CronJob.
    const Node* job =
        pod_.kind == "CronJob" ? node_below(&object_, {"spec", "jobTemplate"}) : &object_;
    pod_.queue = located_below(job, {"metadata", "labels", "kueue.x-k8s.io/queue-name"});
    read_state();
    if (!is_map(spec)) return;
    read_containers(node_below(spec, {"initContainers"}), true);
    read_containers(node_below(spec, {"containers"}), false);
    for (const std::string_view key : set.containers) {
      const Node* one = key.empty() ? spec : spec->find(key);
      if (is_map(one)) read_container(*one, false, set.resources);
    }
    if (const Node* own = spec->find("resources"); is_map(own) && !set.is_bare_spec) {
      take_pod_resources(*own);
    }
    if (const Node* overhead = spec->find("overhead"); is_map(overhead)) add_overhead(*overhead);
    read_placement(*spec);
    read_claims(node_below(spec, {"resourceClaims"}));
    judge_claims_of(context_, *spec);
    if (pod_.containers.empty()) leave_alone();
    judge();
    take_system_parts();
    context_.files.pods.push_back(std::move(pod_));
  }

 private:
  void tell(Code code, const SourceLocation& where, std::string message, std::string help = {}) {
    report(context_, code, where, std::move(message), std::move(help));
  }

  void leave_alone() {
    context_.files.left_alone.push_back(
        {fmt::format("objects without containers ({})", pod_.kind), object_.where});
  }

  // What made it, and whether it runs: the API server says so, manifests do not.
  void read_state() {
    pod_.owner = maker_of(object_.find("metadata"));
    const std::string phase = text_below(&object_, {"status", "phase"});
    pod_.has_ended = pod_.kind == "Pod" && (phase == "Succeeded" || phase == "Failed");
    const Node* conditions = node_below(&object_, {"status", "conditions"});
    for (const Node* one : items_of(conditions)) {
      const std::string type = text_below(one, {"type"});
      const bool ends = pod_.kind == "Job" && (type == "Complete" || type == "Failed");
      pod_.has_ended = pod_.has_ended || (ends && text_below(one, {"status"}) == "True");
    }
    // Kueue suspends what waits in its queues, and starts it. A CronJob has a schedule of its own.
    const bool is_suspended = is_true(node_below(&object_, {"spec", "suspend"})) ||
                              is_true(node_below(&object_, {"spec", "runPolicy", "suspend"}));
    if (is_suspended && !pod_.cron && pod_.queue.value.empty()) pod_.held_by = "suspend: true";
  }

  void read_containers(const Node* list, bool is_init) {
    for (const Node* item : items_of(list)) read_container(*item, is_init, "resources");
  }

  void read_container(const Node& item, bool is_init, std::string_view resources) {
    ContainerFile container = container_of(&item, is_init);
    for (const std::string_view probe : {"readinessProbe", "livenessProbe", "startupProbe"}) {
      container.is_probed = container.is_probed || node_below(&item, {probe}) != nullptr;
    }
    const std::string user = text_below(&item, {"securityContext", "runAsUser"});
    if (!user.empty()) container.user = user;
    const auto asked = asked_amounts(node_below(&item, {resources}));
    for (const Asked& one : asked) {
      if (one.limit) read_amount(one, *one.limit, false, container);
    }
    for (const Asked& one : asked) {
      if (one.request) read_amount(one, *one.request, true, container);
    }
    pod_.containers.push_back(std::move(container));
  }

  void read_amount(const Asked& asked, const Asked::Part& part, bool is_request,
                   ContainerFile& container) {
    const std::string& resource = asked.resource;
    const bool extended = asked.is_extended();
    if (!extended && resource != "cpu" && resource != "memory") return;
    const Node& value = *part.value;
    if (!value.is_scalar()) return;
    const auto thousandths = quantity_in_thousandths(value.text);
    if (!thousandths || (extended && *thousandths % 1'000 != 0)) {
      pod_.not_quantified = resource;
      if (extended && is_plugin_resource(resource)) {
        tell(Code::ExtendedResourceInteger, value.where,
             fmt::format("Invalid value: \"{}\": must be an integer", value.text.substr(0, 40)),
             "ask for 1 of a shared resource instead: there is no part of a GPU");
      }
      return;
    }
    if (extended && is_plugin_resource(resource)) {
      is_request ? judge_request(asked, *thousandths) : judge_limit(asked, *thousandths);
    }
    if (resource == "cpu" && !is_request) container.cpu_limit = *thousandths;
    if (&asked.counting() != &part || (extended && *thousandths == 0)) return;
    container.amounts.push_back(
        {resource, resource == "cpu" ? *thousandths : *thousandths / 1'000, part.key});
  }

  // Of the pod as a whole: takes the place of what its containers ask for together, and limits them
  // together. As one of them asks for it here. Source: kubernetes pkg/api/v1/resource helpers.go.
  void take_pod_resources(const Node& resources) {
    const auto first =
        std::ranges::find_if(pod_.containers, [](const ContainerFile& c) { return !c.is_init; });
    if (first == pod_.containers.end()) return;
    for (const Asked& asked : asked_amounts(&resources)) {
      if (asked.resource != "cpu" && asked.resource != "memory") continue;
      pod_.asks_as_one = true;
      const std::int64_t unit = asked.resource == "cpu" ? 1 : 1'000;
      const auto all = quantity_in_thousandths(text_below(asked.counting().value, {}));
      if (!all) continue;
      const auto is_it = [&](const ResourceAmount& one) { return one.resource == asked.resource; };
      // A limit alone is a request only where no container has one. Source: defaults.go.
      const bool is_asked =
          asked.request || std::ranges::none_of(pod_.containers, [&](const auto& c) {
            return std::ranges::any_of(c.amounts, is_it);
          });
      if (is_asked) {
        for (ContainerFile& container : pod_.containers) std::erase_if(container.amounts, is_it);
        first->amounts.push_back({asked.resource, *all / unit, asked.counting().key});
      }
      const auto limit =
          asked.limit ? quantity_in_thousandths(text_below(asked.limit->value, {})) : std::nullopt;
      if (!limit || asked.resource != "cpu") continue;
      for (ContainerFile& container : pod_.containers) container.cpu_limit = 0;
      first->cpu_limit = *limit;
    }
  }

  // Of the sandbox, beside what the containers ask for.
  void add_overhead(const Node& overhead) {
    const auto first =
        std::ranges::find_if(pod_.containers, [](const ContainerFile& c) { return !c.is_init; });
    if (first == pod_.containers.end()) return;
    for (const std::string_view resource : {"cpu", "memory"}) {
      const Located<std::string> given = located_below(&overhead, {resource});
      const auto thousandths = quantity_in_thousandths(given.value);
      if (!thousandths) continue;
      const std::int64_t amount = resource == "cpu" ? *thousandths : *thousandths / 1'000;
      const auto asked = std::ranges::find(first->amounts, resource, &ResourceAmount::resource);
      if (asked == first->amounts.end()) {
        first->amounts.push_back({std::string(resource), amount, given.where});
      } else {
        asked->amount += amount;
      }
    }
  }

  void judge_limit(const Asked& asked, std::int64_t thousandths) {
    if (thousandths != 0) return;
    tell(Code::GpuNotRequested, asked.limit->value->where,
         fmt::format("{}: 0 asks for no GPU: the scheduler puts the pod on any node",
                     asked.resource.substr(0, 60)),
         "ask for 1, or leave it out; where the runtime mounts GPUs for all, it sees them "
         "unshared");
  }

  void judge_request(const Asked& asked, std::int64_t thousandths) {
    const std::string shown = asked.resource.substr(0, 60);
    if (!asked.limit) {
      tell(Code::ExtendedResourceInteger, asked.request->key,
           fmt::format("Limit must be set for non overcommitable resources: {}", shown),
           "write it under limits; the request follows");
      return;
    }
    const auto limit = quantity_in_thousandths(asked.limit->value->text);
    if (!limit || *limit == thousandths) return;
    tell(Code::ExtendedResourceInteger, asked.request->value->where,
         fmt::format("the request for {} must be equal to its limit", shown),
         "leave the request out: it follows the limit");
  }

  // The constraint that spreads the pods over nodes rather than zones.
  static const Node* spread_by_node(const Node& spec) {
    const Node* spreads = spec.find("topologySpreadConstraints");
    for (std::size_t i = 0; is_list(spreads) && i < spreads->items.size(); ++i) {
      const Node* one = spreads->items[i].get();
      if (text_below(one, {"topologyKey"}) == kHostname) return one;
    }
    return nullptr;
  }

  // With hostNetwork all ports of the containers are those of the node.
  void read_host_ports(const Node& spec) {
    const bool all = is_true(spec.find("hostNetwork"));
    for (const Node* container : items_of(spec.find("containers"))) {
      for (const Node* port : items_of(node_below(container, {"ports"}))) {
        Located<std::string> taken = located_below(port, {"hostPort"});
        if (taken.value.empty() && all) taken = located_below(port, {"containerPort"});
        const auto number = whole_of(taken.value);
        if (!number || *number < 1 || *number > 65'535) continue;
        const std::string protocol = text_below(port, {"protocol"});
        if (!protocol.empty() && protocol != "TCP") taken.value += "/" + protocol;
        pod_.host_ports.push_back(std::move(taken));
      }
    }
  }

  void read_placement(const Node& spec) {
    pod_.tolerations = tolerations_in(spec.find("tolerations"));
    WantedNodes wanted = wanted_nodes(&spec);
    pod_.node_selector = std::move(wanted.selector);
    pod_.affinity = std::move(wanted.affinity);
    PodAntiAffinity refused = anti_affinity_of(spec);
    pod_.anti_affinity = std::move(refused.by_node);
    pod_.other_anti_affinity = refused.other;
    pod_.preferences = preferences_of(spec).read;
    for (const Node* spread :
         {spread_by_node(spec), node_below(&spec, {"affinity", "podAntiAffinity"})}) {
      if (spread != nullptr && !pod_.spread) pod_.spread = spread->where;
    }
    read_host_ports(spec);
    if (is_true(spec.find("hostIPC"))) pod_.host_ipc = spec.find("hostIPC")->where;
    const std::string user = text_below(&spec, {"securityContext", "runAsUser"});
    if (!user.empty()) pod_.user = user;
    const Node* gates = spec.find("schedulingGates");
    for (const Node* item : items_of(gates)) {
      // Kueue opens its own.
      const std::string gate = text_below(item, {"name"});
      const bool is_queues = gate.starts_with("kueue.x-k8s.io/") && !pod_.queue.value.empty();
      if (!is_queues) pod_.held_by = "schedulingGates";
    }
    pod_.scheduler = text_below(&spec, {"schedulerName"});
    if (pod_.kind == "Pod") pod_.node = text_below(&spec, {"nodeName"});
    const std::string restarts = text_below(&spec, {"restartPolicy"});
    if (!restarts.empty()) pod_.restart_policy = restarts;
    pod_.priority_class = text_below(&spec, {"priorityClassName"});
    pod_.never_preempts = text_below(&spec, {"preemptionPolicy"}) == "Never";
    tell_not_simulated(spec);
    pod_.priority = std::clamp<std::int64_t>(whole_of(text_below(&spec, {"priority"})).value_or(0),
                                             -2'147'483'648, 1'000'000'000);
  }

  // What keeps pods off nodes in a cluster, or gives them to somebody else, and not here.
  void tell_of_other_filters(const Node& spec) {
    const auto tell_at = [&](const char* what, const Node* at) {
      if (at != nullptr) context_.files.not_simulated.push_back({what, at->where});
    };
    const Node* containers = spec.find("containers");
    for (std::size_t c = 0; is_list(containers) && c < containers->items.size(); ++c) {
      const Node* container = containers->items[c].get();
      for (const std::string_view part : {"requests", "limits"}) {
        const Node* disk = node_below(container, {"resources", part, "ephemeral-storage"});
        tell_at("requests of ephemeral-storage: nodes have room for all", disk);
        if (disk != nullptr) break;
      }
    }
    // The scheduler writes it into pods.
    if (pod_.kind != "Pod")
      tell_at("nodeName: its pods go where there is room", spec.find("nodeName"));
    constexpr std::array<std::string_view, 5> kKnown = {"", "default-scheduler", "kai-scheduler",
                                                        "runai-scheduler", "hami-scheduler"};
    if (std::ranges::find(kKnown, pod_.scheduler) == kKnown.end()) {
      tell_at("schedulerName: kube-scheduler places all pods", spec.find("schedulerName"));
    }
  }

  // What decides where pods with GPUs run, and no scenario can say.
  void tell_not_simulated(const Node& spec) {
    const bool has_gpu = std::ranges::any_of(pod_.containers, [](const ContainerFile& container) {
      return std::ranges::any_of(container.amounts, [](const ResourceAmount& amount) {
        return gpu_resource(amount.resource).has_value();
      });
    });
    if (!has_gpu) return;
    const Node* company = node_below(
        &spec, {"affinity", "podAffinity", "requiredDuringSchedulingIgnoredDuringExecution"});
    if (is_list(company) && !company->items.empty()) {
      context_.files.not_simulated.push_back({"required podAffinity", company->where});
    }
    if (const Node* deadline = spec.find("activeDeadlineSeconds")) {
      context_.files.not_simulated.push_back({"activeDeadlineSeconds", deadline->where});
    }
    const Located<std::string> grace = located_below(&spec, {"terminationGracePeriodSeconds"});
    if (!grace.value.empty() && grace.value != "30") {
      context_.files.not_simulated.push_back(
          {"terminationGracePeriodSeconds other than 30", grace.where});
    }
    tell_of_other_filters(spec);
    const ReadPreferences preferred = preferences_of(spec);
    for (const SourceLocation& other : preferred.others) {
      context_.files.not_simulated.push_back(
          {"preferred podAffinity and topologySpreadConstraints by more than labels", other});
    }
    const Node* spreads = spec.find("topologySpreadConstraints");
    for (const Node* one : items_of(spreads)) {
      if (text_below(one, {"whenUnsatisfiable"}) == "ScheduleAnyway") continue;
      context_.files.not_simulated.push_back(
          {"topologySpreadConstraints with DoNotSchedule", one->where});
    }
  }

  void read_claims(const Node* claims) {
    for (const Node* claim : items_of(claims)) {
      for (const std::string_view key : {"resourceClaimName", "resourceClaimTemplateName"}) {
        const Located<std::string> name = located_below(claim, {key});
        if (name.value.empty()) continue;
        pod_.claims.push_back({std::string(key), name.value, name.where, name.where});
      }
    }
  }

  void judge() {
    pod_.is_system = std::ranges::any_of(
        pod_.containers, [](const ContainerFile& c) { return is_gpu_software(c.image); });
    int with_gpu = 0;
    const SourceLocation* second = nullptr;
    bool has_gpu = false;
    for (const ContainerFile& container : pod_.containers) {
      const ResourceAmount* gpu = judge_container(container);
      if (gpu == nullptr) continue;
      has_gpu = true;
      if (!container.is_init && ++with_gpu == 2) second = &gpu->where;
    }
    if (second != nullptr) {
      tell(Code::TwoGpuContainers, *second,
           "each container takes a unit of its own: the pod needs two or more of one node",
           "put the GPU work in one container; Karpenter looks for a node with two GPUs");
    }
    if (pod_.host_ipc && has_gpu) {
      tell(Code::HostIpcNotNeeded, *pod_.host_ipc,
           "hostIPC is not needed for MPS with NVIDIA's device plugin",
           "remove it: the plugin mounts the pipe and /dev/shm itself");
    }
  }

  // The plugin's resource that the container asks for; nullptr when there is none.
  const ResourceAmount* judge_container(const ContainerFile& container) {
    const ResourceAmount* gpu = nullptr;
    const ResourceAmount* mig = nullptr;
    for (const ResourceAmount& amount : container.amounts) {
      if (!is_plugin_resource(amount.resource)) continue;
      if (gpu == nullptr) gpu = &amount;
      if (!amount.resource.starts_with(kMigPrefix)) continue;
      if (mig != nullptr) {
        tell(Code::MigTwoDevices, amount.where,
             "the container sees only one of its two MIG devices",
             "one MIG device per container: both plugins set NVIDIA_VISIBLE_DEVICES");
      }
      mig = &amount;
      judge_profile(amount);
    }
    if (!pod_.is_system && pod_.kind != "DaemonSet") judge_env(container);
    return gpu;
  }

  void judge_profile(const ResourceAmount& amount) {
    std::string_view profile = amount.resource;
    profile.remove_prefix(kMigPrefix.size());
    const std::size_t digits = std::min(profile.find_first_not_of("0123456789"), profile.size());
    if (digits > 0 && profile.substr(digits).starts_with("c.")) {
      tell(Code::MigComputeInstance, amount.where,
           fmt::format("no device plugin advertises {}", amount.resource.substr(0, 60)),
           "ask for the GPU instance: nvidia.com/mig-3g.20gb");
    } else if (profile.starts_with("7g.79gb") || profile.find('+') != profile.npos) {
      const bool plus = profile.find('+') != profile.npos;
      tell(plus ? Code::ResourceNameMismatch : Code::MigNameDrift, amount.where,
           plus ? "a plus sign in a profile becomes a dot in the resource name"
                : "7g.79gb is a name of driver 510; later drivers say 7g.80gb",
           plus ? "nvidia.com/mig-1g.10gb.me" : "use the name that the node's labels have");
    }
  }

  void judge_env(const ContainerFile& container) {
    for (const KeyValue& variable : container.env) {
      const bool visible =
          variable.key == "NVIDIA_VISIBLE_DEVICES" || variable.key == "CUDA_VISIBLE_DEVICES";
      // Switched off, or from a field of the pod.
      const bool harmless = variable.value.empty() || variable.value == "void" ||
                            variable.value == "none" || variable.value == "-1" ||
                            (variable.key == "CUDA_VISIBLE_DEVICES" && variable.value == "0");
      if (!visible || harmless) continue;
      if (variable.key == "NVIDIA_VISIBLE_DEVICES") {
        tell(Code::VisibleDevicesSet, variable.where,
             "NVIDIA_VISIBLE_DEVICES is for the device plugin to set: the pod bypasses it",
             "remove the variable and ask for nvidia.com/gpu");
        continue;
      }
      // CUDA chooses among the GPUs that the container has: it adds none.
      warn(context_, Code::VisibleDevicesSet, variable.where,
           "CUDA_VISIBLE_DEVICES chooses among the GPUs of the container by number or UUID, and "
           "hides those that it does not name",
           "remove the variable: the container sees its own GPUs, counted from 0");
    }
  }

  // The device plugin and the exporter, when they are deployed without Helm.
  void take_system_parts() {
    if (pod_.kind != "DaemonSet") return;
    for (const ContainerFile& container : pod_.containers) {
      if (container.image.find(kPluginImage) != std::string::npos) {
        take_static_plugin(container);
      }
      if (container.image.find("dcgm-exporter") != std::string::npos) {
        DcgmFile exporter{.where = container.where};
        for (const KeyValue& variable : container.env) {
          exporter.attributes_to_all |=
              variable.key == "KUBERNETES_VIRTUAL_GPUS" && variable.value == "true";
          exporter.names_resources |= variable.key == "NVIDIA_RESOURCE_NAMES";
        }
        context_.files.exporters.push_back(std::move(exporter));
      }
    }
  }

  // As Helm labels what it makes, and as a dump of the cluster shows it.
  bool is_of_a_chart() const {
    return node_below(object_.find("metadata"), {"labels", "helm.sh/chart"}) != nullptr;
  }

  void take_static_plugin(const ContainerFile& container) {
    if (!context_.files.static_plugin && !is_of_a_chart())
      context_.files.static_plugin = pod_.where;
    bool monitors = false;
    const KeyValue* strategy = nullptr;
    for (const KeyValue& variable : container.env) {
      monitors |= variable.key == "NVIDIA_MIG_MONITOR_DEVICES";
      if (variable.key == "MIG_STRATEGY" && variable.value != "none") strategy = &variable;
    }
    const bool by_flag = container.command.find("mig-strategy=single") != std::string::npos ||
                         container.command.find("mig-strategy=mixed") != std::string::npos;
    if (monitors || (strategy == nullptr && !by_flag)) return;
    tell(Code::MigMonitorMissing, strategy != nullptr ? strategy->where : container.where,
         "the plugin may not see the MIG devices: NVIDIA_MIG_MONITOR_DEVICES is not set",
         "set it to all, or use the chart with migStrategy");
  }

  Context& context_;
  const Node& object_;
  PodFile pod_;
};

}  // namespace

void read_pod(Context& context, const Node& object, const PodSet& set, const Node& pods,
              PodFile pod) {
  PodFileReader(context, object, std::move(pod)).read(set, pods);
}

}  // namespace slicewise::scenarios::manifests

namespace slicewise::scenarios {

bool asks_for_gpu(const PodFile& pod) {
  for (const char* key : {kKaiFraction, kKaiMemory}) {
    if (annotation_of(pod, key) != nullptr) return true;
  }
  const auto is_gpu = [](const ResourceAmount& one) {
    return one.amount > 0 && gpu_resource(one.resource).has_value();
  };
  return !pod.claims.empty() ||
         std::ranges::any_of(pod.containers, [&](const ContainerFile& container) {
           return std::ranges::any_of(container.amounts, is_gpu);
         });
}

std::string controller_of(std::string kind, std::string name, std::string_view template_hash) {
  if (kind.empty() || name.empty()) return {};
  const std::string hash = fmt::format("-{}", template_hash);
  const std::size_t dash = name.rfind('-');
  const std::size_t digits = name.size() - (name.find_last_not_of("0123456789") + 1);
  constexpr std::size_t kMinutesSince1970 = 8;  // of the time at which a CronJob made it
  if (kind == "ReplicaSet" && hash.size() > 1 && name.ends_with(hash)) {
    kind = "Deployment";
    name.resize(name.size() - hash.size());
  } else if (kind == "Job" && dash != name.npos && digits >= kMinutesSince1970 &&
             dash + 1 + digits == name.size()) {
    kind = "CronJob";
    name.resize(dash);
  }
  return fmt::format("{}/{}", kind, name);
}

}  // namespace slicewise::scenarios
