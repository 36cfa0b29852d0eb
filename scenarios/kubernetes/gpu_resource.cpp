#include "slicewise/scenarios/gpu_resource.hpp"

#include <algorithm>
#include <array>

#include "../text/scalars.hpp"

namespace slicewise::scenarios {
namespace {

constexpr std::string_view kNvidia = "nvidia.com/";
constexpr std::string_view kShared = ".shared";

bool take_start(std::string_view& text, std::string_view start) {
  if (!text.starts_with(start)) return false;
  text.remove_prefix(start.size());
  return true;
}

// One to four digits off the front; 0 when there are none.
int take_number(std::string_view& text) {
  int value = 0;
  for (int digits = 0; digits < 4 && !text.empty() && is_digit(text[0]); ++digits) {
    value = value * 10 + (text[0] - '0');
    text.remove_prefix(1);
  }
  return value;
}

// "1g.5gb", "1g.10gb.me", "1g.12gb-me". GPUs with four compute slices are known by their sizes:
// A30 (6 GB a slice) and RTX PRO 6000 (24 GB); all others have seven.
std::optional<GpuResource> mig_named(std::string_view profile) {
  GpuResource result{.kind = GpuResource::Kind::Mig};
  if (profile.ends_with(kShared)) {
    profile.remove_suffix(kShared.size());
    result.kind = GpuResource::Kind::MigReplica;
  }
  result.slices = take_number(profile);
  if (result.slices == 0 || !take_start(profile, "g.")) return std::nullopt;
  result.gigabytes = take_number(profile);
  if (result.gigabytes == 0 || !take_start(profile, "gb")) return std::nullopt;
  if (!profile.empty() && profile[0] != '.' && profile[0] != '-' && profile[0] != '+') {
    return std::nullopt;
  }
  const bool quarters =
      result.gigabytes == 6 * result.slices || result.gigabytes == 24 * result.slices;
  result.slices_of = quarters ? 4 : 7;
  if (result.slices > result.slices_of) return std::nullopt;
  return result;
}

}  // namespace

std::string advertised_name(std::string_view device, bool renames) {
  return std::string(device).append(renames ? kShared : "");
}

std::string_view device_name(std::string_view advertised) {
  if (advertised.ends_with(kShared)) advertised.remove_suffix(kShared.size());
  return advertised;
}

std::string mig_resource(std::string_view profile) {
  std::string name = std::string(kMigPrefix).append(profile);
  std::replace(name.begin(), name.end(), '+', '.');
  return name;
}

std::optional<GpuResource> gpu_resource(std::string_view name) {
  if (name == "k8s.amazonaws.com/vgpu") return GpuResource{.kind = GpuResource::Kind::VirtualGpu};
  if (!take_start(name, kNvidia)) return std::nullopt;
  if (name == "gpu") return GpuResource{};
  if (name == "gpu.shared") return GpuResource{.kind = GpuResource::Kind::Replica};
  if (take_start(name, "mig-")) return mig_named(name);
  if (!take_start(name, "gpu-")) return std::nullopt;
  GpuResource slice{.kind = GpuResource::Kind::MemorySlice, .gigabytes = take_number(name)};
  return slice.gigabytes > 0 && name == "gb" ? std::optional(slice) : std::nullopt;
}

std::optional<std::string> recorded_resource(std::string_view recorded) {
  if (gpu_resource(recorded)) return std::string(recorded);
  take_start(recorded, "mig-");
  if (!mig_named(recorded)) return std::nullopt;
  return std::string(kMigPrefix).append(recorded);
}

bool is_plugin_resource(std::string_view name) {
  return name == kGpuResource || name == kSharedGpuResource || name.starts_with(kMigPrefix);
}

bool is_other_accelerator(std::string_view name) {
  constexpr std::array kPrefixes = {
      "amd.com/gpu",    "aws.amazon.com/neuron", "habana.ai/",           "gpu.intel.com/",
      "google.com/tpu", "huawei.com/Ascend",     "k8s.amazonaws.com/ei", "rdma/nvidia_gpu"};
  return std::ranges::any_of(kPrefixes, [&](std::string_view p) { return name.starts_with(p); });
}

std::string resource_of_label(std::string_view sanitised) {
  std::string_view rest = sanitised;
  if (rest == "k8s_amazonaws_com_vgpu") return "k8s.amazonaws.com/vgpu";
  if (!take_start(rest, "nvidia_com_")) return std::string(sanitised);
  std::string name(kNvidia);
  if (take_start(rest, "mig_")) {
    name += "mig-";
  } else if (rest.starts_with("gpu_") && rest.size() > 4 && is_digit(rest[4])) {
    name += "gpu-";
    rest.remove_prefix(4);
  }
  for (const char c : rest) name += c == '_' ? '.' : c;
  return name;
}

}  // namespace slicewise::scenarios
