#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "slicewise/nearest_name.hpp"

#include "catalog_fields.hpp"
#include "catalog_value.hpp"
#include "sm_capacity.hpp"

namespace slicewise::models {
namespace {

constexpr double kBytesPerGigabyte = 1e9;

// The sources of the figures, the general one ("*") first, each once.
std::vector<Source> read_sources(CatalogFields& fields, const SourceTable& sources) {
  std::vector<Source> out;
  std::set<std::string> seen;
  if (is_users(fields) && !fields.has("sources")) return {fields.reading()->usual_source};
  for (const auto& [figure, id] : fields.named_texts("sources")) {
    if (seen.insert(id).second) out.push_back(sources.find(id));
  }
  return out;
}

bool is_capability(std::string_view text) {
  const bool is_short = text.size() == 3 || text.size() == 4;
  const auto digits = std::ranges::count_if(text, [](char c) { return c >= '0' && c <= '9'; });
  return is_short && text.front() != '0' && text[text.size() - 2] == '.' &&
         digits + 1 == std::ssize(text);
}

// "8.9": its first number is looked at.
std::string read_capability(CatalogFields& fields) {
  std::string text = fields.text("computeCapability");
  if (!text.empty() && !is_capability(text)) {
    fields.fail("computeCapability", "is no compute capability", Code::FieldType,
                "write it like computeCapability: \"8.9\"");
  }
  return text;
}

// What a user's file may leave to the compute capability.
void read_sm_capacity(CatalogFields& fields, GpuModel& gpu) {
  const auto usual = sm_capacity(gpu.compute_capability);
  const auto read = [&](const char* name, Bytes SmCapacity::*of) {
    const bool given = fields.has(name);
    if (!given && is_users(fields) && usual) return *usual.*of;
    if (!given && is_users(fields) && !gpu.compute_capability.empty()) {
      fields.fail(name,
                  fmt::format("is missing, and what compute capability {} has is not known",
                              gpu.compute_capability),
                  Code::FieldMissing, "slicewise explain catalogue says where it is found");
      return Bytes{1};
    }
    return Bytes{fields.integer(name, 1)};
  };
  gpu.register_file_per_sm = read("registerFileBytesPerSm", &SmCapacity::register_file);
  gpu.shared_memory_per_sm = read("sharedMemoryBytesPerSm", &SmCapacity::shared_memory);
}

}  // namespace

// Far from what there is, and caught where somebody takes one unit for another.
constexpr std::int64_t kLeastMemoryMib = 256;
constexpr std::int64_t kMostMemoryMib = 4 << 20;
constexpr double kLeastBandwidthGbps = 10;
constexpr double kMostBandwidthGbps = 100'000;

GpuModel read_gpu(CatalogFields fields, const SourceTable& sources) {
  GpuModel gpu;
  gpu.name = fields.text("name");
  gpu.aliases = texts_or_none(fields, "aliases");
  gpu.architecture = text_or_empty(fields, "architecture");
  gpu.compute_capability = read_capability(fields);
  gpu.kubernetes_product = text_or_empty(fields, "kubernetesProduct");
  gpu.sm_count = small_integer(fields, "smCount", 1);
  read_sm_capacity(fields, gpu);
  gpu.l2_cache = maybe_mebibytes(fields, "l2CacheMib");
  gpu.memory_bandwidth_bytes_per_second =
      fields.number("memoryBandwidthGBps", kLeastBandwidthGbps, kMostBandwidthGbps) *
      kBytesPerGigabyte;
  gpu.memory_total = mebibytes(fields.integer("memoryTotalMib", kLeastMemoryMib, kMostMemoryMib));
  gpu.memory_usable = maybe_mebibytes(fields, "memoryUsableMib");
  gpu.fp32_tflops = maybe_number(fields, "fp32Tflops");
  gpu.fp16_tensor_tflops = maybe_number(fields, "fp16TensorTflops");
  gpu.nvlink_links = maybe_integer(fields, "nvlinkLinks").value_or(0);
  gpu.nvlink_gbytes_per_second = maybe_number(fields, "nvlinkGBps").value_or(0);
  gpu.tdp_watts = maybe_integer(fields, "tdpWatts").value_or(0);
  gpu.supports_mig = flag_or_false(fields, "supportsMig");
  gpu.mps_max_clients = maybe_integer(fields, "mpsMaxClients", 1).value_or(gpu.mps_max_clients);
  if (const auto turn = maybe_integer(fields, "timeSliceMicroseconds", 1)) {
    gpu.time_slice = microseconds(*turn);
  }
  if (const auto cost = maybe_integer(fields, "switchMicroseconds", 0)) {
    gpu.switch_cost = microseconds(*cost);
  }
  gpu.context_memory = maybe_mebibytes(fields, "contextMemoryMib");
  gpu.unverified = texts_or_none(fields, "unverified");
  gpu.sources = read_sources(fields, sources);
  fields.done();
  return gpu;
}

std::vector<GpuModel> read_gpus(std::string_view json) {
  const CatalogDocument document = read_json(json);
  CatalogFields file(document.root, "gpus.json");
  const SourceTable sources(file);
  std::vector<GpuModel> gpus;
  for (CatalogFields& fields : file.objects("gpus")) gpus.push_back(read_gpu(fields, sources));
  file.done();
  return gpus;
}

namespace {

void read_gpu_of_instance(CatalogFields gpu, const SourceTable& sources, InstanceType& type) {
  type.gpu_model = gpu.text("model");
  type.gpu_count = static_cast<int>(gpu.integer("count", 1, kMostGpusOfNode));
  type.gpu_fraction = gpu.has("fraction") ? std::min(1.0, gpu.positive("fraction")) : 1;
  // Absent in a user's file: what the model has.
  if (!is_users(gpu) || gpu.has("memoryMib")) {
    type.gpu_memory = mebibytes(gpu.integer("memoryMib", 1));
  }
  if (gpu.has("memorySource")) sources.find(gpu.text("memorySource"));
  type.ec2_gpu_name = gpu.has("ec2Name")
                          ? gpu.text("ec2Name")
                          : lower_case(type.gpu_model.substr(0, type.gpu_model.find('-')));
  type.ec2_gpu_memory = maybe_mebibytes(gpu, "ec2MemoryMib").value_or(type.gpu_memory);
  gpu.done();
}

void read_allocatable(CatalogFields allocatable, const SourceTable& sources, InstanceType& type) {
  const std::string memory_source = text_or_empty(allocatable, "memorySource");
  if (!memory_source.empty()) sources.find(memory_source);
  type.allocatable_cpu = {allocatable.integer("cpuMillicores", 1)};
  type.allocatable_memory = mebibytes(allocatable.integer("memoryMib", 1));
  type.allocatable_memory_measured = memory_source == "measured" || is_users(allocatable);
  allocatable.done();
}

// What kubelet offers to pods where EKS sets it up: nodeadm reserves 6 % of the first core, 1 % of
// the second, 0.5 % of the next two and 0.25 % of the others, 11 MiB a pod and 255 MiB, and evicts
// below 100 MiB.
void reserve_as_eks(InstanceType& type) {
  constexpr std::int64_t kReservedMib = 255 + 100;
  std::int64_t tenths = 0;  // of a millicore
  for (int core = 0; core < type.vcpus; ++core) {
    tenths += core == 0 ? 600 : core == 1 ? 100 : core < 4 ? 50 : 25;
  }
  type.allocatable_cpu = {std::max<std::int64_t>(1, (type.vcpus * 10'000LL - tenths) / 10)};
  const Bytes reserved = mebibytes(kReservedMib + 11LL * type.max_pods);
  type.allocatable_memory_measured = true;  // nothing is estimated but by that rule
  type.allocatable_memory =
      type.memory.count > reserved.count ? Bytes{type.memory.count - reserved.count} : mebibytes(1);
}

}  // namespace

InstanceType read_instance(CatalogFields fields, const SourceTable& sources,
                           const std::string& usual_source) {
  constexpr int kKubeletsMaxPods = 110;
  InstanceType type;
  type.name = fields.text("name");
  type.family =
      fields.has("family") ? fields.text("family") : type.name.substr(0, type.name.find('.'));
  type.retired_on = text_or_empty(fields, "retiredOn");
  type.note = text_or_empty(fields, "note");
  if (fields.has("architecture")) type.architecture = fields.text("architecture");
  type.vcpus = small_integer(fields, "vcpus", 1);
  type.memory = mebibytes(fields.integer("memoryMib", 1));
  read_gpu_of_instance(fields.object("gpu"), sources, type);
  type.max_pods = maybe_integer(fields, "maxPods", 1).value_or(kKubeletsMaxPods);
  type.efa_interfaces = maybe_integer(fields, "efaInterfaces", 0);
  if (fields.has("allocatable")) {
    read_allocatable(fields.object("allocatable"), sources, type);
  } else {
    reserve_as_eks(type);
  }
  type.network_gbps = maybe_number(fields, "networkGbps").value_or(0);
  type.local_nvme_gb = maybe_integer(fields, "localNvmeGb").value_or(0);
  type.interconnect = fields.has("interconnect") ? fields.text("interconnect")
                      : type.gpu_count == 1      ? "none (single GPU)"
                                                 : "PCIe only";
  type.source =
      is_users(fields) || fields.has("source") ? sources.of(fields) : sources.find(usual_source);
  fields.done();
  return type;
}

std::vector<InstanceType> read_instances(std::string_view json) {
  const CatalogDocument document = read_json(json);
  CatalogFields file(document.root, "instances.json");
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
    if (nvlinks[a].size() != nvlinks.size()) return fields.fail("nvlinks", "is not square");
    if (nvlinks[a][a] != 0) fields.fail("nvlinks", "links a GPU to itself");
  }
  for (std::size_t a = 0; a < nvlinks.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (nvlinks[a][b] != nvlinks[b][a] || nvlinks[a][b] < 0) {
        fields.fail("nvlinks", "is not a symmetric table of link counts");
        return;
      }
    }
  }
}

}  // namespace

Interconnect read_interconnect(CatalogFields fields, const SourceTable& sources) {
  Interconnect link;
  link.name = fields.text("name");
  link.source = sources.of(fields);
  link.switched = flag_or_false(fields, "switched");
  if (fields.has("nvlinks")) link.nvlinks = fields.integer_rows("nvlinks");
  check_symmetric(fields, link.nvlinks);
  link.pcie_gbytes_per_second = maybe_number(fields, "pcieGBps").value_or(0);
  link.pcie_assumed = flag_or_false(fields, "pcieAssumed");
  fields.done();
  return link;
}

std::vector<Interconnect> read_interconnects(std::string_view json) {
  const CatalogDocument document = read_json(json);
  CatalogFields file(document.root, "interconnects.json");
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
  const CatalogDocument document = read_json(json);
  CatalogFields file(document.root, file_name);
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
  const int size = small_integer(fields, "size", 1);
  std::vector<MigProfile::Placement> placements;
  for (const int start : fields.integers("starts")) placements.push_back({start, size});
  fields.done();
  return placements;
}

MigProfile read_mig_profile(CatalogFields fields, const MigGeometry& geometry) {
  MigProfile profile;
  profile.name = fields.text("name");
  profile.resource_mixed = fields.text("resourceMixed");
  profile.gi_profile_id = maybe_integer(fields, "giProfileId");
  profile.compute_slices = small_integer(fields, "computeSlices", 1);
  profile.memory_slices = small_integer(fields, "memorySlices", 1);
  profile.sm_count = maybe_integer(fields, "smCount", 1);
  profile.memory = maybe_mebibytes(fields, "memoryMib");
  profile.max_count = small_integer(fields, "maxCount", 1);
  profile.copy_engines = maybe_integer(fields, "copyEngines");
  profile.nvdec = maybe_integer(fields, "nvdec");
  profile.media_extensions = flag_or_false(fields, "mediaExtensions");
  profile.confidence = text_or_empty(fields, "confidence");
  profile.note = text_or_empty(fields, "note");
  profile.placements = read_placements(fields.object("placements"));
  for (const MigProfile::Placement& placement : profile.placements) {
    if (placement.start >= 0 && placement.start + placement.size <= geometry.memory_slices)
      continue;
    fields.fail("placements", "go beyond the memory slices of the GPU");
  }
  if (profile.compute_slices > geometry.compute_slices) {
    fields.fail("computeSlices", "is more than the GPU has");
  }
  fields.done();
  return profile;
}

}  // namespace

