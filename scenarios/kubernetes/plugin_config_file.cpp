#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/lookup.hpp"
#include "slicewise/nearest_name.hpp"
#include "slicewise/scenarios/gpu_resource.hpp"

#include "../text/kubernetes_names.hpp"
#include "../text/scalars.hpp"
#include "manifest_reader.hpp"

// The device plugin's own file. Source: github.com/NVIDIA/k8s-device-plugin api/config/v1 and
// cmd/nvidia-device-plugin/main.go (validateFlags), v0.20.0.
namespace slicewise::scenarios::manifests {
namespace {

constexpr std::string_view kPlugin = "the device plugin";

// The plugin takes any; rules multiply them with numbers of GPUs.
constexpr std::string_view kSlicing = "timeSlicing";
constexpr std::string_view kMpsMode = "mps";
constexpr std::int64_t kMostConfigReplicas = 1'000'000;

// As a scenario takes it: YAML 1.2, with `true` for `on`.
NodePtr with_plain_truths(const Node& document) {
  auto copy = std::make_shared<Node>(document);
  if (const auto truth = old_truth(document)) {
    copy->kind = Node::Kind::Boolean;
    copy->text = *truth ? "true" : "false";
  }
  for (NodePtr& item : copy->items) item = with_plain_truths(*item);
  for (Entry& entry : copy->entries) {
    if (entry.value != nullptr) entry.value = with_plain_truths(*entry.value);
  }
  return copy;
}

class ConfigReader {
 public:
  ConfigReader(Context& context, const NodePtr& document, std::string_view key)
      : context_(context), document_(*document) {
    config_.key = key;
    config_.where = document->where;
    config_.document = with_plain_truths(*document);
  }

  void read() {
    check_block(&document_, {"devicePlugin"});
    const std::string version = text_below(&document_, {"version"});
    if (!version.empty() && version != "v1") {
      tell(Code::EnumUnknown, place_below(document_, {"version"}),
           fmt::format("unknown version: {}", version.substr(0, 40)), "write version: v1");
    }
    if (const Entry* resources = document_.entry("resources")) {
      tell(Code::PluginFieldIgnored, resources->key_where,
           "the plugin ignores `resources`: custom resource names are switched off",
           "remove it; renameByDefault is the only renaming there is");
    }
    read_flags();
    read_imex();
    read_sharing();
    judge();
    context_.files.configs.push_back(std::move(config_));
  }

 private:
  void tell(Code code, const SourceLocation& where, std::string message, std::string help = {}) {
    report(context_, code, where, std::move(message), std::move(help));
  }

  // Keys that the plugin does not know, and values of another type than it takes.
  void check_block(const Node* block, std::initializer_list<std::string_view> path) {
    const FieldList fields = pool_fields(path);
    check_keys(context_, block, names_of(fields), kPlugin);
    if (block != nullptr && !is_map(block) && block->kind != Node::Kind::Null) {
      return refuse_type(*block, "object");
    }
    if (!is_map(block)) return;
    for (const Field& field : fields) {
      const Node* value = block->find(field.name);
      if (value == nullptr) continue;
      if (field.type == FieldType::Boolean) judge_truth(*value);
      if (field.type == FieldType::Words && is_list(value)) {
        for (const NodePtr& item : value->items) judge_word(*item, field);
      } else if (field.type == FieldType::Word || field.type == FieldType::Words) {
        judge_word(*value, field);
      }
    }
  }

  void read_flags() {
    const Node* flags = document_.find("flags");
    const Node* plugin = node_below(flags, {"plugin"});
    check_block(flags, {"devicePlugin", "flags"});
    check_block(plugin, {"devicePlugin", "flags", "plugin"});
    check_block(node_below(flags, {"gfd"}), {"devicePlugin", "flags", "gfd"});
    const Located<std::string> strategy = located_below(flags, {"migStrategy"});
    config_.strategy = strategy.value;
    config_.strategy_where = strategy.where;
    const Field& declared = *pool_fields({"devicePlugin", "flags"}).find("migStrategy");
    const Node* written = node_below(flags, {"migStrategy"});
    const bool is_text = written != nullptr && written->kind == Node::Kind::Text;
    if ((is_text || !strategy.value.empty()) && declared.words.find(strategy.value) == nullptr) {
      tell(Code::EnumUnknown, strategy.where,
           fmt::format("unknown MIG strategy: {}", strategy.value.substr(0, 40)),
           "none, single or mixed; the plugin stops at any other word");
    }
    config_.has_mps_root = !text_below(flags, {"mpsRoot"}).empty();
    const Entry* policy = is_map(plugin) ? plugin->entry("sharedDevicesAllocationPolicy") : nullptr;
    if (policy != nullptr && context_.version < PluginVersion{0, 20}) {
      tell(Code::PluginTooOld, policy->key_where,
           "sharedDevicesAllocationPolicy is ignored by this version of the plugin",
           "it came with 0.20.0");
    }
  }

