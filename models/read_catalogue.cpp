#include <nlohmann/json.hpp>

#include "catalog_fields.hpp"

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

namespace {

void check_symmetric(const CatalogFields& fields, const std::vector<std::vector<int>>& nvlinks) {
  for (std::size_t a = 0; a < nvlinks.size(); ++a) {
    if (nvlinks[a].size() != nvlinks.size()) fields.fail("nvlinks", "is not square");
    if (nvlinks[a][a] != 0) fields.fail("nvlinks", "links a GPU to itself");
  }
  for (std::size_t a = 0; a < nvlinks.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (nvlinks[a][b] != nvlinks[b][a] || nvlinks[a][b] < 0) {
        fields.fail("nvlinks", "is not a symmetric table of link counts");
      }
    }
  }
}

Interconnect read_interconnect(CatalogFields fields, const SourceTable& sources) {
  Interconnect link;
  link.name = fields.text("name");
  link.source = sources.find(fields.text("source"));
  link.switched = fields.has("switched") && fields.flag("switched");
  if (fields.has("nvlinks")) link.nvlinks = fields.integer_rows("nvlinks");
  check_symmetric(fields, link.nvlinks);
  link.pcie_gbytes_per_second = fields.maybe_number("pcieGBps").value_or(0);
  link.pcie_assumed = fields.has("pcieAssumed") && fields.flag("pcieAssumed");
  fields.done();
  return link;
}

}  // namespace

std::vector<Interconnect> read_interconnects(std::string_view json) {
  const auto document = nlohmann::json::parse(json);
  CatalogFields file(document, "interconnects.json");
  const SourceTable sources(file);
  std::vector<Interconnect> links;
  for (CatalogFields& fields : file.objects("interconnects")) {
    links.push_back(read_interconnect(fields, sources));
  }
  file.done();
  return links;
}

namespace {

// What a file lists whose figures are all of one date.
template <class Item>
std::vector<Item> read_dated(std::string_view json, const std::string& file_name,
                             const std::string& list, Item (*read)(CatalogFields)) {
  const auto document = nlohmann::json::parse(json);
  CatalogFields file(document, file_name);
  const std::string date = file.text("date");
  std::vector<Item> items;
  for (CatalogFields& fields : file.objects(list)) {
    items.push_back(read(fields));
    items.back().date = date;
  }
  file.done();
  return items;
}

std::vector<MigProfile::Placement> read_placements(CatalogFields fields) {
  const int size = fields.small_integer("size");
  std::vector<MigProfile::Placement> placements;
  for (const int start : fields.integers("starts")) placements.push_back({start, size});
  fields.done();
  return placements;
}

MigProfile read_mig_profile(CatalogFields fields) {
  MigProfile profile;
  profile.name = fields.text("name");
  profile.resource_mixed = fields.text("resourceMixed");
  profile.gi_profile_id = fields.small_integer("giProfileId");
  profile.compute_slices = fields.small_integer("computeSlices");
  profile.memory_slices = fields.small_integer("memorySlices");
  profile.sm_count = fields.maybe_integer("smCount");
  profile.memory = fields.maybe_mebibytes("memoryMib");
  profile.max_count = fields.small_integer("maxCount");
  profile.copy_engines = fields.maybe_integer("copyEngines");
  profile.nvdec = fields.maybe_integer("nvdec");
  profile.media_extensions = fields.flag("mediaExtensions");
  profile.confidence = fields.text("confidence");
  profile.note = fields.text_or_empty("note");
  profile.placements = read_placements(fields.object("placements"));
  fields.done();
  return profile;
}

MigGeometry read_geometry(CatalogFields fields) {
  MigGeometry geometry;
  geometry.gpu_model = fields.text("gpu");
  geometry.memory_slices = fields.small_integer("memorySlices");
  geometry.compute_slices = fields.small_integer("computeSlices");
  geometry.sm_total = fields.small_integer("smTotal");
  geometry.sm_usable = fields.small_integer("smUsable");
  geometry.mode_change_needs_reset = fields.flag("modeChangeNeedsReset");
  geometry.sources = fields.texts("sources");
  geometry.note = fields.text_or_empty("note");
  for (CatalogFields& profile : fields.objects("profiles")) {
    geometry.profiles.push_back(read_mig_profile(profile));
  }
  fields.done();
  return geometry;
}

}  // namespace

