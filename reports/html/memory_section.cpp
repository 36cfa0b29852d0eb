#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "slicewise/sim/gpu_room.hpp"

#include "../charts/charts.hpp"
#include "../screens/result_figures.hpp"
#include "../text/text_table.hpp"
#include "page_parts.hpp"

namespace slicewise::reports::html {
namespace {

constexpr std::size_t kMostDevices = 10;
constexpr std::size_t kMostNamedWorkloads = 3;
constexpr double kGib = 1024.0 * 1024.0 * 1024.0;

// The processes that may meet in one GPU or MIG instance at worst: those that need most, as many as
// the device plugin lets in.
struct FullDevice {
  std::string name;
  Bytes driver;    // reserve of the driver; 0 where it is not known
  Bytes contexts;  // CUDA contexts of all processes, and the MPS server
  std::map<std::string, Bytes> by_workload;
  std::map<std::string, int> pods;
  Bytes needed;  // contexts and workloads
  Bytes usable;
  std::optional<Bytes> peak;  // that the run saw
  std::string greedy;         // workload whose first process maps all there is; "": none
  int left_without = 0;       // pods that then find no memory
};

struct PodNeed {
  std::string workload;
  Bytes memory;  // of all its processes, without their contexts
  int processes = 1;
  int count = 0;        // of such pods
  bool greedy = false;  // maps all that is left
  Bytes awake = {};     // beyond `memory`, while no other engine of the GPU is awake
};

std::vector<PodNeed> needs_on(const sim::World& world, std::size_t pool, std::size_t kind,
                              const std::vector<sim::Tickets>& together) {
  std::vector<PodNeed> needs;
  const sim::PoolModel& model = world.pools[pool];
  for (const sim::WorkloadModel& workload : world.workloads) {
    const sim::PoolDemand& demand = workload.on_pool[pool];
    if (!demand.schedulable || workload.spec.count <= 0 || kind >= demand.in_kind.size()) continue;
    if (!sim::admits(model, workload.spec.pod)) continue;
    const auto holds = [&](const sim::Tickets& t) {
      return demand.offer && t.offer == *demand.offer;
    };
    if (demand.offer && std::ranges::none_of(together, holds)) continue;
    const int processes = std::max(1, workload.spec.processes_per_pod);
    const Bytes awake = sim::memory_by_turns(workload, demand, kind);
    const Bytes process = sim::largest_process_memory(workload, demand, kind) - awake;
    Bytes memory{process.count * processes};
    // A greedy process maps all that is left, up to its limit.
    std::optional<std::int64_t> limit;
    for (const sim::Tickets& tickets : together) {
      if (tickets.memory_limit) limit = tickets.memory_limit->count;
    }
    if (workload.greedy && limit) memory.count = std::max(memory.count, *limit * processes);
    if (memory.count <= 0) continue;
    needs.push_back(
        {workload.name, memory, processes, workload.spec.count, workload.greedy && !limit, awake});
  }
  std::ranges::stable_sort(needs, std::ranges::greater{},
                           [](const PodNeed& need) { return need.memory.count; });
  return needs;
}

std::optional<FullDevice> full_device(const sim::World& world, std::size_t pool, std::size_t kind,
                                      const std::vector<sim::Tickets>& together) {
  const sim::PoolModel& model = world.pools[pool];
  const sim::DomainKind& domain = model.kinds[kind];
  FullDevice device;
  device.usable = domain.memory;
  device.contexts = domain.memory - sim::usable_by_processes(domain);
  device.name = fmt::format("{} {}", model.name,
                            domain.partition.empty() ? model.instance_type : domain.partition);
  if (domain.partition.empty() && domain.owned_time >= 1 && model.gpu != nullptr) {
    device.driver.count =
        std::max<std::int64_t>(0, model.gpu->memory_total.count - domain.memory.count);
  }
  int places = 0;
  PodNeed awake;
  for (const sim::Tickets& tickets : together) places += tickets.count;
  for (const PodNeed& need : needs_on(world, pool, kind, together)) {
    const int pods = std::min(places, need.count);
    if (pods <= 0) continue;
    if (need.greedy && pods > 1) {
      device.greedy = need.workload;
      device.left_without = pods - 1;
      device.by_workload = {{need.workload, device.usable}};
      device.pods = {{need.workload, 1}};
      device.contexts = {};
      device.needed = device.usable;
      return device;
    }
    places -= pods;
    device.by_workload[need.workload].count += need.memory.count * pods;
    device.pods[need.workload] += pods;
    device.contexts.count += model.context_memory.count * need.processes * pods;
    device.needed.count += need.memory.count * pods;
    if (need.awake > awake.awake) awake = need;
  }
  if (device.by_workload.empty()) return std::nullopt;
  if (awake.awake.count > 0) device.by_workload[awake.workload] += awake.awake;
  device.needed += awake.awake;
  device.needed.count += device.contexts.count;
  return device;
}

std::optional<Bytes> peak_of(const sim::VariantResult& variant, const std::string& pool,
                             const std::string& partition) {
  std::optional<Bytes> peak;
  for (const sim::GpuResult& gpu : variant.gpus) {
    const auto node = std::ranges::find(variant.nodes, gpu.node, &sim::NodeResult::name);
    if (node == variant.nodes.end() || node->pool != pool || gpu.partition != partition) continue;
    if (!peak || gpu.memory_peak.count > peak->count) peak = gpu.memory_peak;
  }
  return peak;
}

std::vector<FullDevice> full_devices(const HtmlReport& report) {
  std::vector<FullDevice> devices;
  for (std::size_t v = 0; v < report.worlds.size() && v < report.result.variants.size(); ++v) {
    const sim::World& world = report.worlds[v];
    const sim::VariantResult& variant = report.result.variants[v];
    for (std::size_t p = 0; p < world.pools.size(); ++p) {
      const sim::PoolModel& pool = world.pools[p];
      for (std::size_t k = 0; k < pool.kinds.size(); ++k) {
        for (const std::vector<sim::Tickets>& together : pool.companies(k)) {
          auto device = full_device(world, p, k, together);
          if (!device) continue;
          // Most have one kind of device: its name is that of the option.
          const bool one = world.pools.size() == 1 && pool.kinds.size() == 1;
          device->name = one ? variant.name : variant.name + ", " + device->name;
          device->peak = peak_of(variant, pool.name, pool.kinds[k].partition);
          devices.push_back(std::move(*device));
        }
      }
    }
  }
  return devices;
}

std::string share_text(const FullDevice& device) {
  const double ratio = device.usable.count > 0 ? static_cast<double>(device.needed.count) /
                                                     static_cast<double>(device.usable.count)
                                               : 0;
  return fmt::format("{} of {} ({})", memory_text(device.needed), memory_text(device.usable),
                     percent_text(ratio));
}

std::string memory_finding(const std::vector<FullDevice>& devices) {
  const auto tightest = std::ranges::max_element(devices, {}, [](const FullDevice& d) {
    return static_cast<double>(d.needed.count) /
           static_cast<double>(std::max<std::int64_t>(1, d.usable.count));
  });
  const auto greedy =
      std::ranges::find_if(devices, [](const auto& d) { return !d.greedy.empty(); });
  if (greedy != devices.end()) {
    return fmt::format(
        "It runs out in {}: the first process of {} maps the whole GPU at start, and the {} that "
        "may "
        "meet it there {} no memory.",
        greedy->name, greedy->greedy,
        greedy->left_without == 1 ? "other pod"
                                  : fmt::format("{} other pods", greedy->left_without),
        greedy->left_without == 1 ? "finds" : "find");
  }
  if (tightest->needed.count > tightest->usable.count) {
    return fmt::format(
        "It can run out: the pods that may meet on one GPU of {} want {} of usable "
        "memory.",
        tightest->name, share_text(*tightest));
  }
  return fmt::format("It cannot run out: even the worst company on one GPU needs {} ({}).",
                     share_text(*tightest), tightest->name);
}

std::vector<std::string> named_workloads(const std::vector<FullDevice>& devices) {
  std::vector<std::string> names;
  for (const FullDevice& device : devices) {
    for (const auto& [name, memory] : device.by_workload) {
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
  }
  if (names.size() > kMostNamedWorkloads) names.resize(kMostNamedWorkloads);
  return names;
}

std::string gib_tick(double value) { return tick_text(value) + " GiB"; }

charts::StackedBars memory_chart(const std::vector<FullDevice>& devices,
                                 const std::string& finding) {
  charts::StackedBars chart;
  chart.text = {"chart-memory", finding,
                "One bar for each kind of GPU or MIG instance, filled with the pods that need most "
                "memory; the dashed line is what processes can use, or with the driver's reserve "
                "what the card has."};
  chart.x = {"GPU memory", gib_tick, false, true};
  const std::vector<std::string> names = named_workloads(devices);
  chart.parts = {"driver reserve", "CUDA contexts"};
  chart.parts.insert(chart.parts.end(), names.begin(), names.end());
  chart.parts.emplace_back("other workloads");
  for (const FullDevice& device : devices) {
    if (chart.bars.size() == kMostDevices) break;
    const auto part = [](Bytes amount, const std::string& name) {
      return charts::BarPart{static_cast<double>(amount.count) / kGib,
                             fmt::format("{}: {}", name, memory_text(amount))};
    };
    charts::StackedBar bar{device.name, {}, std::nullopt, share_text(device)};
    bar.parts = {part(device.driver, "driver reserve"), part(device.contexts, "CUDA contexts")};
    Bytes others{device.needed.count - device.contexts.count};
    for (const std::string& name : names) {
      const auto found = device.by_workload.find(name);
      const Bytes amount = found == device.by_workload.end() ? Bytes{} : found->second;
      others.count -= amount.count;
      bar.parts.push_back(part(amount, name));
    }
    bar.parts.push_back(part(others, "other workloads"));
    bar.capacity = static_cast<double>(device.usable.count + device.driver.count) / kGib;
    chart.bars.push_back(std::move(bar));
  }
  if (std::ranges::all_of(chart.bars, [](const auto& b) { return b.parts.back().amount <= 0; })) {
    chart.parts.pop_back();
    for (charts::StackedBar& bar : chart.bars) bar.parts.pop_back();
  }
  return chart;
}

HtmlTable memory_table(const std::vector<FullDevice>& devices) {
  HtmlTable table{"the ledger of one GPU or instance",
                  {{"Device"},
                   {"Pods"},
                   {"CUDA contexts", true},
                   {"Processes", true},
                   {"At worst", true},
                   {"Usable", true},
                   {"Seen", true}}};
  for (const FullDevice& device : devices) {
    std::string pods;
    for (const auto& [name, count] : device.pods) {
      add_name(pods, fmt::format("{} x {}", count, name));
    }
    const auto sized = [](Bytes amount) {
      return HtmlCell{memory_text(amount), static_cast<double>(amount.count), ""};
    };
    table.rows.push_back({device.name, pods, sized(device.contexts),
                          sized({device.needed.count - device.contexts.count}),
                          sized(device.needed), sized(device.usable),
                          device.peak ? sized(*device.peak) : HtmlCell{}});
  }
  return table;
}

}  // namespace

Markup memory_section(const HtmlReport& report) {
  const std::vector<FullDevice> devices = full_devices(report);
  if (devices.empty()) return "";
  std::string finding = memory_finding(devices);
  if (devices.size() > kMostDevices) {
    finding += fmt::format(" Drawn: the first {} of {}.", kMostDevices, devices.size());
  }
  return section("memory", "Will it run out of GPU memory?",
                 figure(draw(memory_chart(devices, finding)), finding, {memory_table(devices)}) +
                     paragraph("Each device holds as many pods as the device plugin lets in, those "
                               "that need most first, each with its peak and a CUDA context per "
                               "process; what an MPS server takes is counted with the contexts. "
                               "Seen is the most that the run itself saw."));
}

}  // namespace slicewise::reports::html
