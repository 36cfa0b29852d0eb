#pragma once

#include <string_view>

// The releases of NVIDIA's charts whose values and objects the exports are held to, beside the
// device plugin's, which users choose.
namespace slicewise::reports {

inline constexpr std::string_view kOperatorChart = "gpu-operator";
inline constexpr std::string_view kOperatorVersion = "v26.7.0";
inline constexpr std::string_view kDraDriverChart = "dra-driver-nvidia-gpu";
inline constexpr std::string_view kDraDriverVersion = "0.4.1";

}  // namespace slicewise::reports
