#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/lookup.hpp"
#include "slicewise/models/execution_law.hpp"
#include "slicewise/scenarios/quantity.hpp"
#include "slicewise/sim/gpu_room.hpp"
#include "slicewise/sim/lint.hpp"

#include "lint_rules.hpp"

// The memory ledger of files that somebody will apply: what the pods that may meet on a shared GPU
// need, as far as the files say it.
namespace slicewise::sim::lint {
namespace {

using scenarios::ContainerFile;
using scenarios::KeyValue;
using scenarios::PodFile;

constexpr std::int64_t kMostReplicas = 10'000;

// The smallest GPU or MIG instance behind a resource, and how much the largest has.
struct Device {
  const GpuModel* gpu = nullptr;
  std::string profile;  // "" the whole GPU
  Bytes memory{std::numeric_limits<std::int64_t>::max()};
  Bytes largest;

  void take(const GpuModel& model, const std::string& mig, Bytes bytes) {
    largest = std::max(largest, bytes);
    if (bytes < memory) *this = {&model, mig, bytes, largest};
  }
};

Device device_of(const LintInput& input, const NodeOffer& offer, const std::string& resource) {
  Device found;
  const bool of_profile = resource.starts_with(scenarios::kMigPrefix);
  for (const InstanceType* type : offer.types) {
    const GpuModel* gpu = input.catalogue.find_gpu(type->gpu_model);
    if (gpu == nullptr) continue;
    if (offer.layouts.empty() && !of_profile) {
      found.take(*gpu, "", models::usable_memory(*type, *gpu));
    }
    for (const ChosenLayout& layout : offer.layouts) {
      if (layout.geometry == nullptr || layout.geometry->gpu_model != gpu->name) continue;
      for (const auto& [name, count] : layout.counts) {
        const auto profile = std::ranges::find(layout.geometry->profiles, name, &MigProfile::name);
        const bool wanted = !of_profile || resource.find(name) != std::string::npos;
        if (!wanted || profile == layout.geometry->profiles.end() || !profile->memory) continue;
        found.take(*gpu, name, *profile->memory);
      }
    }
  }
  return found;
}

// A pod that asks for the device, and what those of its processes take of which files say it.
struct Claim {
  const PodFile* pod = nullptr;
  SourceLocation where;
  std::int64_t tickets = 0;  // of all containers
  int processes = 0;
  Bytes needed;            // by them, beside their CUDA contexts
  Bytes largest;           // by one of them
  bool greedy = false;     // all that is free
  bool is_judged = false;  // by pod_memory_rules.cpp: vLLM's share, TensorFlow's greed

  void add(Bytes process) {
    ++processes;
    needed += process;
    largest = std::max(largest, process);
  }
};

bool has_annotation(const PodFile& pod) {
  return scenarios::annotation_of(pod, scenarios::kMemoryAnnotation) != nullptr ||
         scenarios::annotation_of(pod, scenarios::kProfileAnnotation) != nullptr;
}

// What files may say of a process: more is no GPU's, and sums stay in range.
constexpr std::int64_t kMostMebibytes = 1'000'000'000;

std::optional<Bytes> annotated_memory(const LintInput& input, const PodFile& pod) {
  if (const KeyValue* given = scenarios::annotation_of(pod, scenarios::kMemoryAnnotation)) {
    if (const auto bytes = scenarios::parse_bytes(given->value)) {
      return std::min(*bytes, mebibytes(kMostMebibytes));
    }
  }
  if (const KeyValue* given = scenarios::annotation_of(pod, scenarios::kProfileAnnotation)) {
    if (const auto* profile = input.catalogue.find_profile(given->value)) return profile->memory;
  }
  return std::nullopt;
}

// Of a container: all, where nothing stops it; what annotations say, the limit that HAMi sets, or
// the program's own share.
void add_container(const LintInput& input, const ContainerFile& container, const Device& device,
                   bool mps, Claim& claim) {
  const Bytes context = models::context_memory(*device.gpu).bytes;
  const auto add_with_context = [&](Bytes all) { claim.add(std::max(all - context, Bytes{})); };
  const auto limit = std::ranges::find(container.amounts, "nvidia.com/gpumem",
                                       &scenarios::ResourceAmount::resource);
  if (!mps && scenarios::maps_all_memory(container)) {
    claim.greedy = claim.is_judged = true;
    add_with_context(device.memory);
  } else if (const auto annotated = annotated_memory(input, *claim.pod)) {
    claim.add(*annotated);
  } else if (limit != container.amounts.end()) {
    // More than any GPU has is told of by lint_pod_memory.
    if (limit->amount <= largest_gpu_mebibytes(input)) add_with_context(mebibytes(limit->amount));
  } else if (const auto vllm = scenarios::vllm_arguments(container)) {
    claim.is_judged = true;
    const double memory = static_cast<double>(device.memory.count) / 100;
    add_with_context({std::llround(memory * vllm->memory_percent)});
  }
}

// Nullopt: the pod asks for none, or may not run there.
std::optional<Claim> claim_of(const LintInput& input, const PodFile& pod, const NodeOffer& offer,
                              const OfferedResource& resource, const Device& device) {
  if (pod.is_system || pod.copies < 1) return std::nullopt;
  if (offer.group != nullptr && !may_run_on(pod, offer)) return std::nullopt;
  Claim claim;
  claim.pod = &pod;
  for (const ContainerFile& container : pod.containers) {
    const auto request =
        std::ranges::find(container.amounts, resource.name, &scenarios::ResourceAmount::resource);
    if (container.is_init || request == container.amounts.end() || request->amount < 1) continue;
    if (claim.tickets == 0) claim.where = request->where;
    claim.tickets += std::min(request->amount, kMostReplicas);
    add_container(input, container, device, offer.has_mps(), claim);
  }
  return claim.tickets > 0 ? std::optional(claim) : std::nullopt;
}

// What pods may ask for of one kind of device, and who does: the largest first, the worst company.
struct FileDevice {
  const NodeOffer& offer;
  const OfferedResource& resource;
  Device device;
  std::vector<Claim> claims;

