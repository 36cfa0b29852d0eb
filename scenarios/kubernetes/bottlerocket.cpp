#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "slicewise/nearest_name.hpp"

#include "../text/decimal.hpp"
#include "manifest_reader.hpp"

// Bottlerocket's own device plugin and its settings.
// Source: bottlerocket.dev, settings.kubelet-device-plugins, 1.54.
namespace slicewise::scenarios::manifests {
namespace {

using Kind = TomlValue::Kind;

constexpr std::array<std::string_view, 7> kModels = {"a100.40gb",      "a100.80gb",  "h100.80gb",
                                                     "h200.141gb",     "b200.180gb", "b300.269gb",
                                                     "rtxpro6000.96gb"};
constexpr std::string_view kProfiles = "mig.profile.";

struct KnownSetting {
  std::string_view key;  // below kubelet-device-plugins.nvidia
  Kind kind;
  std::string_view words;  // with spaces around each; "" any
};
constexpr std::array kPluginSettings = {
    KnownSetting{"pass-device-specs", Kind::Truth, ""},
    KnownSetting{"device-id-strategy", Kind::Text, " index uuid "},
    KnownSetting{"device-list-strategy", Kind::Text, " volume-mounts envvar cdi-cri "},
    KnownSetting{"device-sharing-strategy", Kind::Text, " none time-slicing mps "},
    KnownSetting{"device-partitioning-strategy", Kind::Text, " none mig "},
    KnownSetting{"time-slicing.replicas", Kind::Whole, ""},
    KnownSetting{"time-slicing.rename-by-default", Kind::Truth, ""},
    KnownSetting{"time-slicing.fail-requests-greater-than-one", Kind::Truth, ""},
    KnownSetting{"mps.replicas", Kind::Whole, ""},
    KnownSetting{"mps.rename-by-default", Kind::Truth, ""},
};

std::string_view form_of(Kind kind) {
  return kind == Kind::Truth   ? "true or false, without quotes"
         : kind == Kind::Whole ? "a whole number without quotes"
                               : "a word in quotes";
}

class BottlerocketReader {
 public:
  BottlerocketReader(Context& context, const std::vector<BottlerocketSetting>& settings,
                     NodeGroupFile& group)
      : context_(context), settings_(settings), group_(group) {}

  void read() {
    const SourceLocation* first = nullptr;
    for (const BottlerocketSetting& setting : settings_) {
      if (!setting.path.starts_with(kBottlerocketPlugin)) {
        judge_neighbour(setting);
        continue;
      }
      if (first == nullptr) first = &setting.where;
      read_setting(setting, std::string_view(setting.path).substr(kBottlerocketPlugin.size()));
    }
    if (first == nullptr) return;
    group_.bottlerocket_where = *first;
    put_together(*first);
  }

 private:
  void tell(Code code, const SourceLocation& where, std::string message, std::string help) {
    report(context_, make_diagnostic(code, where, std::move(message), std::move(help)));
  }

  // A misspelt table takes its settings nowhere.
  void judge_neighbour(const BottlerocketSetting& setting) {
    constexpr std::string_view kTable = "kubelet-device-plugins";
    constexpr std::size_t kFar = 4;
    const std::string_view table = std::string_view(setting.path).substr(0, setting.path.find('.'));
    if (table.size() > kTable.size() + kFar || table.size() + kFar < kTable.size()) return;
    const bool is_other = table == kTable;  // another vendor's
    if (!is_other && edit_distance(table, kTable) > kFar) return;
    tell(Code::FieldUnknown, setting.where,
         fmt::format("Bottlerocket has no setting {}", setting.path.substr(0, 80)),
         "did you mean settings.kubelet-device-plugins.nvidia?");
  }

  void read_setting(const BottlerocketSetting& setting, std::string_view key) {
    if (key.starts_with(kProfiles)) return read_profile(setting, key.substr(kProfiles.size()));
    const auto* known = std::ranges::find(kPluginSettings, key, &KnownSetting::key);
    if (known == kPluginSettings.end()) return refuse_key(setting, key);
    if (setting.kind != known->kind) {
      // Later releases take a list of device list strategies.
      if (key == "device-list-strategy" && setting.kind == Kind::Other) return;
      return tell(Code::FieldType, setting.where,
                  fmt::format("{} is {}", key, form_of(known->kind)),
                  "Bottlerocket refuses values of another type");
    }
    if (!known->words.empty() &&
        known->words.find(" " + setting.value + " ") == std::string_view::npos) {
      return tell(Code::EnumUnknown, setting.where,
                  fmt::format("{} is no {}", setting.value.substr(0, 40), key),
                  fmt::format("one of:{}", known->words.substr(0, known->words.size() - 1)));
    }
    if (key.ends_with(".replicas") && whole_of(setting.value).value_or(2) < 2) {
      tell(Code::ReplicasTooFew, setting.where, "replicas must be a whole number >= 2",
           "device-sharing-strategy = \"none\" switches sharing off");
    }
  }

  void refuse_key(const BottlerocketSetting& setting, std::string_view key) {
    constexpr std::size_t kLongestKey = 80;
    std::vector<std::string_view> keys;
    keys.reserve(kPluginSettings.size());
    for (const KnownSetting& known : kPluginSettings) keys.push_back(known.key);
    const auto near = key.size() <= kLongestKey ? nearest_name(key, keys) : std::nullopt;
    tell(Code::FieldUnknown, setting.where,
         fmt::format("Bottlerocket's device plugin has no setting {}", key.substr(0, kLongestKey)),
         near ? fmt::format("did you mean {}?", *near)
              : std::string("remove it, or move it to where it belongs"));
  }

