#include <algorithm>
#include <array>
#include <tuple>

#include <fmt/format.h>

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/impl/preprocessor.h>
// Version 3.3 asserts, or lets the compiler assume, what a file may break: "[#".
#undef TOML_ASSERT_ASSUME
#define TOML_ASSERT_ASSUME(expr) static_assert(true)
#include <toml++/toml.h>

#include "slicewise/lookup.hpp"
#include "slicewise/nearest_name.hpp"
#include "slicewise/scenarios/gpu_resource.hpp"

#include "../text/scalars.hpp"
#include "manifest_reader.hpp"

// Bottlerocket's own device plugin and its settings.
// Source: bottlerocket.dev, settings.kubelet-device-plugins, 1.54.
namespace slicewise::scenarios::manifests {
namespace {

enum class SettingKind : std::uint8_t { Text, Whole, Truth, Other };  // Other: lists, dates, floats

struct BottlerocketSetting {
  std::string path;  // below `settings`; keys with dots in quotes: mig.profile."a100.40gb"
  SettingKind kind = SettingKind::Other;
  std::string value;
  SourceLocation where;
};

constexpr std::string_view kBottlerocketPlugin = "kubelet-device-plugins.nvidia.";
constexpr int kDeepestSetting = 7;  // kubelet-device-plugins.nvidia.mig.profile."a100.40gb"

std::string setting_path(const std::string& before, std::string_view key) {
  const bool has_dot = key.find('.') != std::string_view::npos;
  return fmt::format("{}{}{}{}{}", before, before.empty() ? "" : ".", has_dot ? "\"" : "", key,
                     has_dot ? "\"" : "");
}

// User data in TOML. Bottlerocket refuses the whole file for one wrong line.
class UserData {
 public:
  UserData(Context& context, const SourceText& source) : context_(context), source_(source) {
    std::string_view rest = source.text;
    while (!rest.empty()) {
      lines_.push_back(rest.substr(0, rest.find('\n')));
      rest.remove_prefix(std::min(lines_.back().size() + 1, rest.size()));
    }
  }

  std::vector<BottlerocketSetting> settings() {
    if (!has_bearable_depth()) return {};
    const toml::table table = parsed();
    if (const toml::table* settings = table["settings"].as_table()) take(*settings, "", 0);
    std::ranges::sort(settings_, {}, [](const BottlerocketSetting& setting) {
      return std::tuple(setting.where.line, setting.where.column);
    });
    return std::move(settings_);
  }

 private:
  std::string_view line(std::size_t number) const {
    return number > 0 && number <= lines_.size() ? lines_[number - 1] : std::string_view();
  }

  SourceLocation start_of(std::size_t number) const {
    const std::size_t blanks = line(number).find_first_not_of(" \t\r");
    return {source_.name, static_cast<int>(number),
            static_cast<int>(blanks == std::string_view::npos ? 0 : blanks) + 1, 1};
  }

  void refuse(Code code, std::size_t number, std::string message, std::string help) {
    report_unreadable(
        context_, {make_diagnostic(code, start_of(number), std::move(message), std::move(help))});
  }

  void refuse_line(std::size_t number) {
    refuse(Code::YamlSyntax, number, "this is no TOML: [table] or key = value on each line",
           "text stands in quotes, numbers and true do not; the whole file is refused");
  }

  // toml++ 3.3 makes a table for each dot of a key, and takes them apart by recursion.
  bool has_bearable_depth() {
    constexpr std::ptrdiff_t kMostDots = 1'000;
    for (std::size_t n = 1; n <= lines_.size(); ++n) {
      if (std::ranges::count(line(n), '.') <= kMostDots) continue;
      refuse_line(n);
      return false;
    }
    return true;
  }

  // What is wrong is reported line by line, as far as lines are wrong by themselves.
  toml::table parsed() {
    constexpr int kMostProblems = 20;
    for (int problems = 0; problems < kMostProblems; ++problems) {
      toml::parse_result result = toml::parse(joined());
      if (result) return std::move(result).table();
      const std::size_t number =
          std::clamp<std::size_t>(result.error().source().begin.line, 1, lines_.size());
      const bool is_twice =
          result.error().description().find("cannot redefine") != std::string_view::npos;
      if (is_twice) {
        refuse(Code::FieldDuplicate, number,
               fmt::format("\"{}\" is there twice", key_on(number).substr(0, 60)),
               "keep one of them; the whole file is refused");
      } else {
        refuse_line(number);
      }
      if (!is_twice && toml::parse(in_ascii(line(number)))) break;
      lines_[number - 1] = {};
    }
    return {};
  }

