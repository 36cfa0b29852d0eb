#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/models/execution_law.hpp"

#include "catalogue_listing.hpp"

namespace slicewise::reports {
namespace {

using models::GpuModel;
using nlohmann::json;

// Instance families that carry the GPU, in catalogue order.
std::vector<std::string> families_with(const models::Catalogue& catalogue, const GpuModel& gpu) {
  std::vector<std::string> families;
  for (const models::InstanceType& type : catalogue.instances) {
    if (type.gpu_model == gpu.name && std::ranges::find(families, type.family) == families.end()) {
      families.push_back(type.family);
    }
  }
  return families;
}

bool unverified(const GpuModel& gpu, const std::string& figure) {
  return std::ranges::find(gpu.unverified, figure) != gpu.unverified.end();
}

json gpu_item(const GpuModel& gpu, const std::vector<std::string>& families) {
  json item = {{"name", gpu.name},
               {"aliases", gpu.aliases},
               {"architecture", gpu.architecture},
               {"computeCapability", gpu.compute_capability},
               {"smCount", gpu.sm_count},
               {"registerFileBytesPerSm", gpu.register_file_per_sm.count},
               {"sharedMemoryBytesPerSm", gpu.shared_memory_per_sm.count},
               {"memoryBandwidthBytesPerSecond", gpu.memory_bandwidth_bytes_per_second},
               {"memoryTotalBytes", gpu.memory_total.count},
               {"nvlinkLinks", gpu.nvlink_links},
               {"nvlinkBytesPerSecond", gpu.nvlink_gbytes_per_second * 1e9},
               {"tdpWatts", gpu.tdp_watts},
               {"supportsMig", gpu.supports_mig},
               {"mpsMaxClients", gpu.mps_max_clients},
               {"contextStateBytes", models::context_state(gpu).count},
               {"contextMemoryBytes", models::context_memory(gpu).bytes.count},
               {"contextMemoryMeasured", models::context_memory(gpu).measured},
               {"timeSliceSeconds", static_cast<double>(gpu.time_slice.ns) / 1e9},
               {"switchCostSeconds", static_cast<double>(models::usual_switch_cost(gpu).ns) / 1e9},
               {"instanceFamilies", families}};
  if (!gpu.kubernetes_product.empty()) item["kubernetesProduct"] = gpu.kubernetes_product;
  if (gpu.l2_cache) item["l2CacheBytes"] = gpu.l2_cache->count;
  if (gpu.memory_usable) item["memoryUsableBytes"] = gpu.memory_usable->count;
  if (gpu.fp32_tflops) item["fp32FlopsPerSecond"] = *gpu.fp32_tflops * 1e12;
  if (gpu.fp16_tensor_tflops) item["fp16TensorFlopsPerSecond"] = *gpu.fp16_tensor_tflops * 1e12;
  if (!gpu.unverified.empty()) item["unverified"] = gpu.unverified;
  for (const models::Source& source : gpu.sources) {
    item["sources"].push_back({{"text", source.text}, {"date", source.date}});
  }
  return item;
}

std::vector<std::string> gpu_model_cells(const GpuModel& gpu,
                                         const std::vector<std::string>& families) {
  const auto marked = [&](const std::string& cell, const char* figure) {
    return cell + (unverified(gpu, figure) ? "?" : "");
  };
  const models::ContextMemory context = models::context_memory(gpu);
  return {gpu.name,
          fmt::format("{}", fmt::join(gpu.aliases, ", ")),
          gpu.architecture,
          marked(std::to_string(gpu.sm_count), "sm_count"),
          memory_cell(gpu.memory_total),
          number_cell(gpu.memory_bandwidth_bytes_per_second / 1e9, 0),
          number_cell(gpu.fp32_tflops, 1),
          number_cell(gpu.fp16_tensor_tflops, 0),
          gpu.supports_mig ? "yes" : "no",
          number_cell(to_seconds(models::usual_switch_cost(gpu)) * 1e6, 0),
          fmt::format("{}", fmt::join(families, ", ")),
          gpu.compute_capability,
          memory_cell(gpu.memory_usable),
          gpu.l2_cache ? marked(memory_cell(gpu.l2_cache), "l2_cache") : "-",
          memory_cell(context.bytes) + (context.measured ? "" : "*"),
          number_cell(to_seconds(gpu.time_slice) * 1e6, 0),
          gpu.nvlink_links == 0 ? "none" : number_cell(gpu.nvlink_gbytes_per_second, 0) + " GB/s",
          std::to_string(gpu.tdp_watts),
          std::to_string(gpu.mps_max_clients),
          gpu.kubernetes_product.empty() ? "-" : gpu.kubernetes_product};
}

std::vector<std::string> gpu_footnotes(bool wide) {
  std::vector<std::string> notes = {
      "MEMORY as nvidia-smi prints it; FP32 and FP16 (dense tensor) in TFLOPS; SWITCH-US: cost of "
      "a time-slice switch in microseconds, measured on H200, else by a formula that measurements "
      "confirm on A100 only; ? no document confirms the figure; - not published."};
  if (wide) {
    notes.emplace_back(
        "USABLE: what CUDA reports; CONTEXT: memory per CUDA process, * estimated; TURN-US: the "
        "driver's default time slice in microseconds. Sources: -o json.");
  }
  return notes;
}

}  // namespace

Expected<std::string> list_gpus(const models::Catalogue& catalogue, const std::string& name_filter,
                                ListFormat format, const TextStyle& style) {
  const GpuModel* wanted = name_filter.empty() ? nullptr : catalogue.find_gpu(name_filter);
  if (!name_filter.empty() && wanted == nullptr) {
    return tl::unexpected(Diagnostics{unknown_gpu(catalogue, name_filter)});
  }
  const bool wide = format == ListFormat::Wide;
  Listing listing;
  listing.kind = "GpuList";
  listing.name_key = "name";
  listing.csv_header =
      "name,aliases,architecture,computeCapability,smCount,memoryTotalBytes,"
      "memoryUsableBytes,memoryBandwidthBytesPerSecond,l2CacheBytes,fp32FlopsPerSecond,"
      "fp16TensorFlopsPerSecond,supportsMig,mpsMaxClients,timeSliceSeconds,"
      "switchCostSeconds,contextStateBytes,contextMemoryBytes,nvlinkLinks,"
      "nvlinkBytesPerSecond,tdpWatts,kubernetesProduct,instanceFamilies,unverified";
  listing.columns = {{"NAME", false, 0},         {"ALIASES", false, 4},
                     {"ARCHITECTURE", false, 5}, {"SMS", true, 1},
                     {"MEMORY", true, 0},        {"GB/S", true, 1},
                     {"FP32", true, 2},          {"FP16", true, 3},
                     {"MIG", false, 0},          {"SWITCH-US", true, 2},
                     {"INSTANCES", false, 0},    {"CC", false, 0},
                     {"USABLE", true, 0},        {"L2", true, 0},
                     {"CONTEXT", true, 0},       {"TURN-US", true, 0},
                     {"NVLINK", true, 0},        {"WATTS", true, 0},
                     {"MPS-CLIENTS", true, 0},   {"PRODUCT-LABEL", false, 0}};
  listing.wide_columns = 9;
  listing.footnotes = gpu_footnotes(wide);
  for (const GpuModel& gpu : catalogue.gpus) {
    if (wanted != nullptr && &gpu != wanted) continue;
    const std::vector<std::string> families = families_with(catalogue, gpu);
    listing.items.push_back(gpu_item(gpu, families));
    listing.rows.push_back(gpu_model_cells(gpu, families));
  }
  return render(listing, format, style);
}

}  // namespace slicewise::reports
