#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "slicewise/counted.hpp"
#include "slicewise/scenarios/gpu_resource.hpp"
#include "slicewise/scenarios/kai_part.hpp"
#include "slicewise/scenarios/quantity.hpp"

#include "../fields/check_scalar.hpp"
#include "../text/scalars.hpp"
#include "manifest_reader.hpp"
#include "pod_sets.hpp"
#include "pod_spec.hpp"

// What is wrong with a pod wherever it runs, and the GPU software that it is part of.
namespace slicewise::scenarios::manifests {
namespace {

// How many processes torchrun starts on a node; nullopt: as many as there are GPUs, or nobody says.
std::optional<std::int64_t> processes_of(const std::string& command) {
  for (const std::string_view flag : {"--nproc_per_node", "--nproc-per-node"}) {
    for (std::size_t at = command.find(flag); at != command.npos; at = command.find(flag, at + 1)) {
      const std::size_t line = command.rfind('\n', at);
      if (command.find('#', line == command.npos ? 0 : line) < at) continue;  // a comment
      std::string_view value = std::string_view(command).substr(at + flag.size());
      value.remove_prefix(std::min(value.find_first_not_of("= "), value.size()));
      return to_integer(value.substr(0, value.find_first_not_of("0123456789")));
    }
  }
  return std::nullopt;
}

// Brackets are in no image's name: `[YOUR-image]` and `<image>` are still to be filled in.
bool is_left_open(std::string_view image) { return image.find_first_of("[]<>") != image.npos; }

// Whether it has capitals in the name of the repository; what has a point, a port or a capital
// before the first slash is the registry. Source: distribution/reference, normalize.go. Variables
// of templates, and IMAGE_NAME, are still to be filled in.
bool has_capitals(std::string_view image) {
  if (is_left_open(image) || image.find_first_of("${") != image.npos) return false;
  const std::size_t slash = image.find('/');
  const std::string_view first = image.substr(0, slash == image.npos ? 0 : slash);
  const bool is_host = first.find_first_of(".:ABCDEFGHIJKLMNOPQRSTUVWXYZ") != first.npos;
  std::string_view path = is_host ? image.substr(slash + 1) : image;
  path = path.substr(0, path.find_first_of(":@"));
  return std::ranges::any_of(path, [](char c) { return c >= 'A' && c <= 'Z'; }) &&
         std::ranges::any_of(path, [](char c) { return c >= 'a' && c <= 'z'; });
}

class PodJudge {
 public:
  PodJudge(Context& context, const Node& object, const PodFile& pod)
      : context_(context), object_(object), pod_(pod) {}

  void judge(const PodSet& set, const Node& spec) {
    for (const ContainerAt& one : containers_of(spec, set)) {
      judge_probes(*one.node);
      const std::vector<AskedAmount> asked = asked_amounts(node_below(one.node, {one.resources}));
      for (const auto part : {&AskedAmount::limit, &AskedAmount::request}) {
        for (const AskedAmount& amount : asked) {
          if (amount.*part) judge_amount(amount, *(amount.*part)->value, part);
        }
      }
    }
    tell_not_simulated(spec);
    judge_claims_of(context_, spec);
    if (pod_.containers.empty()) {
      context_.files.left_alone.push_back(
          {fmt::format("objects without containers ({})", pod_.kind), object_.where});
    }
    judge_containers();
    take_system_parts();
  }

 private:
  void tell(Code code, const SourceLocation& where, std::string message, std::string help = {}) {
    report(context_, code, where, std::move(message), std::move(help));
  }

  void judge_amount(const AskedAmount& asked, const Node& value,
                    std::optional<AskedAmount::Part> AskedAmount::*part) {
    if (!asked.is_extended() || !is_plugin_resource(asked.resource) || !value.is_scalar()) return;
    const auto thousandths = quantity_in_thousandths(value.text);
    if (!thousandths || *thousandths % 1'000 != 0) {
      tell(Code::ExtendedResourceInteger, value.where,
           fmt::format("Invalid value: \"{}\": must be an integer", value.text.substr(0, 40)),
           "ask for 1 of a shared resource instead: there is no part of a GPU");
    } else if (part == &AskedAmount::request) {
      judge_request(asked, *thousandths);
    } else {
      judge_limit(asked, *thousandths);
    }
  }

