#pragma once

#include <string>
#include <string_view>

#include "slicewise/reports/export.hpp"

// The Helm chart that brings device plugin and settings onto nodes whose image has neither.
namespace slicewise::reports {

struct Installer {
  std::string values;  // the file of Helm values, "" where the image brings the plugin
  std::string repository;
  std::string url;  // of the repository
  std::string chart;
  std::string version;
  std::string release;
  std::string namespace_name;
  std::string daemonset;        // to wait for, "" for the operator's, which makes its own later
  bool is_there = false;        // an operator that somebody else has installed, and keeps in place
  std::string config_map = {};  // of its plugin, with its namespace, where no release is changed
  bool keeps_values = false;    // of a release of the plugin's chart that somebody has installed
};

// Whether some pool is cut. MIG layouts need mig-manager, which comes with the GPU Operator and its
// own device plugin.
bool has_mig(const scenarios::Scenario& scenario);

// Whether the operator runs the plugin: beside the plugin's own chart a node would have two.
bool needs_operator(const scenarios::Scenario& scenario, const ExportOptions& options);

// Whether configs are added to a ConfigMap that the operator's plugin reads and somebody keeps.
// Layouts of MIG are in values of its release, which then is changed by hand.
bool extends_configs(const scenarios::Scenario& scenario, const ExportOptions& options);

// These configs.
RenderExport render_operator_configs;

// Whether the files have a release of it, which is somebody else's where it is there.
bool keeps_release(const Installer& plugin);

// Lines of apply.sh and rollback.sh where the operator is changed or a new one installed: what is
// found before anything is done, the release, and how to take it back. Most of its values are for
// all nodes, also for the `other_nodes` (of a label selector) of other pools. Of all charts: that
// they can be had, before anything is changed. Of others: whether a release has values to keep,
// what is remembered of it before it is changed, and whether there is anything to take back.
std::string changed_operator_check(std::string_view other_nodes, bool cuts);
std::string new_operator_check(std::string_view help);
std::string operator_fetch();
std::string operator_release();
std::string chart_fetch(const Installer& plugin);
std::string release_check(const Installer& plugin);
std::string chart_memory(std::string_view release, std::string_view name_space);
std::string chart_rollback(std::string_view release, std::string_view name_space);
// ... where its plugin reads a ConfigMap that somebody keeps: `configs` are keys of it.
std::string config_map_check(const Installer& plugin);
std::string config_map_patch(const std::string& config_map, std::string_view file);
std::string config_map_rollback(const Installer& plugin, std::string_view configs);
// Device plugins that are there: what stops apply.sh, what goes (and comes back at once where a
// line fails until the end of the removal) and what rollback.sh brings back.
std::string plugin_check(const Installer& plugin, const scenarios::GpuSoftware& there);
std::string plugin_removal(const scenarios::GpuSoftware& there);
std::string plugin_removal_end(const scenarios::GpuSoftware& there);
std::string plugin_return(const scenarios::GpuSoftware& there);
std::string_view operator_rollback_check();
std::string_view applied_check();
std::string_view operator_rollback();

Installer installer_of(const scenarios::Scenario& scenario, const models::Catalogue& catalogue,
                       const ExportOptions& options);

// The releases of NVIDIA's charts whose values and objects the exports are held to, beside the
// device plugin's, which users choose.

inline constexpr std::string_view kOperatorChart = "gpu-operator";
inline constexpr std::string_view kOperatorVersion = "v26.7.0";
inline constexpr std::string_view kDraDriverChart = "dra-driver-nvidia-gpu";
inline constexpr std::string_view kDraDriverVersion = "0.4.1";

}  // namespace slicewise::reports
