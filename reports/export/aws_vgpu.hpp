#pragma once

#include "slicewise/scenarios/scenario.hpp"

// AWS's virtual GPU device plugin in place of NVIDIA's.
namespace slicewise::reports {

inline constexpr std::string_view kAwsVgpuDaemon = "aws-virtual-gpu-device-plugin-daemonset";
inline constexpr std::string_view kAwsVgpuFile = "aws-vgpu.yaml";

// Whether all pools of the scenario are shared by it.
bool is_by_aws_vgpu(const scenarios::Scenario& scenario);

}  // namespace slicewise::reports
