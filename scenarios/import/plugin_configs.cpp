#include "plugin_configs.hpp"

#include <fmt/format.h>

#include "scenario_draft.hpp"

namespace slicewise::scenarios {
namespace {

bool is_map(const Node* node) { return node != nullptr && node->kind == Node::Kind::Map; }

// Helm values are known by the keys of the charts.
bool is_values(const Node& document) {
  const Node* config = document.find("config");
  if (is_map(config) && (config->entry("map") != nullptr || config->entry("name") != nullptr)) {
    return true;
  }
  return is_map(document.find("devicePlugin")) || is_map(document.find("migManager"));
}

}  // namespace

bool PluginConfigs::add(const NodePtr& document, Diagnostics& found) {
  if (document->kind != Node::Kind::Map) return false;
  if (text_below(document.get(), {"kind"}) == "ConfigMap") {
    const Node* data = document->find("data");
    if (!is_map(data)) return false;
    const std::size_t before = configs_.size() + mig_layouts_.size();
    for (const Entry& entry : data->entries) add_text(entry.key, *entry.value, found);
    return configs_.size() + mig_layouts_.size() > before;
  }
  if (document->entry("kind") != nullptr) return false;
  if (add_entry("", *document)) return true;
  if (!is_values(*document)) return false;
  for (const Node* config :
       {document->find("config"), node_below(document.get(), {"devicePlugin", "config"}),
        node_below(document.get(), {"migManager", "config"})}) {
    const std::string chosen_key = text_below(config, {"default"});
    // That of mig-manager names a layout.
    const bool is_plugin = config != node_below(document.get(), {"migManager", "config"});
    if (!chosen_key.empty() && is_plugin) default_key_ = chosen_key;
    for (const std::string_view key : {"map", "data"}) {
      const Node* map = node_below(config, {key});
      if (!is_map(map)) continue;
      for (const Entry& entry : map->entries) add_text(entry.key, *entry.value, found);
    }
  }
  const std::string strategy = text_below(document.get(), {"mig", "strategy"});
  if (!strategy.empty()) mig_strategy_ = strategy;
  return true;
}

// A document inside a document. Its mistakes are shown by their place in the outer one.
void PluginConfigs::add_text(const std::string& key, const Node& text, Diagnostics& found) {
  if (text.kind != Node::Kind::Text) return;
  Diagnostics inner;
  const NodePtr config = read_document({key, text.text}, inner);
  for (Diagnostic& problem : inner) {
    problem.where = text.where;
    problem.message = fmt::format("{}: {}", key, problem.message);
    found.push_back(std::move(problem));
  }
  if (config == nullptr || config->kind != Node::Kind::Map) return;
  add_entry(key, *config);
}

bool PluginConfigs::add_entry(const std::string& key, const Node& config) {
  const Node* layouts = config.find("mig-configs");
  if (is_map(layouts)) {
    for (const Entry& entry : layouts->entries) mig_layouts_[entry.key] = entry.value;
    return true;
  }
  const bool is_plugin = is_map(config.find("sharing")) || is_map(config.find("flags")) ||
                         (text_below(&config, {"version"}) == "v1" && config.entries.size() == 1);
  if (!is_plugin) return false;
  configs_[key] = std::make_shared<Node>(config);
  return true;
}

// As the plugin's config manager chooses: label, default, an entry called "default", the only one.
const NodePtr* PluginConfigs::chosen(const std::string& label) const {
  for (const std::string& key : {label, default_key_, std::string("default"), std::string()}) {
    const auto found = configs_.find(key);
    if (found != configs_.end()) return &found->second;
  }
  return configs_.size() == 1 ? &configs_.begin()->second : nullptr;
}

std::string PluginConfigs::sharing_for(const std::string& config_label,
                                       const std::string& mig_label) const {
  const NodePtr* config = chosen(config_label);
  const Node* plugin = config == nullptr ? nullptr : config->get();
  const bool is_shared = is_map(node_below(plugin, {"sharing"}));
  if (!mig_label.empty() && mig_label != "all-disabled") {
    const std::string strategy = text_below(plugin, {"flags", "migStrategy"});
    const std::string& used = strategy.empty() || strategy == "none" ? mig_strategy_ : strategy;
    std::string text = fmt::format("mig: {{strategy: {}, config: {}",
                                   used == "single" ? "single" : "mixed", in_quotes(mig_label));
    const auto layout = mig_layouts_.find(mig_label);
    // Layouts called all-... are built in.
    if (layout != mig_layouts_.end() && layout->second != nullptr &&
        !mig_label.starts_with("all-")) {
      text +=
          fmt::format(", configs: {{{}: {}}}", in_quotes(mig_label), flow_text(*layout->second));
    }
    text += "}";
    return is_shared ? text + "\n    devicePlugin: " + flow_text(*plugin) : text;
  }
  return is_shared ? "devicePlugin: " + flow_text(*plugin) : std::string();
}

}  // namespace slicewise::scenarios