  void refuse_type(const Node& value, std::string_view type) {
    const std::string_view written = is_list(&value)                     ? "array"
                                     : is_map(&value)                    ? "object"
                                     : value.kind == Node::Kind::Text    ? "string"
                                     : value.kind == Node::Kind::Boolean ? "bool"
                                                                         : "number";
    tell(Code::FieldType, value.where,
         fmt::format("json: cannot unmarshal {} into a field of type {}", written, type),
         type == "bool" ? "write true or false without quotes; the plugin stops at this"
                        : "the plugin stops at this");
  }

  void judge_truth(const Node& value) {
    if (is_true(&value) || is_false(&value) || value.kind == Node::Kind::Null) return;
    refuse_type(value, "bool");
  }

  // The plugin stops at any other word (main.go, validateFlags).
  void judge_word(const Node& value, const Field& field) {
    if (is_list(&value) || is_map(&value)) return refuse_type(value, "string");
    if (field.name == "version" || field.name == "migStrategy") return;  // in words of their own
    const std::vector<std::string_view> words(field.words.begin(), field.words.end());
    if (value.text.empty() || std::ranges::find(words, value.text) != words.end()) return;
    tell(Code::EnumUnknown, value.where,
         fmt::format("invalid {}: {}", field.name, value.text.substr(0, 40)),
         fmt::format("one of: {}; the plugin stops at any other word", fmt::join(words, " ")));
  }

  void read_imex() {
    const Node* imex = document_.find("imex");
    check_block(imex, {"devicePlugin", "imex"});
    const Node* channels = node_below(imex, {"channelIDs"});
    if (channels == nullptr) return;
    if (!is_list(channels)) return refuse_type(*channels, "[]int");
    const bool is_known =
        channels->items.empty() || (channels->items.size() == 1 && channels->items[0]->text == "0");
    if (is_known) return;
    tell(Code::EnumUnknown, channels->where, "invalid IMEX channel IDs",
         "channelIDs is [] or [0]; the plugin stops at anything else");
  }

  void read_sharing() {
    const Node* sharing = document_.find("sharing");
    check_block(sharing, {"devicePlugin", "sharing"});
    if (!is_map(sharing)) return;
    const Entry* slicing = mode_of(*sharing, kSlicing);
    const Entry* mps = mode_of(*sharing, kMpsMode);
    for (const Entry& entry : sharing->entries) {
      // Meant as one of the two: what is wrong below it comes to light with its name.
      const auto near = nearest_name(entry.key, std::array{kSlicing, kMpsMode});
      if (near && !same_name(*near, entry.key)) read_entries(entry, *near, false);
    }
    if (slicing != nullptr && mps != nullptr) {
      tell(Code::MpsWithTimeSlicing, slicing->key_where,
           "timeSlicing has no effect beside mps: MPS wins without a message",
           "keep one of the two; other nodes may have another config");
    }
    const Entry* chosen = mps != nullptr ? mps : slicing;
    if (chosen == nullptr) return;
    config_.sharing = mps != nullptr ? FileSharing::Mps : FileSharing::TimeSlicing;
    config_.sharing_where = chosen->key_where;
    if (slicing != nullptr && mps != nullptr) read_entries(*slicing, kSlicing, false);
    read_entries(*chosen, mps != nullptr ? kMpsMode : kSlicing, true);
  }

  // Go's reader of JSON takes a key in any case.
  static const Entry* mode_of(const Node& sharing, std::string_view name) {
    return find_if_or_null(sharing.entries,
                           [&](const Entry& entry) { return same_name(entry.key, name); });
  }

  void read_entries(const Entry& mode, std::string_view name, bool counts) {
    const Node* replicated = mode.value.get();
    check_block(replicated, {"devicePlugin", "sharing", name});
    const Node* resources = node_below(replicated, {"resources"});
    if (!is_list(resources) || resources->items.empty()) {
      tell(Code::FieldMissing, mode.key_where, "no resources specified",
           "add resources: [{name: nvidia.com/gpu, replicas: 4}]");
      return;
    }
    if (counts) {
      config_.renames = is_true(node_below(replicated, {"renameByDefault"}));
      const Node* refuses = node_below(replicated, {"failRequestsGreaterThanOne"});
      if (is_true(refuses) || is_false(refuses)) config_.refuses_several = is_true(refuses);
      judge_refusal(mode, refuses);
    }
    for (const NodePtr& item : resources->items) read_resource(*item, counts);
  }