MigGeometry read_geometry(CatalogFields fields) {
  MigGeometry geometry;
  geometry.gpu_model = fields.text("gpu");
  geometry.device_filter = text_or_empty(fields, "deviceFilter");
  geometry.memory_slices = small_integer(fields, "memorySlices", 1);
  geometry.compute_slices = small_integer(fields, "computeSlices", 1);
  geometry.sm_total = small_integer(fields, "smTotal", 1);
  geometry.sm_usable = small_integer(fields, "smUsable", 1);
  geometry.mode_change_needs_reset = flag_or_false(fields, "modeChangeNeedsReset");
  geometry.sources = texts_or_none(fields, "sources");
  geometry.note = text_or_empty(fields, "note");
  if (geometry.sm_usable > geometry.sm_total) fields.fail("smUsable", "is more than smTotal");
  for (CatalogFields& profile : fields.objects("profiles")) {
    geometry.profiles.push_back(read_mig_profile(profile, geometry));
  }
  fields.done();
  return geometry;
}

std::vector<MigGeometry> read_mig(std::string_view json) {
  return read_dated(json, "mig.json", "geometries", &read_geometry);
}

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
  market.savings_percent = maybe_integer(fields, "savingsPercent");
  market.interruption_bucket = text_or_empty(fields, "interruptions");
  if (market.savings_percent) market.advisor_date = advisor_date;
  if (const auto median = maybe_number(fields, "medianUsd")) {
    market.median = UsdPerHour{from_dollars(*median)};
    market.median_date = median_date;
    market.zones = small_integer(fields, "zones");
  }
  fields.done();
  return market;
}

