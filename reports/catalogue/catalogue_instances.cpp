#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/nearest_name.hpp"

#include "catalogue_listing.hpp"

namespace slicewise::reports {
namespace {

using models::Catalogue;
using models::InstanceType;
using models::PurchaseOption;
using nlohmann::json;

constexpr std::array<std::string_view, 4> kSortKeys = {"name", "price", "price-per-gpu",
                                                       "gpu-memory"};

struct InstanceRow {
  const InstanceType* type;
  Expected<models::Price> price;
  std::string missing;  // why there is no price
};

// Whole GPUs on the node: 1/8 for the smallest g6f.
double whole_gpus(const InstanceType& type) { return type.gpu_count * type.gpu_fraction; }

double price_per_gpu(const InstanceRow& row) {
  return dollars_of(row.price->usd) / whole_gpus(*row.type);
}

// Memory that processes can use on one device.
Bytes usable_memory_of(const Catalogue& catalogue, const InstanceType& type) {
  const models::GpuModel* gpu = catalogue.find_gpu(type.gpu_model);
  return gpu == nullptr ? type.gpu_memory : models::usable_memory(type, *gpu);
}

Diagnostics check_instances(const Catalogue& catalogue, const InstanceFilter& filter) {
  Diagnostics problems;
  std::vector<std::string> known;
  for (const InstanceType& type : catalogue.instances) {
    if (std::ranges::find(known, type.family) == known.end()) {
      known.push_back(type.family);
    }
  }
  const std::string families = fmt::format("{}", fmt::join(known, ", "));
  for (const InstanceType& type : catalogue.instances) known.push_back(type.name);
  if (!filter.family.empty() && std::ranges::find(known, filter.family) == known.end()) {
    const auto nearest = nearest_name(filter.family, known);
    problems.push_back(make_diagnostic(
        Code::InstanceUnknown, {},
        fmt::format("no instance family or type is called {}", filter.family),
        nearest ? fmt::format("did you mean {}?", *nearest) : "families: " + families));
  }
  if (!filter.gpu.empty() && catalogue.find_gpu(filter.gpu) == nullptr) {
    problems.push_back(unknown_gpu(catalogue, filter.gpu));
  }
  const auto& regions = catalogue.prices.regions();
  if (std::ranges::find(regions, filter.region) == regions.end()) {
    problems.push_back(unknown_region(catalogue, filter.region));
  }
  if (!filter.sort.empty() && std::ranges::find(kSortKeys, filter.sort) == kSortKeys.end()) {
    problems.push_back(make_diagnostic(Code::EnumUnknown, {},
                                       fmt::format("cannot sort by {}", filter.sort),
                                       fmt::format("one of {}", fmt::join(kSortKeys, ", "))));
  }
  return problems;
}

// Types without a price come last; equals keep the order of the catalogue.
void sort_rows(std::vector<InstanceRow>& rows, const std::string& key) {
  const auto by = [&](const auto& less) { std::ranges::stable_sort(rows, less); };
  if (key == "name")
    by([](const InstanceRow& a, const InstanceRow& b) { return a.type->name < b.type->name; });
  if (key == "gpu-memory") {
    by([](const InstanceRow& a, const InstanceRow& b) {
      return a.type->gpu_memory < b.type->gpu_memory;
    });
  }
  if (key == "price") {
    by([](const InstanceRow& a, const InstanceRow& b) {
      return a.price && b.price ? a.price->usd < b.price->usd : a.price.has_value() && !b.price;
    });
  }
  if (key == "price-per-gpu") {
    by([](const InstanceRow& a, const InstanceRow& b) {
      return a.price && b.price ? price_per_gpu(a) < price_per_gpu(b)
                                : a.price.has_value() && !b.price;
    });
  }
}

std::vector<InstanceRow> select(const Catalogue& catalogue, const InstanceFilter& filter) {
  const models::GpuModel* gpu = filter.gpu.empty() ? nullptr : catalogue.find_gpu(filter.gpu);
  std::vector<InstanceRow> rows;
  for (const InstanceType& type : catalogue.instances) {
    if (!filter.family.empty() && type.family != filter.family && type.name != filter.family) {
      continue;
    }
    if (gpu != nullptr && type.gpu_model != gpu->name) continue;
    if (usable_memory_of(catalogue, type) < filter.fits) continue;
    if (!filter.include_retired && !type.retired_on.empty()) continue;
    InstanceRow row{
        &type, catalogue.prices.find(type.name, filter.region, PurchaseOption::OnDemand), {}};
    if (!row.price) {
      row.missing =
          catalogue.prices.missing_reason(type.name, filter.region, PurchaseOption::OnDemand);
    }
    rows.push_back(std::move(row));
  }
  sort_rows(rows, filter.sort);
  return rows;
}

std::string shown_device(const Catalogue& catalogue, const InstanceType& type) {
  return fmt::format("{} ({}, {} for CUDA)", type.name, type.gpu_model,
                     memory_cell(usable_memory_of(catalogue, type)));
}

// What comes nearest where nothing matches: the largest GPU of the family or model that was asked
// for, and the cheapest type of another that has the memory.
std::string nothing_matches(const Catalogue& catalogue, const InstanceFilter& filter) {
  InstanceFilter smaller = filter;
  smaller.fits = {};
  const std::vector<InstanceRow> those = select(catalogue, smaller);
  if (those.empty()) {
    return fmt::format("No instance type of family {} has the GPU {}.", filter.family, filter.gpu);
  }
  const auto memory = [&](const InstanceRow& row) {
    return usable_memory_of(catalogue, *row.type);
  };
  std::string out =
      fmt::format("No instance type has a GPU with {}; nearest: {}.", memory_cell(filter.fits),
                  shown_device(catalogue, *std::ranges::max_element(those, {}, memory)->type));
  InstanceFilter other;
  other.fits = filter.fits;
  other.region = filter.region;
  other.include_retired = false;
  other.sort = "price";
  const std::vector<InstanceRow> larger = select(catalogue, other);
  if (larger.empty()) return out;
  return out + fmt::format(" Without --family and --gpu: {}.",
                           shown_device(catalogue, *larger.front().type));
}

json instance_item(const InstanceRow& row, const std::string& region) {
  const InstanceType& type = *row.type;
  json item = {{"name", type.name},
               {"family", type.family},
               {"gpuCount", type.gpu_count},
               {"gpuFraction", type.gpu_fraction},
               {"gpuModel", type.gpu_model},
               {"gpuMemoryBytes", type.gpu_memory.count},
               {"architecture", type.architecture},
               {"vcpus", type.vcpus},
               {"memoryBytes", type.memory.count},
               {"allocatableCpus", static_cast<double>(type.allocatable_cpu.count) / 1'000},
               {"allocatableMemoryBytes", type.allocatable_memory.count},
               {"allocatableMemoryMeasured", type.allocatable_memory_measured},
               {"maxPods", type.max_pods},
               {"networkBitsPerSecond", type.network_gbps * 1e9},
               {"localNvmeBytes", type.local_nvme_gb * std::int64_t{1'000'000'000}},
               {"interconnect", type.interconnect},
               {"source", type.source.text},
               {"sourceDate", type.source.date},
               {"region", region}};
  if (type.efa_interfaces) item["efaInterfaces"] = *type.efa_interfaces;
  if (!type.retired_on.empty()) item["retiredOn"] = type.retired_on;
  if (!type.note.empty()) item["note"] = type.note;
  if (!row.price) {
    item["priceMissing"] = row.missing;
    return item;
  }
  item["usdPerHour"] = dollars_of(row.price->usd);
  item["usdPerGpuHour"] = price_per_gpu(row);
  item["priceSource"] = row.price->source.text;
  item["priceDate"] = row.price->source.date;
  item["priceDerived"] = row.price->source.derived;
  return item;
}

std::string gpus_cell(const InstanceType& type) {
  if (type.gpu_fraction == 1) return std::to_string(type.gpu_count);
  return "1/" + number_cell(1 / type.gpu_fraction, 0);
}

bool has_usual_cpus(const InstanceType& type) {
  return type.architecture == InstanceType().architecture;
}

std::string note_cell(const InstanceType& type, bool wide) {
  if (!type.retired_on.empty()) return wide ? "retired " + type.retired_on : "retired";
  if (has_usual_cpus(type)) return wide ? type.note : type.gpu_fraction < 1 ? "vGPU" : "";
  return type.architecture + (wide && !type.note.empty() ? ", " + type.note : "");
}

std::vector<std::string> instance_cells(const InstanceRow& row, bool wide) {
  const InstanceType& type = *row.type;
  const std::string mark = row.price && row.price->source.derived ? "~" : "";
  return {type.name,
          gpus_cell(type),
          type.gpu_model,
          memory_cell(type.gpu_memory),
          std::to_string(type.vcpus),
          memory_cell(type.memory),
          row.price ? mark + price_cell(row.price->usd) : "-",
          row.price ? mark + fmt::format("{:.4f}", price_per_gpu(row)) : "-",
          note_cell(type, wide),
          number_cell(static_cast<double>(type.allocatable_cpu.count) / 1'000, 3),
          memory_cell(type.allocatable_memory) + (type.allocatable_memory_measured ? "" : "*"),
          std::to_string(type.max_pods),
          number_cell(type.network_gbps, 1) + " Gbps",
          type.local_nvme_gb == 0 ? "none" : std::to_string(type.local_nvme_gb) + " GB",
          type.interconnect,
          row.price ? row.price->source.date : "-",
          row.price ? row.price->source.text : "-"};
}

// What the marks of the table mean, and which prices are missing for which reason.
std::vector<std::string> instance_footnotes(const std::vector<InstanceRow>& rows,
                                            const InstanceFilter& filter, const std::string& date,
                                            bool wide) {
  std::vector<std::string> notes;
  std::map<std::string, std::vector<std::string>> missing;
  const auto any = [&](const auto& holds) { return std::ranges::any_of(rows, holds); };
  for (const InstanceRow& row : rows) {
    if (!row.price) missing[row.missing].push_back(row.type->name);
  }
  notes.reserve(missing.size());
  for (const auto& [reason, types] : missing) {
    notes.push_back(fmt::format("- no on-demand price in {} for {}: {}.", filter.region,
                                fmt::join(types, ", "), reason));
  }
  if (any([](const InstanceRow& row) { return row.price && row.price->source.derived; })) {
    notes.emplace_back("~ derived from the us-east-1 price (-o wide names the rule).");
  }
  const auto retired = std::ranges::find_if(
      rows, [](const InstanceRow& row) { return !row.type->retired_on.empty(); });
  if (retired != rows.end()) {
    notes.push_back(
        fmt::format("retired: AWS withdrew the type on {}; slicewise still simulates it.",
                    retired->type->retired_on));
  }
  if (any([](const InstanceRow& row) { return row.type->gpu_fraction < 1; })) {
    notes.emplace_back(
        "vGPU: the node offers one nvidia.com/gpu, a fraction of the card; $/GPU-H is per whole "
        "card.");
  }
  const auto other = std::ranges::find_if_not(
      rows, [](const InstanceRow& row) { return has_usual_cpus(*row.type); });
  if (other != rows.end()) {
    notes.push_back(
        fmt::format("{}: its CPUs, which images have to be built for (slicewise explain "
                    "IMAGE_ARCHITECTURE).",
                    other->type->architecture));
  }
  if (wide && any([](const InstanceRow& row) { return !row.type->allocatable_memory_measured; })) {
    notes.emplace_back("* Karpenter's estimate; the others come from measured instances.");
  }
  if (!rows.empty()) {
    notes.emplace_back(
        "GPU-MEMORY: of the card; CUDA can use less of it (T4: 14.8 of 15 GiB), which is what "
        "--fits compares and results show.");
  }
  notes.push_back(
      fmt::format("On-demand prices in {}, Linux, as of {}; --region and --prices change them.",
                  filter.region, date));
  return notes;
}

}  // namespace

Expected<std::string> list_instances(const Catalogue& catalogue, const InstanceFilter& wanted,
                                     ListFormat format, const TextStyle& style) {
  InstanceFilter filter = wanted;
  if (filter.region.empty()) filter.region = InstanceFilter().region;
  const Diagnostics problems = check_instances(catalogue, filter);
  if (!problems.empty()) return tl::unexpected(problems);

  const bool wide = format == ListFormat::Wide;
  const std::vector<InstanceRow> rows = select(catalogue, filter);
  Listing listing;
  listing.kind = "InstanceList";
  listing.name_key = "name";
  listing.csv_header =
      "name,family,gpuCount,gpuFraction,gpuModel,gpuMemoryBytes,architecture,vcpus,"
      "memoryBytes,allocatableCpus,allocatableMemoryBytes,maxPods,networkBitsPerSecond,"
      "localNvmeBytes,interconnect,retiredOn,note,region,usdPerHour,usdPerGpuHour,"
      "priceDerived,priceDate,priceSource";
  listing.columns = {{"NAME", false, 0},
                     {"GPUS", true, 0},
                     {"MODEL", false, 0},
                     {"GPU-MEMORY", true, 2},
                     {"VCPU", true, 4},
                     {"MEMORY", true, 4},
                     {"$/H", true, 0},
                     {"$/GPU-H", true, 3},
                     {"NOTE", false, 1},
                     {"CPU-FOR-PODS", true, 0},
                     {"MEMORY-FOR-PODS", true, 0},
                     {"MAX-PODS", true, 0},
                     {"NETWORK", true, 0},
                     {"NVME", true, 0},
                     {"INTERCONNECT", false, 0},
                     {"PRICE-DATE", false, 0},
                     {"PRICE-SOURCE", false, 0}};
  listing.wide_columns = 8;
  if (rows.empty()) listing.nothing = nothing_matches(catalogue, filter);
  for (const InstanceRow& row : rows) {
    listing.items.push_back(instance_item(row, filter.region));
    listing.rows.push_back(instance_cells(row, wide));
  }
  if (!rows.empty()) {
    listing.footnotes = instance_footnotes(rows, filter, catalogue.prices.date(), wide);
  }
  return render(listing, format, style);
}

}  // namespace slicewise::reports