  Bytes context() const { return models::context_memory(*device.gpu).bytes; }
  Bytes limit() const {  // of one process
    return {device.memory.count /
            (offer.has_mps() ? std::min(resource.replicas, kMostReplicas) : 1)};
  }
};

std::vector<FileDevice> file_devices(const LintInput& input) {
  const std::set<const PodFile*> made = made_by_others(input.files);
  std::vector<FileDevice> devices;
  for (const NodeOffer& offer : input.offers) {
    if (offer.group == nullptr) continue;
    for (const OfferedResource& resource : offer.resources) {
      FileDevice one{offer, resource, device_of(input, offer, resource.name), {}};
      if (one.device.gpu == nullptr) continue;
      for (const PodFile& pod : input.files.pods) {
        if (made.contains(&pod) || pod.has_ended) continue;
        if (auto claim = claim_of(input, pod, offer, resource, one.device)) {
          one.claims.push_back(std::move(*claim));
        }
      }
      std::ranges::stable_sort(one.claims, std::ranges::greater(), &Claim::needed);
      if (!one.claims.empty()) devices.push_back(std::move(one));
    }
  }
  return devices;
}

// What one of them holds, and where to say that it is too much.
struct FileRoom {
  GpuRoom room;
  SourceLocation where;   // of the pod that no longer fits
  bool is_judged = true;  // all that meet there
};

FileRoom room_of(const FileDevice& of, std::span<const Claim> claims) {
  FileRoom found;
  GpuRoom& room = found.room;
  room.pool = of.offer.group->name.substr(0, 60);
  room.partition = of.device.profile;
  room.usable = of.device.memory;
  room.context = of.context();
  room.replicas = static_cast<int>(std::min(of.resource.replicas, kMostReplicas));
  room.bound = GpuRoom::Bound::Pods;
  std::int64_t left = room.replicas;
  std::vector<const PodFile*> there;
  for (const Claim& claim : claims) {
    if (claim.processes == 0) continue;
    // The largest of those that refuse each other is the worst company.
    const auto refuses_it = [&](const PodFile* other) { return are_apart(*claim.pod, *other); };
    if (std::ranges::any_of(there, refuses_it)) continue;
    const std::int64_t copies =
        refuses_it(claim.pod) ? std::min<std::int64_t>(1, claim.pod->copies) : claim.pod->copies;
    const std::string name = claim.pod->name.substr(0, 60);
    // The plugin spreads the replicas of a pod over the GPUs of a node.
    const std::int64_t devices = std::max<std::int64_t>(1, of.resource.devices);
    const std::int64_t tickets = (claim.tickets + devices - 1) / devices;
    const auto here = static_cast<int>((claim.processes + devices - 1) / devices);
    const Bytes process{claim.needed.count / claim.processes};
    const Bytes one{(process + room.context).count * here};
    const bool passes_limit = claim.largest + room.context > of.limit();
    const auto pods = static_cast<int>(std::min(copies, left / tickets));
    if (pods > 0) there.push_back(claim.pod);
    left -= pods * tickets;
    room.may_meet += pods;
    int fit = room.next.count > 0 || passes_limit ? 0 : pods;
    if (fit > 0 && one.count > 0) {
      fit = static_cast<int>(
          std::min<std::int64_t>(fit, (room.usable - room.needed).count / one.count));
    }
    if (fit > 0) {
      room.tenants.push_back({name, fit, here, process, claim.greedy});
      room.needed += Bytes{one.count * fit};
      room.safe += fit;
      found.is_judged = found.is_judged && claim.is_judged;
    }
    if (fit == pods || room.next.count > 0) continue;
    room.next = room.needed + one;
    room.next_workload = name;
    room.bound = GpuRoom::Bound::Memory;
    if (passes_limit && of.offer.has_mps()) {
      room.next = claim.largest + room.context;
      room.bound = GpuRoom::Bound::ProcessLimit;
      room.process_limit = of.limit();
    }
    found.is_judged = found.is_judged && claim.is_judged;
    found.where = claim.where;
  }
  if (room.next.count == 0 && left == 0) room.bound = GpuRoom::Bound::Replicas;
  return found;
}

// Whether any GPU or MIG instance that the pod may get is large enough for it alone.
bool fits_somewhere(const Claim& claim, std::span<const FileDevice> devices) {
  return std::ranges::any_of(devices, [&](const FileDevice& at) {
    const auto there = std::ranges::find(at.claims, claim.pod, &Claim::pod);
    if (there == at.claims.end()) return false;
    const std::int64_t smaller = at.device.memory.count;
    const auto largest_limit = static_cast<std::int64_t>(
        static_cast<double>(at.limit().count) / static_cast<double>(smaller) *
        static_cast<double>(at.device.largest.count));
    return there->largest + at.context() <= Bytes{largest_limit};
  });
}

}  // namespace

void lint_gpu_rooms(const LintInput& input) {
  const std::vector<FileDevice> devices = file_devices(input);
  for (const FileDevice& device : devices) {
    bool all_fit = true;
    for (const Claim& claim : device.claims) {
      const FileRoom alone = room_of(device, {&claim, 1});
      if (alone.room.safe > 0 || alone.room.next.count == 0 || claim.is_judged) continue;
      all_fit = false;
      const bool nowhere = !fits_somewhere(claim, devices);
      input.tell_as(nowhere ? Severity::Error : Severity::Warning, Code::GpuOom, claim.where,
                    fmt::format("{}: {}", alone.room.pool, room_sentence(alone.room)),
                    device.offer.has_mps()
                        ? "fewer replicas: MPS gives each process its part of the memory"
                        : "a GPU with more memory, or a smaller model: no way of sharing helps");
    }
    const FileRoom together = room_of(device, device.claims);
    if (!all_fit || together.room.next.count == 0 || together.is_judged) continue;
    input.tell(
        Code::GpuOom, together.where,
        fmt::format("{}: {}", together.room.pool, room_sentence(together.room)),
        fmt::format(
            "at most {} replicas, node groups of their own, or a limit for each process (MPS, MIG)",
            together.room.safe));
  }
}

}  // namespace slicewise::sim::lint