  void read_profile(const BottlerocketSetting& setting, std::string_view key) {
    const bool is_quoted = key.size() > 1 && key.front() == '"' && key.back() == '"';
    if (!is_quoted) {
      return tell(Code::FieldUnknown, setting.where,
                  fmt::format("mig.profile.{} without quotes is a table", key.substr(0, 40)),
                  "put the GPU model in quotes: \"a100.40gb\" = \"1g.5gb\"");
    }
    const std::string model(key.substr(1, key.size() - 2));
    if (setting.kind != Kind::Text) {
      tell(Code::FieldType, setting.where,
           fmt::format("the profile of {} is {}", model.substr(0, 40), form_of(Kind::Text)),
           "\"1g.5gb\", or the number of instances: \"7\"");
    }
    group_.bottlerocket_mig.push_back({model, setting.value, setting.where, setting.where});
    if (std::ranges::find(kModels, std::string_view(model)) != kModels.end()) return;
    const auto near = model.size() <= 40 ? nearest_name(model, kModels) : std::nullopt;
    tell(Code::BottlerocketMig, setting.where,
         fmt::format("Bottlerocket knows no GPU model {}", model.substr(0, 40)),
         near ? fmt::format("did you mean {}?", *near)
              : std::string("one of a100.40gb, a100.80gb, h100.80gb, h200.141gb, ..."));
  }

  const BottlerocketSetting* find(std::string_view key) const {
    const auto found = std::ranges::find_if(settings_, [&](const BottlerocketSetting& setting) {
      return setting.path.starts_with(kBottlerocketPlugin) &&
             std::string_view(setting.path).substr(kBottlerocketPlugin.size()) == key;
    });
    return found == settings_.end() ? nullptr : &*found;
  }

  void put_together(const SourceLocation& first) {
    PluginConfigFile config;
    config.key = "Bottlerocket";
    config.where = first;
    config.sharing_where = first;
    const BottlerocketSetting* chosen = find("device-sharing-strategy");
    const std::string strategy = chosen == nullptr ? "none" : chosen->value;
    if (chosen != nullptr) config.sharing_where = chosen->where;
    config.sharing = strategy == "mps"            ? FileSharing::Mps
                     : strategy == "time-slicing" ? FileSharing::TimeSlicing
                                                  : FileSharing::None;
    judge_idle_tables(strategy);
    const BottlerocketSetting* partitioning = find("device-partitioning-strategy");
    group_.bottlerocket_partitions = partitioning != nullptr && partitioning->value == "mig";
    if (group_.bottlerocket_partitions) config.strategy = "single";
    if (config.sharing != FileSharing::None) share(strategy, config);
    if (group_.bottlerocket_partitions && config.sharing == FileSharing::Mps) {
      tell(Code::BottlerocketMig, config.sharing_where, "MpsMigConflict: MPS and MIG on one node",
           "use time-slicing beside MIG, or MPS without MIG");
    }
    group_.bottlerocket = std::move(config);
  }

  void share(const std::string& strategy, PluginConfigFile& config) const {
    constexpr std::int64_t kMostReplicas = 1'000'000;
    // Both defaults are true, unlike those of the plugin elsewhere.
    const BottlerocketSetting* renames = find(strategy + ".rename-by-default");
    config.renames = renames == nullptr || renames->value != "false";
    const BottlerocketSetting* refuses = find(strategy + ".fail-requests-greater-than-one");
    config.refuses_several = refuses == nullptr || refuses->value != "false";
    const BottlerocketSetting* replicas = find(strategy + ".replicas");
    const std::int64_t count =
        replicas == nullptr ? 2 : whole_of(replicas->value).value_or(kMostReplicas);
    if (count < 2) return;
    config.resources.push_back({"nvidia.com/gpu", std::min(count, kMostReplicas),
                                config.sharing_where,
                                replicas == nullptr ? config.sharing_where : replicas->where});
  }

  // Only the table of the chosen strategy counts.
  void judge_idle_tables(const std::string& strategy) {
    for (const std::string_view table : {"time-slicing", "mps"}) {
      if (strategy == table) continue;
      const auto idle = std::ranges::find_if(settings_, [&](const BottlerocketSetting& setting) {
        return setting.path.starts_with(kBottlerocketPlugin) &&
               std::string_view(setting.path)
                   .substr(kBottlerocketPlugin.size())
                   .starts_with(std::string(table) + ".");
      });
      if (idle == settings_.end()) continue;
      Diagnostic problem = make_diagnostic(
          Code::PluginFieldIgnored, idle->where,
          fmt::format("the settings of {} have no effect: device-sharing-strategy is {}", table,
                      strategy.substr(0, 40)),
          fmt::format("device-sharing-strategy = \"{}\", or remove them", table));
      if (strategy != "none") problem.severity = Severity::Warning;
      report(context_, std::move(problem));
    }
  }

  Context& context_;
  const std::vector<BottlerocketSetting>& settings_;
  NodeGroupFile& group_;
};

}  // namespace

void apply_bottlerocket(Context& context, const std::vector<BottlerocketSetting>& settings,
                        NodeGroupFile& group) {
  group.is_bottlerocket = true;
  BottlerocketReader(context, settings, group).read();
}

}  // namespace slicewise::scenarios::manifests
