#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/units.hpp"

// Devices of NVIDIA's DRA driver, which pods claim in place of resources of the device plugin.
namespace slicewise::scenarios {

// The turns that `nvidia-smi compute-policy --set-timeslice` knows.
enum class TurnInterval : std::uint8_t { Default, Short, Medium, Long };

// GpuConfig.sharing of the driver, pasted as it is.
struct ClaimSharing {
  enum class Strategy : std::uint8_t { TimeSlicing, Mps };
  Strategy strategy = Strategy::TimeSlicing;
  TurnInterval interval = TurnInterval::Default;
  std::optional<int> active_threads;  // percent of a client's SMs; absent: all
  std::optional<Bytes> memory_limit;  // of each client; absent: none
  SourceLocation where;
};

// Whether the devices are shared in the same way.
bool is_same_sharing(const ClaimSharing& a, const ClaimSharing& b);

struct ResourceClaim {
  Located<std::string> name;
  bool is_template = false;  // of each pod one; else the pods that name it share its device
  int count = 1;             // devices
  std::vector<Located<std::string>> selectors;  // in CEL, of the claim and its DeviceClass
  std::optional<ClaimSharing> sharing;
  SourceLocation where;
};

// The DeviceClasses that come with the driver, by what they select; "" for other names.
std::string_view selector_of_class(std::string_view device_class);

inline constexpr std::string_view kDraDriver = "gpu.nvidia.com";  // NVIDIA's

// What the driver publishes of a device, as far as selectors can be told about it here.
struct DraDevice {
  std::string product;             // as NVML names it, "NVIDIA A10G"
  std::string architecture;        // "Ampere"
  std::string compute_capability;  // "8.6"
  std::string profile;             // of a MIG device, "1g.5gb"; "" a whole GPU
  Bytes memory;
};

// Why nobody can tell here what a selector in CEL selects.
struct SelectorProblem {
  std::string message;
  std::string help;
  bool is_wrong = false;  // in a cluster, too: it fails there on every device
};
std::optional<SelectorProblem> selector_problem(std::string_view expression);

// REQUIRES: the expression has no problem.
bool selects(std::string_view expression, const DraDevice& device);

}  // namespace slicewise::scenarios