std::vector<MigGeometry> read_mig(std::string_view json) {
  return read_dated(json, "mig.json", "geometries", &read_geometry);
}

namespace {

std::optional<Duration> maybe_seconds(CatalogFields& fields, const std::string& name) {
  const auto value = fields.maybe_number(name);
  if (!value) return std::nullopt;
  return from_seconds(*value);
}

WorkloadProfile read_workload_profile(CatalogFields fields) {
  WorkloadProfile profile;
  profile.name = fields.text("name");
  profile.title = fields.text("title");
  profile.kind = fields.text("kind");
  profile.gpu_model = fields.text("gpu");
  profile.batch = fields.maybe_integer("batch");
  profile.precision = fields.text("precision");
  profile.items_per_step = fields.maybe_number("itemsPerStep");
  profile.throughput_per_second = fields.maybe_number("throughputPerSecond");
  profile.solo_step = fields.maybe_milliseconds("soloMs");
  profile.fixed_part = fields.maybe_milliseconds("fixedMs");
  profile.gpu_work = fields.maybe_milliseconds("workMs");
  profile.norm_p = fields.maybe_number("normP");
  profile.capacity_share = fields.maybe_number("capacityShare");
  profile.bandwidth_share = fields.maybe_number("bandwidthShare");
  profile.sensitivity = fields.maybe_number("sensitivity");
  profile.pressure = fields.maybe_number("pressure");
  profile.duty = fields.maybe_number("duty");
  profile.memory = fields.maybe_mebibytes("memoryMib");
  profile.burst = maybe_seconds(fields, "burstSeconds");
  profile.idle = maybe_seconds(fields, "idleSeconds");
  profile.solo_slice = fields.text_or_empty("soloSlice");
  profile.source = fields.text("source");
  profile.provenance = fields.named_texts("provenance");
  profile.note = fields.text_or_empty("note");
  fields.done();
  return profile;
}

}  // namespace

std::vector<WorkloadProfile> read_profiles(std::string_view json) {
  return read_dated(json, "profiles.json", "profiles", &read_workload_profile);
}

namespace {

// One cell: {"usd", "source", "rule"?} or {"unknown": id of a reason}.
void read_cell(PriceBook& book, const std::string& instance, const std::string& region,
               CatalogFields cell, const SourceTable& sources,
               const std::map<std::string, std::string>& reasons) {
  if (cell.has("unknown")) {
    const std::string reason = cell.text("unknown");
    if (!reasons.contains(reason)) cell.fail("unknown", "no reason " + reason);
    book.set_unknown_reason(instance, region, reasons.at(reason));
  } else {
    const double usd = cell.number("usd");
    if (!(usd > 0)) cell.fail("usd", "not above 0");
    Source source = sources.find(cell.text("source"));
    if (source.derived) source.text = "derived: " + cell.text("rule");
    book.set(instance, region, PurchaseOption::OnDemand, {{from_dollars(usd)}, std::move(source)});
  }
  cell.done();
}

SpotMarket read_market(CatalogFields fields, const std::string& advisor_date,
                       const std::string& median_date) {
  SpotMarket market;
  market.instance = fields.text("instance");
  market.region = fields.text("region");
  market.savings_percent = fields.maybe_integer("savingsPercent");
  market.interruption_bucket = fields.text_or_empty("interruptions");
  if (market.savings_percent) market.advisor_date = advisor_date;
  if (const auto median = fields.maybe_number("medianUsd")) {
    market.median = UsdPerHour{from_dollars(*median)};
    market.median_date = median_date;
    market.zones = fields.small_integer("zones");
  }
  fields.done();
  return market;
}

constexpr std::string_view kMedianSource =
    "median over availability zones with a real market, skypilot-catalog v8 @e385a0d3";

}  // namespace

