#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "slicewise/reports/export.hpp"
#include "slicewise/scenarios/scenario.hpp"

#include "plugin_config.hpp"

// Blocks of text inside a YAML file. A block is lines that each end in a newline.
namespace slicewise::reports {

// Stands in files for the cluster's name where nobody gives it.
inline constexpr std::string_view kClusterPlaceholder = "${CLUSTER_NAME}";
inline std::string cluster_name(const ExportOptions& options) {
  return options.cluster.empty() ? std::string(kClusterPlaceholder) : options.cluster;
}

// `block`, each line moved right.
std::string indented(std::string_view block, int spaces);

// `block`, each line behind "# ".
std::string commented(std::string_view block);

// One paragraph as comment lines of at most 100 columns.
std::string comment(std::string_view paragraph, int indent = 0);

// A file of heads/, filled in, as comment lines: of it each line is a paragraph, but for those that
// begin with a blank, which are commands, and with "#", which are comment lines already.
std::string head(std::string_view text,
                 std::initializer_list<std::pair<std::string_view, std::string_view>> values);

// The comments around an exported plugin configuration: what it is for, how to roll it out and
// back, and what to expect. Every function returns comment lines.

// Where this chart generation is installed.
struct Release {
  std::string name = "nvdp";
  std::string namespace_name;
  std::string chart_version;
  bool is_there = false;  // somebody's, whose values stay
};

// The release that the commands install: chart 0.14 goes where the AWS demo put it, so that an
// upgrade replaces the demo's.
Release plugin_release(const PluginPlan& plan, const ExportOptions& options);

// Name of the DaemonSet that the chart renders for the release.
std::string plugin_daemonset(const Release& release);

// Which variant and node pools the file is for, and on which nodes it may be installed.
std::string title_comment(std::string_view what, const scenarios::Scenario& scenario,
                          const PluginPlan& plan);

// Which nodes get this entry, what renameByDefault means for them and when to choose the other.
std::string config_comment(const NamedConfig& config, const PluginPlan& plan, int indent);

std::string gfd_comment(const PluginPlan& plan);

std::string helm_repo_comment();
// Labels that tell nodes apart; "" when one config serves all.
std::string label_comment(const PluginPlan& plan);
std::string running_pods_comment();
std::string rollback_comment(const Release& release, const PluginPlan& plan);

// `kubectl describe node` of each pool once the plugin has registered.
std::string expected_node_comment(const PluginPlan& plan);

// The same of one pool, as plain lines; without a chart there is no GPU Feature Discovery, either.
std::string expected_node_text(const PoolTarget& target, std::optional<int> chart_minor);

std::string pod_patch_comment(const scenarios::Scenario& scenario);

}  // namespace slicewise::reports