  // All keys and words are ASCII, and toml++ 3.3 reads "å" outside of quotes as undefined
  // behaviour.
  static std::string in_ascii(std::string_view text) {
    std::string ascii(text);
    std::ranges::replace_if(
        ascii, [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '?');
    return ascii;
  }

  std::string joined() const {
    std::string text;
    for (const std::string_view one : lines_) text.append(in_ascii(one)) += '\n';
    return text;
  }

  // "a.b" of "a.b = 1" and of "[a.b]".
  std::string_view key_on(std::size_t number) const {
    std::string_view text = line(number);
    text.remove_prefix(std::min(text.find_first_not_of(" \t["), text.size()));
    text = text.substr(0, text.find_first_of("=]"));
    return text.substr(0, text.find_last_not_of(" \t") + 1);
  }

  // NOLINTNEXTLINE(misc-no-recursion): bounded by kDeepestSetting
  void take(const toml::table& table, const std::string& before, int depth) {
    if (depth > kDeepestSetting) return;
    for (const auto& [key, value] : table) {
      const std::string path = setting_path(before, key.str());
      if (const toml::table* inner = value.as_table()) {
        take(*inner, path, depth + 1);
        continue;
      }
      const toml::source_position& at = key.source().begin;
      SourceLocation where = start_of(at.line);
      if (table.is_inline()) where.column = static_cast<int>(at.column);
      BottlerocketSetting setting{path, SettingKind::Other, {}, std::move(where)};
      if (const auto* text = value.as_string()) {
        setting.kind = SettingKind::Text;
        setting.value = text->get();
      } else if (const auto* whole = value.as_integer()) {
        setting.kind = SettingKind::Whole;
        setting.value = std::to_string(whole->get());
      } else if (const auto* truth = value.as_boolean()) {
        setting.kind = SettingKind::Truth;
        setting.value = truth->get() ? "true" : "false";
      }
      settings_.push_back(std::move(setting));
    }
  }

  Context& context_;
  const SourceText& source_;
  std::vector<std::string_view> lines_;
  std::vector<BottlerocketSetting> settings_;
};

// eksctl writes YAML values as TOML values of the same type.
SettingKind kind_of(const Node& value) {
  switch (value.kind) {
    case Node::Kind::Boolean:
      return SettingKind::Truth;
    case Node::Kind::Integer:
      return SettingKind::Whole;
    case Node::Kind::Text:
      return SettingKind::Text;
    default:
      return SettingKind::Other;
  }
}

// NOLINTNEXTLINE(misc-no-recursion): bounded by kDeepestSetting
void append_settings(std::vector<BottlerocketSetting>& settings, const Node& mapping,
                     const std::string& before, int depth) {
  for (const Entry& entry : mapping.entries) {
    if (entry.value == nullptr) continue;
    std::string path = setting_path(before, entry.key);
    if (!is_map(entry.value.get())) {
      settings.push_back(
          {std::move(path), kind_of(*entry.value), entry.value->text, entry.key_where});
    } else if (depth < kDeepestSetting) {
      append_settings(settings, *entry.value, path, depth + 1);
    }
  }
}

constexpr std::array<std::string_view, 7> kModels = {"a100.40gb",      "a100.80gb",  "h100.80gb",
                                                     "h200.141gb",     "b200.180gb", "b300.269gb",
                                                     "rtxpro6000.96gb"};
constexpr std::string_view kProfiles = "mig.profile.";

struct KnownSetting {
  std::string_view key;  // below kubelet-device-plugins.nvidia
  SettingKind kind;
  std::string_view words;  // with spaces around each; "" any
};
constexpr std::array kPluginSettings = {
    KnownSetting{"pass-device-specs", SettingKind::Truth, ""},
    KnownSetting{"device-id-strategy", SettingKind::Text, " index uuid "},
    KnownSetting{"device-list-strategy", SettingKind::Text, " volume-mounts envvar cdi-cri "},
    KnownSetting{"device-sharing-strategy", SettingKind::Text, " none time-slicing mps "},
    KnownSetting{"device-partitioning-strategy", SettingKind::Text, " none mig "},
    KnownSetting{"time-slicing.replicas", SettingKind::Whole, ""},
    KnownSetting{"time-slicing.rename-by-default", SettingKind::Truth, ""},
    KnownSetting{"time-slicing.fail-requests-greater-than-one", SettingKind::Truth, ""},
    KnownSetting{"mps.replicas", SettingKind::Whole, ""},
    KnownSetting{"mps.rename-by-default", SettingKind::Truth, ""},
};

std::string_view form_of(SettingKind kind) {
  return kind == SettingKind::Truth   ? "true or false, without quotes"
         : kind == SettingKind::Whole ? "a whole number without quotes"
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
    report(context_, code, where, std::move(message), std::move(help));
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
      if (key == "device-list-strategy" && setting.kind == SettingKind::Other) return;
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
    const auto near = nearest_name(key, keys);
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
    if (setting.kind != SettingKind::Text) {
      tell(Code::FieldType, setting.where,
           fmt::format("the profile of {} is {}", model.substr(0, 40), form_of(SettingKind::Text)),
           "\"1g.5gb\", or the number of instances: \"7\"");
    }
    group_.bottlerocket_mig.push_back({model, setting.value, setting.where, setting.where});
    if (std::ranges::find(kModels, std::string_view(model)) != kModels.end()) return;
    const auto near = nearest_name(model, kModels);
    tell(Code::BottlerocketMig, setting.where,
         fmt::format("Bottlerocket knows no GPU model {}", model.substr(0, 40)),
         near ? fmt::format("did you mean {}?", *near)
              : std::string("one of a100.40gb, a100.80gb, h100.80gb, h200.141gb, ..."));
  }

  const BottlerocketSetting* find(std::string_view key) const {
    return find_if_or_null(settings_, [&](const BottlerocketSetting& setting) {
      return setting.path.starts_with(kBottlerocketPlugin) &&
             std::string_view(setting.path).substr(kBottlerocketPlugin.size()) == key;
    });
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
    config.resources.push_back({std::string(kGpuResource), std::min(count, kMostReplicas),
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

void read_bottlerocket(Context& context, const SourceText& toml, NodeGroupFile& group) {
  group.is_bottlerocket = true;
  const std::vector<BottlerocketSetting> settings = UserData(context, toml).settings();
  BottlerocketReader(context, settings, group).read();
}

void read_bottlerocket(Context& context, const Node* settings, NodeGroupFile& group) {
  group.is_bottlerocket = true;
  std::vector<BottlerocketSetting> all;
  if (is_map(settings)) append_settings(all, *settings, "", 0);
  BottlerocketReader(context, all, group).read();
}

}  // namespace slicewise::scenarios::manifests