PriceBook read_prices(std::string_view json) {
  const auto document = nlohmann::json::parse(json);
  CatalogFields file(document, "prices.json");
  const SourceTable sources(file);
  PriceBook book;
  book.set_date(file.text("date"));
  file.text("currency");
  file.texts("regions");
  const auto reasons = file.named_texts("unknownReasons");
  CatalogFields on_demand = file.object("onDemand");
  for (const std::string& instance : on_demand.names()) {
    for (auto& [region, cell] : on_demand.named_objects(instance)) {
      read_cell(book, instance, region, cell, sources, reasons);
    }
  }
  file.done();
  return book;
}

std::vector<SpotMarket> read_spot(std::string_view json) {
  const auto document = nlohmann::json::parse(json);
  CatalogFields file(document, "spot.json");
  const SourceTable sources(file);
  const auto figure_sources = file.named_texts("figureSources");
  const std::string advisor_date = sources.find(figure_sources.at("savingsPercent")).date;
  const std::string median_date = sources.find(figure_sources.at("medianUsd")).date;
  std::vector<SpotMarket> markets;
  for (CatalogFields& fields : file.objects("spot")) {
    markets.push_back(read_market(fields, advisor_date, median_date));
  }
  file.done();
  return markets;
}

std::vector<Commitment> read_commitments(std::string_view json) {
  const auto document = nlohmann::json::parse(json);
  CatalogFields file(document, "commitments.json");
  const SourceTable sources(file);
  file.texts("notFound");
  std::vector<Commitment> commitments;
  for (CatalogFields& fields : file.objects("commitments")) {
    Commitment commitment;
    commitment.instance = fields.text("instance");
    commitment.kind = fields.text("kind");
    commitment.region = fields.text("region");
    commitment.discount_percent = fields.maybe_number("discountPercent");
    if (const auto usd = fields.maybe_number("usd")) {
      commitment.usd = UsdPerHour{from_dollars(*usd)};
    }
    commitment.valid = fields.text("valid");
    commitment.note = fields.text_or_empty("note");
    commitment.source = sources.find(fields.text("source"));
    fields.done();
    commitments.push_back(std::move(commitment));
  }
  file.done();
  return commitments;
}

void add_spot_prices(PriceBook& book, const std::vector<SpotMarket>& markets) {
  for (const SpotMarket& market : markets) {
    if (market.median) {
      book.set(market.instance, market.region, PurchaseOption::Spot,
               {*market.median, {std::string(kMedianSource), market.median_date, false}});
      continue;
    }
    const auto on_demand = book.find(market.instance, market.region, PurchaseOption::OnDemand);
    if (!on_demand || !market.savings_percent) continue;
    const int paid_percent = 100 - *market.savings_percent;
    const Usd implied{on_demand->usd.per_hour.nano * paid_percent / 100};
    book.set(market.instance, market.region, PurchaseOption::Spot,
             {{implied},
              {"derived: on-demand price less the Spot Advisor's saving of " +
                   std::to_string(*market.savings_percent) + " %",
               market.advisor_date, true}});
  }
}

namespace {

LlmModel read_model(CatalogFields fields) {
  constexpr double kSecondsPerMillisecond = 1e-3;
  LlmModel model;
  model.name = fields.text("name");
  model.title = fields.text("title");
  model.gpu_model = fields.text("gpu");
  model.precision = fields.text("precision");
  model.step = {fields.number("weightsMs") * kSecondsPerMillisecond,
                fields.number("tokenMs") * kSecondsPerMillisecond,
                fields.number("kvReadMs") * kSecondsPerMillisecond,
                fields.number("overheadMs") * kSecondsPerMillisecond};
  model.weights = mebibytes(fields.integer("weightsMib"));
  model.kv_bytes_per_token = Bytes{fields.integer("kvBytesPerToken")};
  model.source = fields.text("source");
  model.provenance = fields.named_texts("provenance");
  model.note = fields.text_or_empty("note");
  fields.done();
  return model;
}

}  // namespace

std::vector<LlmModel> read_llm_models(std::string_view json) {
  return read_dated(json, "llm_models.json", "models", &read_model);
}

}  // namespace slicewise::models