  void judge_refusal(const Entry& mode, const Node* refuses) {
    const bool is_mps = config_.sharing == FileSharing::Mps;
    if (is_mps && context_.version < PluginVersion{0, 20} && is_false(refuses)) {
      warn(context_, Code::PluginTooOld, refuses->where,
           "this version of the plugin refuses requests above one under MPS, whatever is written "
           "here",
           "it needs 0.20.0");
    } else if (is_false(refuses) || (!is_mps && refuses == nullptr)) {
      tell(Code::FailRequestsUnset, refuses == nullptr ? mode.key_where : refuses->where,
           "a pod may hold several replicas and gets no more GPU for them",
           "failRequestsGreaterThanOne: true refuses such pods with a reason");
    }
  }

  // api/config/v1/resources.go, NewResourceName.
  void judge_name(const Node& name) {
    if (name.kind != Node::Kind::Text) return refuse_type(name, "string");
    constexpr std::string_view kPrefix = "nvidia.com/";
    std::string_view plain = name.text;
    if (plain.starts_with(kPrefix)) plain.remove_prefix(kPrefix.size());
    if (is_subdomain(plain)) return;
    tell(
        Code::NameInvalid, name.where,
        fmt::format("incorrect format for resource name '{}'", name.text.substr(0, 80)),
        "lower-case letters, digits, \"-\" and \".\" behind nvidia.com/; the plugin stops at this");
  }

  void read_resource(const Node& item, bool counts) {
    const FieldList fields = pool_fields({"devicePlugin", "sharing", "timeSlicing", "resources"});
    check_keys(context_, &item, names_of(fields), kPlugin);
    for (const Field& field : fields) {
      const std::string_view ignored = field.name;
      const Entry* entry = field.type == FieldType::Ignored ? item.entry(ignored) : nullptr;
      if (entry == nullptr || text_below(&item, {ignored}) == "all") continue;
      tell(Code::PluginFieldIgnored, entry->key_where,
           fmt::format("the plugin ignores `{}`: all GPUs of a node are shared alike", ignored),
           "remove it; GPUs with other replicas must be on other nodes");
    }
    const Located<std::string> name = located_below(&item, {"name"});
    const Node* replicas = item.find("replicas");
    if (name.value.empty()) {
      tell(Code::FieldMissing, item.where, "no resource name specified", "name: nvidia.com/gpu");
    } else {
      judge_name(*item.find("name"));
    }
    if (replicas == nullptr) {
      tell(Code::FieldMissing, item.where, "no replicas specified", "replicas: 4");
      return;
    }
    const auto written =
        replicas->kind == Node::Kind::Integer ? whole_of(replicas->text) : std::nullopt;
    if (!written) {
      const bool is_number =
          replicas->kind == Node::Kind::Float || replicas->kind == Node::Kind::Integer;
      tell(Code::FieldType, replicas->where,
           is_number ? fmt::format("json: cannot unmarshal number {} into a field of type int",
                                   replicas->text.substr(0, 40))
                     : std::string("json: cannot unmarshal string into a field of type int"),
           "write a whole number without quotes; the plugin stops at this");
      return;
    }
    const std::int64_t count = std::min(*written, kMostConfigReplicas);
    if (count < fields.find("replicas")->least) {
      tell(Code::ReplicasTooFew, replicas->where, "number of replicas must be >= 2",
           "leave `sharing` out to share nothing; the plugin stops at this");
      return;
    }
    if (!counts || name.value.empty()) return;
    const bool prefixed = name.value.find('/') != std::string::npos;
    config_.resources.push_back(
        {prefixed ? name.value : "nvidia.com/" + name.value, count, name.where, replicas->where});
  }

  void judge() {
    const bool is_mps = config_.sharing == FileSharing::Mps;
    if (is_mps && config_.strategy == "mixed") {
      tell(Code::MpsWithMixed, config_.strategy_where,
           "using --mig-strategy=mixed is not supported with MPS",
           "migStrategy: none on the nodes with MPS; time-slicing for MIG devices");
    }
    if (is_mps && context_.version < PluginVersion{0, 15}) {
      tell(Code::PluginTooOld, config_.sharing_where, "this version of the plugin has no MPS",
           "it came with 0.15.0");
    }
    for (const ReplicatedResource& resource : config_.resources) judge_resource(resource, is_mps);
    judge_repeated();
  }

  // Source: internal/rm/device_map.go, updateDeviceMapWithReplicas.
  void judge_repeated() {
    for (auto one = config_.resources.begin(); one != config_.resources.end(); ++one) {
      const auto first = std::ranges::find(config_.resources, one->name, &ReplicatedResource::name);
      if (first == one) continue;
      warn(context_, Code::NameDuplicate, one->where,
           fmt::format("{} is in the list twice: of {} and {} replicas the plugin makes the most",
                       one->name.substr(0, 60), first->replicas, one->replicas),
           "keep one of them");
    }
  }

