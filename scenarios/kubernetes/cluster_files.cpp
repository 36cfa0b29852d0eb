#include "slicewise/scenarios/cluster_files.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include <fmt/format.h>

#include "slicewise/lookup.hpp"

#include "../text/scalars.hpp"
#include "manifest_reader.hpp"

namespace slicewise::scenarios {
namespace manifests {
namespace {

// No rule looks at these, and everybody has them.
constexpr std::array<std::string_view, 13> kQuietKinds = {
    "Namespace",        "Service",     "ServiceAccount",     "Role",
    "RoleBinding",      "ClusterRole", "ClusterRoleBinding", "PersistentVolumeClaim",
    "PersistentVolume", "Secret",      "Kustomization",      "Component",
    "PrometheusRule"};  // its expressions are read like those of any object

template <std::size_t kCount>
bool is_word_of(const std::array<std::string_view, kCount>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

// A ConfigMap that holds files of the device plugin or of mig-parted; false when it holds neither.
bool read_config_map(Context& context, const Node& object) {
  const Located<std::string> name = located_below(&object, {"metadata", "name"});
  const Located<std::string> space = located_below(&object, {"metadata", "namespace"});
  const Node* data = object.find("data");
  if (!is_map(data)) return false;
  ConfigMapFile map{name.value, space.value, {}, object.where, space.where};
  bool has_configs = false;
  for (const Entry& entry : data->entries) {
    map.keys.push_back(entry.key);
    if (entry.value == nullptr || entry.value->kind != Node::Kind::Text) continue;
    const std::string& text = entry.value->text;
    const bool plugin = text.find("version:") != std::string::npos;
    if (!plugin && text.find("mig-configs") == std::string::npos &&
        text.find("sharing:") == std::string::npos) {
      continue;
    }
    const NodePtr inner = embedded_document(context, *entry.value);
    if (inner == nullptr) continue;
    if (is_mig_file(*inner)) {
      has_configs = true;
      if (entry.key != "config.yaml") {
        report(context, Code::MigManagerConfig, entry.key_where,
               "mig-manager reads the key config.yaml only", "rename the key to config.yaml");
      }
      read_mig_file(context, *inner);
    } else if (is_plugin_config(*inner)) {
      has_configs = true;
      read_plugin_config(context, inner, entry.key);
    }
  }
  if (has_configs) context.files.config_maps.push_back(std::move(map));
  return has_configs;
}

class ClusterReader {
 public:
  ClusterReader(ClusterFiles& files, PluginVersion version)
      : context_{.files = files, .version = version} {}

  void read(std::span<const SourceText> sources) {
    for (std::size_t i = 0; i < sources.size(); ++i) {
      context_.source = &sources[i];
      if (sources[i].name.ends_with(".toml")) {
        read_toml(sources[i]);
        continue;
      }
      Diagnostics found;
      const std::vector<NodePtr> documents = read_documents(sources[i], found);
      report_unreadable(context_, found);
      for (const NodePtr& document : documents) read_document_of(document, i);
    }
    read_train_jobs(context_);
    apply_node_classes(context_);
    apply_to_pods(context_);
  }

 private:
  void read_toml(const SourceText& source) {
    NodeGroupFile group;
    group.where = {source.name, 1, 1};
    read_bottlerocket(context_, source, group);
  }

  void read_document_of(const NodePtr& document, std::size_t source) {
    const std::string kind = text_below(document.get(), {"kind"});
    const Node* items = document->find("items");
    if (is_list(items) && (kind.empty() || kind.ends_with("List"))) {
      for (const NodePtr& item : items->items) read_object(item, source);
      return;
    }
    read_object(document, source);
  }

  void read_object(const NodePtr& object, std::size_t source) {
    ++context_.files.objects;
    if (object->kind != Node::Kind::Map) {
      leave_alone(*object, "");
      return unknown(*object, "a document that is no mapping is not checked");
    }
    const std::string kind = text_below(object.get(), {"kind"});
    if (is_own(*object, kind)) {
      leave_alone(*object, kind);
      return read_own(*object, source);
    }
    read_metrics(context_, *object);
    const std::size_t known = context_.files.problems.size();
    const bool is_read = read_object_of(object, kind);
    const bool has_schema = check_by_schema(context_, *object, known);
    context_.files.held_to_schema += has_schema ? 1 : 0;
    if (is_read) return;
    leave_alone(*object, kind);
    // Beside what is wrong with it, that it is not checked would be wrong.
    const bool is_silent = context_.files.problems.size() == known;
    if (!is_silent || kind == "ConfigMap" || is_word_of(kQuietKinds, kind)) return;
    const std::string of = fmt::format("objects of kind {}", kind.substr(0, 60));
    unknown(*object,
            has_schema ? "of " + of + " only the schema is checked" : of + " are not checked");
  }

  // Whether anything looks at more than the schema of such objects.
  bool read_object_of(const NodePtr& object, const std::string& kind) {
    if (keep_train_job(context_, object, kind) || read_pods(context_, *object, kind) ||
        read_nodes(context_, object, kind) || read_about_pods(context_, *object, kind)) {
      return true;
    }
    if (kind.empty()) {
      read_settings(object);
      return true;
    }
    const bool is_nvidia = text_below(object.get(), {"apiVersion"}).starts_with("nvidia.com/");
    if (kind == "ClusterPolicy" && is_nvidia && is_map(object->find("spec"))) {
      read_cluster_policy(context_, *object->find("spec"));
      return true;
    }
    if (kind == "ConfigMap") return read_config_map(context_, *object);
    if (kind == "ResourceSlice") {
      read_slice(context_, *object);
      return true;
    }
    if (kind != "ResourceClaim" && kind != "ResourceClaimTemplate" && kind != "DeviceClass") {
      return false;
    }
    read_dra(context_, *object, kind);
    return true;
  }

  // A document without a kind.
  void read_settings(const NodePtr& object) {
    if (is_mig_file(*object)) return read_mig_file(context_, *object);
    if (is_chart_values(*object)) return read_chart_values(context_, *object);
    if (read_node_clocks(context_, *object)) return;
    if (is_plugin_config(*object)) return read_plugin_config(context_, object, "");
    // A patch of a ConfigMap.
    if (read_config_map(context_, *object)) return;
    leave_alone(*object, "");
    unknown(*object, "a document without a kind that is no setting of NVIDIA's is not checked");
  }

  void leave_alone(const Node& object, const std::string& kind) {
    context_.files.left_alone.push_back(
        {kind.empty() ? "documents that are no object of Kubernetes and no plugin settings"
                      : fmt::format("objects of kind {}", kind.substr(0, 60)),
         object.where});
  }

  // With its apiVersion misspelt or missing, too: the reader of scenarios says so.
  static bool is_own(const Node& object, const std::string& kind) {
    const std::string version = text_below(&object, {"apiVersion"});
    return version.starts_with("slicewise") ||
           (version.empty() && (kind == "Scenario" || kind == "Replay"));
  }

  // slicewise's own files: "slicewise.dev/v1alpha1" is read by it, "slicewise.dev/plan.v1alpha1"
  // was written by it.
  void read_own(const Node& object, std::size_t source) {
    const std::string kind = text_below(&object, {"kind"});
    const std::string version = text_below(&object, {"apiVersion"});
    const std::size_t slash = version.find('/');
    if (slash != std::string::npos && version.find('.', slash) != std::string::npos) {
      return unknown(
          object, fmt::format("a {} that slicewise wrote is not checked", kind.substr(0, 60)),
          kind == "Plan"
              ? "slicewise export -f PLAN puts it in place, slicewise diff OLD NEW compares two"
              : "slicewise diff OLD NEW compares two");
    }
    auto& files = kind == "Replay" ? context_.files.replays : context_.files.scenarios;
    if (files.empty() || files.back() != source) files.push_back(source);
  }

  void unknown(const Node& object, const std::string& what,
               const std::string& help = "slicewise explain check") {
    report(context_, Code::KindNotChecked, object.where, what, help);
  }

  Context context_;
};

}  // namespace
}  // namespace manifests

std::optional<PluginVersion> plugin_version(std::string_view text) {
  if (text.starts_with('v')) text.remove_prefix(1);
  const std::size_t dot = text.find('.');
  if (dot == text.npos) return std::nullopt;
  const std::string_view rest = text.substr(dot + 1);
  const auto major = whole_of(text.substr(0, dot));
  const auto minor = whole_of(rest.substr(0, rest.find('.')));
  if (!major || !minor || *major < 0 || *minor < 0 || *major > 999 || *minor > 999) {
    return std::nullopt;
  }
  return PluginVersion{static_cast<int>(*major), static_cast<int>(*minor)};
}

ClusterFiles read_cluster_files(std::span<const SourceText> sources, PluginVersion version) {
  ClusterFiles files;
  manifests::ClusterReader(files, version).read(sources);
  return files;
}

std::set<const PodFile*> made_by_others(const ClusterFiles& files) {
  std::set<std::pair<std::string_view, std::string>> objects;
  for (const PodFile& pod : files.pods) {
    objects.emplace(namespace_of(pod.space), pod.kind + "/" + pod.object);
  }
  std::set<const PodFile*> made;
  for (const PodFile& pod : files.pods) {
    if (!pod.owner.empty() && objects.contains({namespace_of(pod.space), pod.owner})) {
      made.insert(&pod);
    }
  }
  return made;
}

bool goes_with_node(const PodFile& pod) {
  return pod.kind == "DaemonSet" || pod.owner.starts_with("DaemonSet/") ||
         pod.owner.starts_with("Node/");
}

const KeyValue* label_of(const NodeGroupFile& group, std::string_view key) {
  return find_or_null(group.labels, key, &KeyValue::key);
}

std::optional<std::int64_t> allocatable_of(const NodeGroupFile& group, std::string_view resource) {
  if (!group.allocatable) return std::nullopt;
  const auto found = std::ranges::find(*group.allocatable, resource, &ResourceAmount::resource);
  return found == group.allocatable->end() ? std::nullopt : std::optional(found->amount);
}

const KeyValue* annotation_of(const PodFile& pod, std::string_view key) {
  for (const auto* annotations : {&pod.annotations, &pod.object_annotations}) {
    const auto found = std::ranges::find(*annotations, key, &KeyValue::key);
    if (found != annotations->end()) return &*found;
  }
  return nullptr;
}

bool is_placed_by_kai(const PodFile& pod) {
  return pod.scheduler == "kai-scheduler" || pod.scheduler == "runai-scheduler";
}

std::string training_program(const ContainerFile& container) {
  constexpr std::array<std::string_view, 6> kLaunchers = {
      "torchrun", "accelerate launch", "deepspeed", "horovodrun", "mpirun", "torch.distributed"};
  const std::string& command = container.command;
  for (const std::string_view launcher : kLaunchers) {
    if (command.find(launcher) != command.npos) return std::string(launcher);
  }
  // train.py, train_gpt.py, finetune.py
  for (std::size_t end = command.find(".py"); end != command.npos;
       end = command.find(".py", end + 1)) {
    const std::size_t start = command.find_last_of(" /\"'\n", end) + 1;
    const std::string_view name(command.data() + start, end - start);
    if (name.starts_with("train") || name.ends_with("train") || name.starts_with("finetune")) {
      return fmt::format("{}.py", name.substr(0, 60));
    }
  }
  return {};
}

bool maps_all_memory(const ContainerFile& container) {
  return names_program(container, "tensorflow") &&
         !names_program(container, "tensorflow-serving") &&
         std::ranges::find(container.env, "TF_FORCE_GPU_ALLOW_GROWTH", &KeyValue::key) ==
             container.env.end();
}

std::vector<DaemonSet> daemon_sets_of(const ClusterFiles& files, const RunsOnNode& runs_there) {
  std::vector<DaemonSet> all = usual_daemon_sets();
  const auto usual = static_cast<std::ptrdiff_t>(all.size());
  std::set<std::string> names;
  for (const PodFile& pod : files.pods) {
    if (pod.kind != "DaemonSet") continue;
    constexpr std::int64_t kMostAsked = std::int64_t{1} << 40;  // against overflow
    DaemonSet daemon{pod.object, {}, {}};
    for (const auto& [resource, amount] : reserved_amounts(pod)) {
      const std::int64_t asked = std::min(amount, kMostAsked);
      if (resource == "cpu") daemon.cpu_request.count = asked;
      if (resource == "memory") daemon.memory_request.count = asked;
    }
    const auto end_of_usual = all.begin() + usual;
    // The operator's nvidia-dcgm-exporter, a release's nvdp-nvidia-device-plugin.
    const auto known = std::find_if(all.begin(), end_of_usual, [&](const DaemonSet& one) {
      return daemon.name.find(one.name) != std::string::npos;
    });
    if (known != end_of_usual) {
      *known = std::move(daemon);
    } else if (runs_there(pod)) {
      if (!names.insert(daemon.name).second) daemon.name = pod.space + "-" + daemon.name;
      all.push_back(std::move(daemon));
    }
  }
  return all;
}

}  // namespace slicewise::scenarios
