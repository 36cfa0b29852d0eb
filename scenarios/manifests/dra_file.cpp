#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "manifest_reader.hpp"

// Claims on GPUs by DRA, and metrics that objects ask for. Source of the fields:
// github.com/kubernetes-sigs/dra-driver-nvidia-gpu api/nvidia.com/resource/v1beta1.
namespace slicewise::scenarios::manifests {
namespace {

constexpr std::array<std::string_view, 3> kParameters = {"apiVersion", "kind", "sharing"};
constexpr std::array<std::string_view, 3> kDraSharing = {"strategy", "timeSlicingConfig",
                                                         "mpsConfig"};
constexpr std::array<std::string_view, 1> kTimeSlicing = {"interval"};
constexpr std::array<std::string_view, 3> kMps = {"defaultActiveThreadPercentage",
                                                  "defaultPinnedDeviceMemoryLimit",
                                                  "defaultPerDevicePinnedMemoryLimit"};

void refuse_unknown(Context& context, const Node* mapping,
                    std::span<const std::string_view> known) {
  if (!is_map(mapping)) return;
  for (const Entry& entry : mapping->entries) {
    if (std::ranges::find(known, std::string_view(entry.key)) != known.end()) continue;
    report(context, make_diagnostic(Code::DraParameterUnknown, entry.key_where,
                                    fmt::format("strict decoding error: unknown field \"{}\"",
                                                entry.key.substr(0, 60)),
                                    "the driver refuses the claim when the pod is already placed"));
  }
}

void read_parameters(Context& context, const Node& parameters, const std::string& claim,
                     std::string_view kind) {
  const std::string type = text_below(&parameters, {"kind"});
  if (type != "GpuConfig" && type != "MigDeviceConfig") return;
  refuse_unknown(context, &parameters, kParameters);
  const Node* sharing = parameters.find("sharing");
  refuse_unknown(context, sharing, kDraSharing);
  refuse_unknown(context, node_below(sharing, {"timeSlicingConfig"}), kTimeSlicing);
  refuse_unknown(context, node_below(sharing, {"mpsConfig"}), kMps);
  const Located<std::string> strategy = located_below(sharing, {"strategy"});
  if (strategy.value.empty()) return;
  context.files.dra.push_back(
      {claim, kind == "ResourceClaimTemplate", strategy.value, strategy.where});
}

// `text` with the metrics that nobody exports by default, or not on MIG.
void note_metrics(Context& context, const Node& text) {
  constexpr std::array<std::string_view, 3> kMetrics = {
      "DCGM_FI_PROF_SM_ACTIVE", "DCGM_FI_PROF_SM_OCCUPANCY", "DCGM_FI_DEV_GPU_UTIL"};
  if (text.kind != Node::Kind::Text || text.text.find("DCGM_FI_") == std::string::npos) return;
  const bool is_counter_list = text.text.find(", gauge") != std::string::npos;
  const bool by_pod =
      text.text.find("sum") != std::string::npos && text.text.find("pod") != std::string::npos;
  for (const std::string_view metric : kMetrics) {
    if (text.text.find(metric) == std::string::npos) continue;
    if (is_counter_list) {
      context.files.counters.emplace_back(metric);
    } else {
      context.files.metrics.push_back({std::string(metric), by_pod, text.where});
    }
  }
}

}  // namespace

void read_dra(Context& context, const Node& object, std::string_view kind) {
  const std::string name = text_below(&object, {"metadata", "name"});
  const Node* spec = object.find("spec");
  if (kind == "ResourceClaimTemplate") spec = node_below(spec, {"spec"});
  const Node* configs = kind == "DeviceClass" ? node_below(spec, {"config"})
                                              : node_below(spec, {"devices", "config"});
  if (!is_list(configs)) return;
  for (const NodePtr& config : configs->items) {
    const Node* opaque = node_below(config.get(), {"opaque"});
    const Node* parameters = node_below(opaque, {"parameters"});
    if (text_below(opaque, {"driver"}) != "gpu.nvidia.com" || !is_map(parameters)) continue;
    read_parameters(context, *parameters, name, kind);
  }
}

// NOLINTNEXTLINE(misc-no-recursion): the reader bounds the depth
void read_metrics(Context& context, const Node& document) {
  note_metrics(context, document);
  for (const Entry& entry : document.entries) {
    if (entry.value != nullptr) read_metrics(context, *entry.value);
  }
  for (const NodePtr& item : document.items) read_metrics(context, *item);
}

}  // namespace slicewise::scenarios::manifests