constexpr std::string_view kMedianSource =
    "median over availability zones with a real market, skypilot-catalog v8 @e385a0d3";

}  // namespace

PriceBook read_prices(std::string_view json) {
  const CatalogDocument document = read_json(json);
  CatalogFields file(document.root, "prices.json");
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
  const CatalogDocument document = read_json(json);
  CatalogFields file(document.root, "spot.json");
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

std::vector<Commitment> read_commitment(CatalogFields fields, const SourceTable& sources) {
  constexpr int kMostMonths = 120;
  constexpr double kAll = 100;
  Commitment one;
  one.instance = fields.text("instance");
  one.kind = fields.text("kind");
  one.months = maybe_integer(fields, "months", 1);
  if (one.months.value_or(1) > kMostMonths) fields.fail("months", "is above 120");
  one.by_month = flag_or_false(fields, "byMonth");
  one.discount_percent = maybe_number(fields, "discountPercent", 0, kAll);
  if (const auto usd = maybe_number(fields, "usd")) one.usd = UsdPerHour{from_dollars(*usd)};
  one.valid = text_or_empty(fields, "valid");
  one.note = text_or_empty(fields, "note");
  one.source = sources.of(fields);
  std::vector<Commitment> all;
  for (const std::string& region : fields.texts("regions")) {
    one.region = region;
    all.push_back(one);
  }
  if (all.empty()) fields.fail("regions", "is empty");
  fields.done();
  return all;
}

std::vector<Commitment> read_commitments(std::string_view json) {
  const CatalogDocument document = read_json(json);
  CatalogFields file(document.root, "commitments.json");
  const SourceTable sources(file);
  file.texts("notFound");
  std::vector<Commitment> commitments;
  for (CatalogFields& fields : file.objects("commitments")) {
    std::ranges::move(read_commitment(fields, sources), std::back_inserter(commitments));
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

// Capacity Blocks, in each region at the newest price that holds there; what AWS writes of most
// regions holds in all of them but GovCloud.
void add_block_prices(PriceBook& book, const std::vector<Commitment>& sold) {
  const std::vector<std::string> regions = book.regions();
  std::map<std::pair<std::string, std::string>, std::string> dates;  // by instance type and region
  for (const Commitment& block : sold) {
    if (block.kind != "Capacity Block" || !block.usd) continue;
    const bool most = block.region == "most regions";
    const auto offer = [&](const std::string& region) {
      std::string& newest = dates[{block.instance, region}];
      if (newest > block.source.date) return;
      newest = block.source.date;
      book.set(block.instance, region, PurchaseOption::CapacityBlock,
               {*block.usd,
                {fmt::format("that of a Capacity Block in {}, {}: sold {} ({})", block.region,
                             block.valid, block.note, block.source.text),
                 block.source.date, true}});
    };
    if (!most) offer(block.region);
    for (const std::string& region : regions) {
      if (most && !region.starts_with("us-gov-")) offer(region);
    }
  }
}

LlmLayers read_layers(CatalogFields fields) {
  LlmLayers shape{small_integer(fields, "layers", 1), small_integer(fields, "hiddenSize", 1),
                  small_integer(fields, "heads", 1), small_integer(fields, "kvHeads", 1)};
  shape.experts = maybe_integer(fields, "experts", 1).value_or(0);
  shape.chosen = maybe_integer(fields, "chosenExperts", 1).value_or(0);
  fields.done();
  return shape;
}

constexpr double kSecondsPerMillisecond = 1e-3;

void read_experts(CatalogFields& fields, LlmModel& model) {
  if (fields.has("expertParameters")) {
    model.expert_parameters = fields.integer("expertParameters", 1);
  }
  if (fields.has("expertsMs")) {
    model.step.experts_s = fields.number("expertsMs") * kSecondsPerMillisecond;
  }
  const LlmLayers layers = model.shape.value_or(LlmLayers{});
  const bool any = layers.experts > 0 || layers.chosen > 0 || model.expert_parameters > 0 ||
                   model.step.experts_s > 0;
  const bool all = layers.chosen > 0 && layers.chosen <= layers.experts &&
                   model.expert_parameters > 0 && model.step.experts_s > 0 &&
                   model.expert_parameters <= model.layer_parameters.value_or(0);
  if (all) {
    model.step.expert_part = static_cast<double>(layers.chosen) / layers.experts;
  } else if (any) {
    fields.fail("expertsMs",
                "goes with layerParameters, expertParameters of them at most, shape.experts and "
                "shape.chosenExperts of them at most",
                Code::FieldMissing);
  }
}

LlmModel read_llm_model(CatalogFields fields) {
  LlmModel model;
  model.name = fields.text("name");
  model.title = fields.has("title") ? fields.text("title") : model.name;
  model.gpu_model = fields.text("gpu");
  model.precision = text_or_empty(fields, "precision");
  std::vector<std::string_view> times;
  for (const StepTime& time : kStepTimes) {
    times.push_back(time.figure);
    model.step.*time.seconds = fields.number(std::string(time.figure)) * kSecondsPerMillisecond;
  }
  model.weights = mebibytes(fields.integer("weightsMib", 1));
  model.kv_bytes_per_token = Bytes{fields.integer("kvBytesPerToken", 1)};
  if (fields.has("layerParameters")) model.layer_parameters = fields.integer("layerParameters", 1);
  if (fields.has("headParameters")) model.head_parameters = fields.integer("headParameters", 1);
  if (fields.has("shape")) model.shape = read_layers(fields.object("shape"));
  read_experts(fields, model);
  model.context_length = maybe_integer(fields, "contextLength", 1);
  model.source = is_users(fields) && !fields.has("source") ? fields.reading()->usual_source.text
                                                           : fields.text("source");
  if (fields.has("provenance")) model.provenance = fields.named_texts("provenance");
  if (fields.has("uncertainty")) model.uncertainty = read_uncertainty(fields, times);
  model.note = text_or_empty(fields, "note");
  fields.done();
  return model;
}

std::vector<LlmModel> read_llm_models(std::string_view json) {
  return read_dated(json, "llm_models.json", "models", &read_llm_model);
}

}  // namespace slicewise::models
