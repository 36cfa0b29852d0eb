#include <algorithm>

#include <fmt/format.h>

#include "slicewise/lookup.hpp"
#include "slicewise/scenarios/gpu_resource.hpp"
#include "slicewise/scenarios/kai_part.hpp"

#include "parts.hpp"

// Parts of GPUs as HAMi and KAI give them away.
namespace slicewise::sim {
namespace {

using scenarios::ExtendedRequest;
using scenarios::Hami;
using scenarios::kHamiCores;
using scenarios::kHamiMemory;
using scenarios::kHamiPercentage;
using scenarios::kKaiDevices;

// What a pod asks for, in its own words. Without `mebibytes` it is a share of the GPU's memory.
struct AskedPart {
  ExtendedRequest request;  // named by all that is asked for, so that equal parts are one offer
  std::int64_t mebibytes = 0;
  double share = 1;
  int cores = 0;
};

const ExtendedRequest* asked(const Workload& workload, std::string_view name) {
  const auto& all = workload.pod.extended;
  return find_or_null(all, name, [](const ExtendedRequest& request) {
    return std::string_view(request.name.value);
  });
}

// Nobody's GPU has more, and products stay in range.
constexpr std::int64_t kMostMebibytes = 1'000'000'000;

// Source: Project-HAMi/HAMi 2.10 pkg/device/nvidia/device.go, GenerateResourceRequests and
// MutateAdmission: gpumem goes before gpumem-percentage, percentages above 100 are 100, and who
// asks for no part has the GPU alone.
std::optional<AskedPart> of_hami(const Workload& workload) {
  const ExtendedRequest* gpu = asked(workload, kGpuResource);
  const ExtendedRequest* memory = asked(workload, kHamiMemory);
  const ExtendedRequest* percentage = asked(workload, kHamiPercentage);
  const ExtendedRequest* cores = asked(workload, kHamiCores);
  const ExtendedRequest* first = gpu;
  for (const ExtendedRequest* other : {memory, percentage, cores}) {
    if (first == nullptr) first = other;
  }
  if (first == nullptr) return std::nullopt;
  AskedPart part;
  part.request = {{std::string(kGpuResource), first->name.where},
                  gpu == nullptr ? 1 : gpu->count,
                  gpu == nullptr ? first->name.where : gpu->count_where};
  std::string& name = part.request.name.value;
  if (memory != nullptr) {
    part.mebibytes = std::min(memory->count, kMostMebibytes);
    name += fmt::format(", gpumem {}", part.mebibytes);
  } else if (percentage != nullptr) {
    const std::int64_t percent = std::min<std::int64_t>(percentage->count, 100);
    part.share = static_cast<double>(percent) / 100;
    name += fmt::format(", gpumem-percentage {}", percent);
  }
  if (cores != nullptr) {
    part.cores = static_cast<int>(std::min<std::int64_t>(cores->count, 100));
    name += fmt::format(", gpucores {}", part.cores);
  } else if (memory == nullptr && part.share == 1) {
    part.cores = 100;
  }
  return part;
}

std::optional<AskedPart> of_kai(const Workload& workload, Diagnostics& found) {
  const auto& annotations = workload.pod.annotations;
  const auto fraction = annotations.find(scenarios::kKaiFraction);
  const auto memory = annotations.find(scenarios::kKaiMemory);
  const SourceLocation& where = workload.pod.where;
  const ExtendedRequest* gpu = asked(workload, kGpuResource);
  AskedPart part;
  if (!scenarios::asks_kai(annotations)) {
    if (gpu == nullptr) return std::nullopt;
    part.request = *gpu;
    part.cores = 100;
    return part;
  }
  const auto refuse = [&](const scenarios::QuantityError& why) {
    add_diagnostic(found, why.code, where,
                   fmt::format("\"{}\": {}", workload.name.value, why.message), why.help);
  };
  if (gpu != nullptr) refuse(scenarios::kai_refuses_gpus());
  if (fraction != annotations.end() && memory != annotations.end()) {
    refuse(scenarios::kai_refuses_both());
  }
  const auto& given = fraction != annotations.end() ? *fraction : *memory;
  const auto asked_for = scenarios::kai_part(given.first, given.second);
  part.request = {{fmt::format("{} {}", given.first, given.second), where}, 1, where};
  if (fraction != annotations.end()) part.share = static_cast<double>(asked_for->permille) / 1'000;
  part.mebibytes = asked_for->mebibytes;
  if (asked_for->mistake) refuse(*asked_for->mistake);
  if (const auto several = annotations.find(kKaiDevices);
      several != annotations.end() && several->second != "1") {
    refuse({Code::StrategyNotModelled, "parts of several GPUs in one pod are not simulated",
            fmt::format("leave {} out", kKaiDevices)});
  }
  return part;
}

// What pods say beside that, which would be dropped.
void check_beside(const Workload& workload, bool by_hami, Diagnostics& found) {
  for (const ExtendedRequest& request : workload.pod.extended) {
    const std::string& name = request.name.value;
    const bool is_of_hami = name == kHamiMemory || name == kHamiPercentage || name == kHamiCores;
    if (name == kGpuResource || (by_hami && is_of_hami)) continue;
    add_diagnostic(found, Code::StrategyNotModelled, request.name.where,
                   fmt::format("\"{}\" asks for {} beside parts of GPUs by {}: not simulated",
                               workload.name.value, name, by_hami ? "HAMi" : "KAI"),
                   "remove it");
  }
  if (!by_hami) return;
  for (const auto& [name, value] : workload.pod.annotations) {
    if (!name.starts_with("hami.io/") && !name.starts_with("nvidia.com/")) continue;
    add_diagnostic(found, Code::StrategyNotModelled, workload.pod.where,
                   fmt::format("\"{}\": the annotation {} is HAMi's and not simulated",
                               workload.name.value, name),
                   "remove it; nodePools.hami has what holds for all pods");
  }
}

bool is_of(const Scenario& scenario, GpuBooks::Keeper keeper) {
  return std::ranges::any_of(scenario.node_pools, [&](const NodePool& pool) {
    return keeper == GpuBooks::Keeper::Hami ? pool.hami.has_value() : pool.kai;
  });
}

// Source: KAI-Scheduler, pkg/scheduler/actions/preempt/preempt.go; docs/priority/README.md: from
// 100 on nobody is stopped.
void check_priority(const Scenario& scenario, const Workload& workload, Diagnostics& found) {
  constexpr int kLeastNotStopped = 100;
  const int below = std::min(workload.priority, kLeastNotStopped);
  const auto would_go = [&](const Workload& other) { return other.priority < below; };
  if (std::ranges::none_of(scenario.workloads, would_go)) return;
  add_diagnostic(found, Code::StrategyNotModelled, workload.name.where,
                 fmt::format("KAI stops pods of lower priority in the queue of \"{}\" to make room "
                             "for it; here they stay, and it waits",
                             workload.name.value),
                 "its waits are shorter in the cluster, and theirs are longer");
  found.back().severity = Severity::Warning;
}

std::optional<AskedPart> asked_of(const Scenario& scenario, const Workload& workload,
                                  Diagnostics& found) {
  if (!workload.pod.claim.value.empty()) return std::nullopt;
  if (is_of(scenario, GpuBooks::Keeper::Hami)) return of_hami(workload);
  if (is_of(scenario, GpuBooks::Keeper::Kai)) return of_kai(workload, found);
  return std::nullopt;
}

// HAMi registers what NVML calls the GPU's memory, times its scaling; KAI rounds the label of GPU
// Feature Discovery down to hundreds of MiB. Source: HAMi register.go, KAI-Scheduler node_info.go.
GpuBooks books_of(const NodePool& pool, const GpuModel& gpu) {
  const std::int64_t mebibytes = gpu.memory_total.count / slicewise::mebibytes(1).count;
  GpuBooks books;
  if (!pool.hami) {
    books.keeper = GpuBooks::Keeper::Kai;
    books.memory_mib = mebibytes - mebibytes % 100;
    books.pods = static_cast<int>(books.memory_mib);  // as few as there are parts, below
    return books;
  }
  // What the reader refused is looked at, too, for the other mistakes.
  const auto scaled = [](double all, double times) {
    return std::clamp(all * times, 0.0, static_cast<double>(kMostMebibytes));
  };
  books.pods = pool.hami->split_count;
  books.memory_mib =
      static_cast<std::int64_t>(scaled(static_cast<double>(mebibytes), pool.hami->memory_scaling));
  books.cores = static_cast<int>(scaled(100, pool.hami->core_scaling));
  books.nodes = pool.hami->nodes;
  books.gpus = pool.hami->gpus;
  books.limits_alone = pool.hami->core_policy == Hami::CorePolicy::Force;
  return books;
}

GpuPart part_in(const GpuBooks& books, const AskedPart& asked) {
  GpuPart part;
  part.memory_mib = asked.mebibytes;
  if (asked.mebibytes == 0) {
    // KAI cuts off what HAMi reckons in whole percents: the same here.
    part.memory_mib =
        static_cast<std::int64_t>(asked.share * static_cast<double>(books.memory_mib) + 1e-6);
  }
  const bool is_hami = books.keeper == GpuBooks::Keeper::Hami;
  part.alone = asked.cores == 100 && (!is_hami || books.cores == 100);
  if (is_hami) part.cores = asked.cores;
  return part;
}

void check_hami(const Scenario& scenario, const NodePool& pool, Diagnostics& found) {
  for (const NodePool& other : scenario.node_pools) {
    const bool is_renamed = other.mig || plugin_entry(other, kGpuResource) || other.virtual_gpu ||
                            other.nos || other.dra;
    if (other.hami || is_renamed) continue;
    add_diagnostic(
        found, Code::SettingConflict, other.name.where,
        fmt::format("no pod comes to node pool \"{}\": HAMi's webhook gives every pod that asks "
                    "for {} to HAMi's scheduler, which knows only nodes with HAMi's plugin",
                    other.name.value, kGpuResource),
        "add `hami: {}` to it, or remove the pool");
  }
  if (pool.hami->memory_scaling <= 1) return;
  Diagnostic paging =
      make_diagnostic(Code::StrategyNotModelled, pool.hami->where,
                      "beyond the memory of a GPU HAMi pages to that of the host, which is not "
                      "simulated: here the process that does not fit dies",
                      "deviceMemoryScaling: 1, unless what processes really take fits the GPU");
  paging.severity = Severity::Warning;
  found.push_back(std::move(paging));
}

}  // namespace

int GpuBooks::room_for(const GpuPart& part, const GpuPart& booked, int there) const {
  if (part.memory_mib > memory_mib - booked.memory_mib) return 0;
  if (part.alone) return there == 0 ? 1 : 0;
  std::int64_t room = std::max(0, pods - there);
  if (part.memory_mib > 0)
    room = std::min(room, (memory_mib - booked.memory_mib) / part.memory_mib);
  if (cores > 0 && part.cores > 0) {
    room = std::min<std::int64_t>(room, (cores - booked.cores) / part.cores);
  }
  // Who asks for no cores gets none of a GPU that has given all away.
  if (cores > 0 && part.cores == 0 && booked.cores >= cores) return 0;
  return static_cast<int>(std::max<std::int64_t>(0, room));
}

std::optional<ExtendedRequest> part_request(const Scenario& scenario, const Workload& workload,
                                            Diagnostics& found) {
  const auto part = asked_of(scenario, workload, found);
  if (!part) return std::nullopt;
  const bool by_hami = is_of(scenario, GpuBooks::Keeper::Hami);
  check_beside(workload, by_hami, found);
  if (!by_hami) check_priority(scenario, workload, found);
  const bool is_whole = part->mebibytes == 0 && part->share == 1 && part->cores == 100;
  if (part->request.count > 1 && !is_whole) {
    add_diagnostic(found, Code::StrategyNotModelled, part->request.count_where,
                   fmt::format("\"{}\" asks for parts of {} GPUs: not simulated by this version",
                               workload.name.value, part->request.count),
                   "ask for 1, or for whole GPUs");
  }
  return part->request;
}

void share_by_books(const Scenario& scenario, const NodePool& pool, PoolModel& model,
                    Diagnostics& found) {
  const GpuBooks books = books_of(pool, *model.gpu);
  const bool is_hami = books.keeper == GpuBooks::Keeper::Hami;
  DomainKind& kind = model.kinds.front();
  kind.tickets.clear();
  model.offers.clear();
  if (is_hami) check_hami(scenario, pool, found);
  for (const Workload& workload : scenario.workloads) {
    Diagnostics said_already;
    const auto asked = asked_of(scenario, workload, said_already);
    if (!asked) continue;
    const GpuPart part = part_in(books, *asked);
    const int count = books.room_for(part, {}, 0);
    const auto is_known = [&](const ResourceOffer& offer) {
      return offer.name == asked->request.name.value;
    };
    if (count == 0 || std::ranges::any_of(model.offers, is_known)) continue;
    ResourceOffer offer{asked->request.name.value, {}, !part.alone, false};
    offer.part = part;
    model.offers.push_back(std::move(offer));
    Tickets tickets{model.offers.size() - 1, count, std::nullopt};
    if (is_hami) tickets.memory_limit = mebibytes(part.memory_mib);
    const bool is_limited = is_hami && part.cores > 0 && part.cores < 100 &&
                            pool.hami->core_policy != Hami::CorePolicy::Disable;
    if (is_limited) tickets.time_limit = part.cores / 100.0;
    kind.tickets.push_back(tickets);
  }
  model.books = books;
  if (!is_hami) {
    model.books->pods = 1;
    for (const Tickets& tickets : kind.tickets) {
      model.books->pods = std::max(model.books->pods, tickets.count);
    }
  }
  kind.sharing = models::TimeSlicing{model.books->pods, model.driver_slice};
}

}  // namespace slicewise::sim
