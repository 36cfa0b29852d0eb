#pragma once

#include <string>
#include <vector>

#include "slicewise/reports/export/kinds.hpp"

#include "node_settings.hpp"

// The scripts and the check list of a bundle.
namespace slicewise::reports {

struct Bundle {
  const scenarios::Scenario* scenario = nullptr;
  const ExportOptions* options = nullptr;
  std::vector<PoolNodes> nodes;
  std::string values;  // the file of Helm values, "" where the image brings the plugin
  std::string chart;   // "nvdp/nvidia-device-plugin"
  std::string repository;
  std::string version;
  std::string release;
  std::string namespace_name;
  std::string daemonset;  // to wait for, "" for the operator's, which makes its own later
  bool has_mig = false;
};

std::string apply_script(const Bundle& bundle);
std::string rollback_script(const Bundle& bundle);
std::string verify_guide(const Bundle& bundle);

}  // namespace slicewise::reports