  // By a name the kubelet looks among the ports of that container alone; one without an image is
  // laid over another.
  void judge_probes(const Node& container) {
    if (container.find("image") == nullptr) return;
    const std::vector<const Node*> ports = items_of(container.find("ports"));
    for (const std::string_view probe : {"readinessProbe", "livenessProbe", "startupProbe"}) {
      for (const std::string_view way : {"httpGet", "tcpSocket"}) {
        const Node* port = node_below(&container, {probe, way, "port"});
        const bool is_name = port != nullptr && port->kind == Node::Kind::Text &&
                             !port->text.empty() && !whole_of(port->text) &&
                             port->text.find_first_of("${") == port->text.npos;
        if (!is_name || std::ranges::any_of(ports, [&](const Node* one) {
              return text_below(one, {"name"}) == port->text;
            })) {
          continue;
        }
        warn(context_, Code::ValueRange, port->where,
             fmt::format("no port of the container is called {}: the {} fails always",
                         port->text.substr(0, 60), probe),
             "name the port under ports, or write its number");
      }
    }
  }

  void judge_limit(const AskedAmount& asked, std::int64_t thousandths) {
    if (thousandths != 0) return;
    tell(
        Code::GpuNotRequested, asked.limit->value->where,
        fmt::format("{}: 0 asks for no GPU: the scheduler puts the pod on any node",
                    asked.resource.substr(0, 60)),
        "ask for 1, or leave it out; where the runtime mounts GPUs for all, it sees them unshared");
  }

  void judge_request(const AskedAmount& asked, std::int64_t thousandths) {
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
          {"preferred podAffinity, and topologySpreadConstraints of either kind, by more than "
           "labels",
           other});
    }
  }

  void judge_containers() {
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
    if (has_capitals(container.image)) {
      tell(Code::ValueRange, container.where,
           fmt::format("image {}: repository name must be lowercase: its pods stay in "
                       "InvalidImageName",
                       container.image.substr(0, 80)));
    }
    if (is_left_open(container.image)) {
      warn(context_, Code::ValueRange, container.where,
           fmt::format("image {} is a placeholder: its pods stay in InvalidImageName until it is "
                       "filled in",
                       container.image.substr(0, 80)),
           "write the image's name");
    }
    const auto processes = processes_of(container.command);
    if (processes && gpu != nullptr && gpu->resource == kGpuResource && *processes > gpu->amount) {
      warn(context_, Code::SettingConflict, gpu->where,
           fmt::format("torchrun starts {} processes there, the container has {}", *processes,
                       counted(gpu->amount, "GPU")),
           fmt::format("--nproc_per_node={}, or {}: {}", gpu->amount, kGpuResource, *processes));
    }
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
        read_plugin_daemon(context_, object_, pod_);
        judge_static_mig(container);
      }
      if (container.image.find("aws-virtual-gpu-device-plugin") != std::string::npos) {
        read_virtual_gpus(container);
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

  // The plugin of AWS, which stops beyond what MPS takes, and the MPS daemon beside it. Source:
  // awslabs/aws-virtual-gpu-device-plugin 51832a5, main.go, manifests/device-plugin.yml.
  void read_virtual_gpus(const ContainerFile& container) {
    constexpr std::string_view kFlag = "-vgpu";  // or --vgpu, and = or a space before the number
    VirtualGpuDaemonFile daemon{.where = container.where};
    const std::string_view command = container.command;
    const std::size_t at = command.rfind(kFlag);
    if (at != command.npos && at + kFlag.size() < command.size()) {
      const std::string_view number = command.substr(at + kFlag.size() + 1);
      daemon.per_gpu =
          to_integer(number.substr(0, number.find_first_of(" \n"))).value_or(daemon.per_gpu);
    }
    for (const ContainerFile& beside : pod_.containers) {
      for (const KeyValue& variable : beside.env) {
        if (variable.key != "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE") continue;
        daemon.active_threads = to_integer(variable.value).value_or(0);
      }
    }
    if (daemon.per_gpu > kMpsClients) {
      tell(Code::MpsTooManyClients, container.where,
           "Number of virtual GPUs can not exceed maximum number of MPS clients: the plugin stops",
           "--vgpu=48 or less");
    }
    context_.files.virtual_gpus.push_back(daemon);
  }

  void judge_static_mig(const ContainerFile& container) {
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
  const PodFile& pod_;
};

}  // namespace

void read_pod(Context& context, const Node& object, const PodSet& set, const Node& pods,
              PodFile pod) {
  const Node* spec = set.is_bare_spec ? &pods : pods.find("spec");
  if (!is_map(spec)) return;
  pod = pod_file_of(object, set, pods, std::move(pod));
  PodJudge(context, object, pod).judge(set, *spec);
  context.files.pods.push_back(std::move(pod));
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

}  // namespace slicewise::scenarios