  void judge_resource(const ReplicatedResource& resource, bool is_mps) {
    const bool is_mig = resource.name.starts_with(kMigPrefix);
    if (is_mps && resource.name != kGpuResource) {
      tell(is_mig ? Code::MpsOnMig : Code::MpsWithMixed, resource.where,
           is_mig ? "sharing using MPS is not supported for MIG devices"
                  : "MPS shares nvidia.com/gpu only",
           "use timeSlicing for MIG devices");
    } else if (is_mig && config_.strategy != "mixed") {
      tell(Code::SharedResourceAbsent, resource.where,
           fmt::format("{} exists with migStrategy mixed only, not with {}",
                       resource.name.substr(0, 60),
                       config_.strategy.empty() ? "none" : config_.strategy.substr(0, 20)),
           "set flags.migStrategy: mixed, or share nvidia.com/gpu");
    }
    // 16 below compute capability 7.5, which only the nodes tell.
    if (!is_mps) return;
    if (resource.replicas > kMpsClients) {
      tell(Code::MpsTooManyClients, resource.replicas_where,
           fmt::format("invalid device maximum allowed replicas exceeded: {} > {}",
                       resource.replicas, kMpsClients),
           "at most 48 replicas; 16 on V100");
    } else if (100 % resource.replicas != 0) {
      tell(Code::MpsUnevenSplit, resource.replicas_where,
           fmt::format("{} replicas get {} % of the threads each, {} % together", resource.replicas,
                       100 / resource.replicas, 100 / resource.replicas * resource.replicas));
    }
  }

  Context& context_;
  const Node& document_;
  PluginConfigFile config_;
};

}  // namespace

bool is_plugin_config(const Node& document) {
  if (document.kind != Node::Kind::Map || document.entry("kind") != nullptr) return false;
  // Other programs have `flags`, `sharing` and `version` as well: what is in them tells.
  const auto resembles = [](const Node* mapping, std::initializer_list<std::string_view> path) {
    const std::vector<std::string_view> known = names_of(pool_fields(path));
    return is_map(mapping) && std::ranges::any_of(mapping->entries, [&](const Entry& entry) {
             return nearest_name(entry.key, known).has_value();
           });
  };
  if (resembles(document.find("sharing"), {"devicePlugin", "sharing"}) ||
      resembles(document.find("flags"), {"devicePlugin", "flags"})) {
    return true;
  }
  const std::string version = text_below(&document, {"version"});
  const bool is_versioned = version.size() > 1 && version[0] == 'v' && version[1] >= '0' &&
                            version[1] <= '9' && version.find('.') == std::string::npos;
  return is_versioned && document.entry("mig-configs") == nullptr &&
         std::ranges::all_of(document.entries, [](const Entry& entry) {
           return pool_fields({"devicePlugin"}).find(entry.key) != nullptr;
         });
}

void read_plugin_config(Context& context, const NodePtr& document, std::string_view key) {
  ConfigReader(context, document, key).read();
}

}  // namespace slicewise::scenarios::manifests

namespace slicewise::scenarios {

const ChartValues* plugin_chart(const ClusterFiles& files) {
  for (const ChartValues& chart : files.charts) {
    if (chart.chart != ChartValues::Chart::Dra && chart.deploys_plugin) return &chart;
  }
  return nullptr;
}

ChosenConfig chosen_config(const ClusterFiles& files, const KeyValue* label) {
  const auto called = [&](std::string_view key) {
    const auto found = std::ranges::find(files.configs, key, &PluginConfigFile::key);
    const PluginConfigFile* config = found == files.configs.end() ? nullptr : &*found;
    return ChosenConfig{config, config != nullptr};
  };
  const ChartValues* chart = plugin_chart(files);
  if (label != nullptr) return called(label->value);
  if (chart != nullptr && !chart->default_key.value.empty()) {
    return called(chart->default_key.value);
  }
  const bool none_given = chart != nullptr && chart->config_map.value.empty() && !chart->map_where;
  // Without a config the plugin shares nothing; without a default the operator's does not either.
  if (none_given || (chart != nullptr && chart->chart == ChartValues::Chart::GpuOperator)) {
    return {nullptr, true};
  }
  if (chart == nullptr && files.configs.size() != 1) return {};
  const ChosenConfig chosen = called("default");
  return chosen.is_known || files.configs.size() != 1 ? chosen
                                                      : ChosenConfig{&files.configs[0], true};
}

}  // namespace slicewise::scenarios
