#include <nlohmann/json.hpp>

#include "catalog_fields.hpp"
#include "catalog_readers.hpp"

namespace slicewise::models {
namespace {

void read_gpu_of_instance(CatalogFields gpu, const SourceTable& sources, InstanceType& type) {
  type.gpu_model = gpu.text("model");
  type.gpu_count = gpu.small_integer("count");
  type.gpu_fraction = gpu.maybe_number("fraction").value_or(1);
  type.gpu_memory = mebibytes(gpu.integer("memoryMib"));
  if (gpu.has("memorySource")) sources.find(gpu.text("memorySource"));
  gpu.done();
}

void read_allocatable(CatalogFields allocatable, const SourceTable& sources, InstanceType& type) {
  const std::string memory_source = allocatable.text("memorySource");
  sources.find(memory_source);
  type.allocatable_cpu = {allocatable.integer("cpuMillicores")};
  type.allocatable_memory = mebibytes(allocatable.integer("memoryMib"));
  type.allocatable_memory_measured = memory_source == "measured";
  allocatable.done();
}

InstanceType read_instance(CatalogFields fields, const SourceTable& sources,
                           const std::string& usual_source) {
  InstanceType type;
  type.name = fields.text("name");
  type.family = fields.text("family");
  type.retired_on = fields.text_or_empty("retiredOn");
  type.note = fields.text_or_empty("note");
  type.vcpus = fields.small_integer("vcpus");
  type.memory = mebibytes(fields.integer("memoryMib"));
  read_gpu_of_instance(fields.object("gpu"), sources, type);
  read_allocatable(fields.object("allocatable"), sources, type);
  type.max_pods = fields.small_integer("maxPods");
  type.network_gbps = fields.number("networkGbps");
  type.local_nvme_gb = fields.small_integer("localNvmeGb");
  type.interconnect = fields.text("interconnect");
  type.source = sources.find(fields.has("source") ? fields.text("source") : usual_source);
  fields.done();
  return type;
}

}  // namespace

std::vector<InstanceType> read_instances(std::string_view json) {
  const auto document = nlohmann::json::parse(json);
  CatalogFields file(document, "instances.json");
  const SourceTable sources(file);
  const auto figure_sources = file.named_texts("figureSources");
  for (const auto& [figure, source] : figure_sources) sources.find(source);
  std::vector<InstanceType> types;
  for (CatalogFields& fields : file.objects("instances")) {
    types.push_back(read_instance(fields, sources, figure_sources.at("vcpus")));
  }
  file.done();
  return types;
}

}  // namespace slicewise::models
