#include <nlohmann/json.hpp>

#include "catalog_fields.hpp"
#include "catalog_readers.hpp"

namespace slicewise::models {
namespace {

constexpr double kBytesPerGigabyte = 1e9;

// The sources of the figures, the general one ("*") first, each once.
std::vector<Source> read_sources(CatalogFields& fields, const SourceTable& sources) {
  std::vector<Source> out;
  std::set<std::string> seen;
  for (const auto& [figure, id] : fields.named_texts("sources")) {
    if (seen.insert(id).second) out.push_back(sources.find(id));
  }
  return out;
}

GpuModel read_gpu(CatalogFields fields, const SourceTable& sources) {
  GpuModel gpu;
  gpu.name = fields.text("name");
  gpu.aliases = fields.texts("aliases");
  gpu.architecture = fields.text("architecture");
  gpu.compute_capability = fields.text("computeCapability");
  gpu.kubernetes_product = fields.text_or_empty("kubernetesProduct");
  gpu.sm_count = fields.small_integer("smCount");
  gpu.register_file_per_sm = {fields.integer("registerFileBytesPerSm")};
  gpu.shared_memory_per_sm = {fields.integer("sharedMemoryBytesPerSm")};
  gpu.l2_cache = fields.maybe_mebibytes("l2CacheMib");
  gpu.memory_bandwidth_bytes_per_second = fields.number("memoryBandwidthGBps") * kBytesPerGigabyte;
  gpu.memory_total = mebibytes(fields.integer("memoryTotalMib"));
  gpu.memory_usable = fields.maybe_mebibytes("memoryUsableMib");
  gpu.fp32_tflops = fields.maybe_number("fp32Tflops");
  gpu.fp16_tensor_tflops = fields.maybe_number("fp16TensorTflops");
  gpu.nvlink_links = fields.small_integer("nvlinkLinks");
  gpu.nvlink_gbytes_per_second = fields.number("nvlinkGBps");
  gpu.tdp_watts = fields.small_integer("tdpWatts");
  gpu.supports_mig = fields.flag("supportsMig");
  gpu.mps_max_clients = fields.small_integer("mpsMaxClients");
  gpu.time_slice = microseconds(fields.integer("timeSliceMicroseconds"));
  if (fields.has("unverified")) gpu.unverified = fields.texts("unverified");
  gpu.sources = read_sources(fields, sources);
  fields.done();
  return gpu;
}

}  // namespace

std::vector<GpuModel> read_gpus(std::string_view json) {
  const auto document = nlohmann::json::parse(json);
  CatalogFields file(document, "gpus.json");
  const SourceTable sources(file);
  std::vector<GpuModel> gpus;
  for (CatalogFields& fields : file.objects("gpus")) gpus.push_back(read_gpu(fields, sources));
  file.done();
  return gpus;
}

}  // namespace slicewise::models