namespace slicewise::sim {

std::vector<std::string> cluster_room_lines(const scenarios::ClusterFiles& files,
                                            const Catalogue& catalogue) {
  Diagnostics ignored;
  const lint::LintInput input{files, catalogue, {}, lint::node_offers(files, catalogue), ignored};
  std::vector<std::pair<std::string, std::vector<std::string>>> said;  // and of which pools
  const auto say = [&](const GpuRoom& room, const std::string& sentence) {
    auto known = std::ranges::find(said, sentence, [](const auto& one) { return one.first; });
    if (known == said.end()) known = said.insert(known, {sentence, {}});
    // Karpenter's file and eksctl's may describe one pool.
    std::vector<std::string>& pools = known->second;
    if (!contains(pools, room.pool)) pools.push_back(room.pool);
  };
  for (const lint::FileDevice& device : lint::file_devices(input)) {
    const GpuRoom room = lint::room_of(device, device.claims).room;
    if (room.may_meet > 0) say(room, room_sentence(room));
    std::vector<std::string> unknown;
    for (const lint::Claim& claim : device.claims) {
      // A pod that has a GPU to itself has room enough as far as anybody knows.
      const bool is_asked = device.resource.replicas > 1 && !lint::has_annotation(*claim.pod);
      if (claim.processes == 0 && is_asked) unknown.push_back(claim.pod->name.substr(0, 60));
    }
    if (unknown.empty()) continue;
    say(room,
        fmt::format("what {} need{} of the GPU's memory is in no file: annotate the pods, {}: 4Gi",
                    fmt::join(unknown, ", "), unknown.size() == 1 ? "s" : "",
                    scenarios::kMemoryAnnotation));
  }
  std::vector<std::string> lines;
  for (const auto& [sentence, pools] : said) {
    const std::size_t others = pools.size() - 1;
    lines.push_back(fmt::format("{}{}: {}", pools.front(),
                                others == 0 ? "" : fmt::format(" and {} more like it", others),
                                sentence));
  }
  return lines;
}

}  // namespace slicewise::sim
