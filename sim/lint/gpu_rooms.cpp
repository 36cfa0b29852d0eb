#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

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
using scenarios::FileSharing;
using scenarios::KeyValue;
using scenarios::PodFile;

// The smallest GPU or MIG instance behind a shared resource.
struct SharedDevice {
  const models::GpuModel* gpu = nullptr;
  std::string profile;  // "" the whole GPU
  Bytes memory{std::numeric_limits<std::int64_t>::max()};

  void take(const models::GpuModel& model, const std::string& mig, Bytes bytes) {
    if (bytes < memory) *this = {&model, mig, bytes};
  }
};

SharedDevice smallest_device(const LintInput& input, const NodeOffer& offer,
                             const std::string& resource) {
  SharedDevice found;
  const bool of_profile = resource.starts_with(scenarios::kMigPrefix);
  for (const models::InstanceType* type : offer.types) {
    const models::GpuModel* gpu = input.catalogue.find_gpu(type->gpu_model);
    if (gpu == nullptr) continue;
    if (offer.layouts.empty()) found.take(*gpu, "", models::usable_memory(*gpu));
    for (const ChosenLayout& layout : offer.layouts) {
      if (layout.geometry == nullptr || layout.geometry->gpu_model != gpu->name) continue;
      for (const auto& [name, count] : layout.counts) {
        const auto profile =
            std::ranges::find(layout.geometry->profiles, name, &models::MigProfile::name);
        const bool wanted = !of_profile || resource.find(name) != std::string::npos;
        if (!wanted || profile == layout.geometry->profiles.end() || !profile->memory) continue;
        found.take(*gpu, name, *profile->memory);
      }
    }
  }
  return found;
}

// A pod that asks for the device, and what a process of it takes beside its CUDA context; nullopt:
// no file says it.
struct Claim {
  const PodFile* pod;
  SourceLocation where;
  std::optional<Bytes> process;
  bool greedy = false;     // all that is free
  bool is_judged = false;  // by pod_memory_rules.cpp: vLLM's share, TensorFlow's greed
};

std::optional<Bytes> annotated_memory(const LintInput& input, const PodFile& pod) {
  if (const KeyValue* given = scenarios::annotation_of(pod, scenarios::kMemoryAnnotation)) {
    if (const auto bytes = scenarios::parse_bytes(given->value)) return *bytes;
  }
  if (const KeyValue* given = scenarios::annotation_of(pod, scenarios::kProfileAnnotation)) {
    if (const auto* profile = input.catalogue.find_profile(given->value)) return profile->memory;
  }
  return std::nullopt;
}

// Of a container: all, where nothing stops it; what annotations say, the limit that HAMi sets, or
// the program's own share.
Claim claim_of(const LintInput& input, const PodFile& pod, const ContainerFile& container,
               const SourceLocation& where, const SharedDevice& device, bool is_mps) {
  const Bytes context = models::context_memory(*device.gpu).bytes;
  Claim claim{&pod, where, annotated_memory(input, pod)};
  if (!is_mps && scenarios::maps_all_memory(container)) {
    claim.process = device.memory - context;
    claim.greedy = claim.is_judged = true;
  }
  if (claim.process) return claim;
  const auto limit = std::ranges::find(container.amounts, "nvidia.com/gpumem",
                                       &scenarios::ResourceAmount::resource);
  if (limit != container.amounts.end()) {
    constexpr std::int64_t kMost = 1'000'000'000;  // MiB
    claim.process = mebibytes(std::min(limit->amount, kMost)) - context;
  } else if (const auto share = vllm_share(container)) {
    claim.process = Bytes{device.memory.count / 100 * *share} - context;
    claim.is_judged = true;
  }
  if (claim.process) claim.process = std::max(*claim.process, Bytes{});
  return claim;
}

// The largest first: the worst company.
std::vector<Claim> claims_on(const LintInput& input, const NodeOffer& offer,
                             const OfferedResource& resource, const SharedDevice& device) {
  const bool is_mps = offer.config->sharing == FileSharing::Mps;
  std::vector<Claim> claims;
  for (const PodFile& pod : input.files.pods) {
    if (pod.is_system || pod.copies < 1) continue;
    if (offer.group != nullptr && !may_run_on(pod, *offer.group)) continue;
    for (const ContainerFile& container : pod.containers) {
      const auto request =
          std::ranges::find(container.amounts, resource.name, &scenarios::ResourceAmount::resource);
      if (container.is_init || request == container.amounts.end() || request->amount < 1) continue;
      claims.push_back(claim_of(input, pod, container, request->where, device, is_mps));
      break;
    }
  }
  std::ranges::stable_sort(claims, [](const Claim& a, const Claim& b) {
    return a.process.value_or(Bytes{}) > b.process.value_or(Bytes{});
  });
  return claims;
}

// What one GPU of an offer holds, and where to say that it is too much.
struct FileRoom {
  GpuRoom room;
  SourceLocation where;   // of the pod that no longer fits
  bool is_judged = true;  // all that meet there
  std::vector<std::string> unknown;
};

FileRoom room_of(const std::string& group, const OfferedResource& resource,
                 const SharedDevice& device, bool is_mps, const std::vector<Claim>& claims) {
  FileRoom found;
  GpuRoom& room = found.room;
  room.pool = group;
  room.partition = device.profile;
  room.usable = device.memory;
  room.context = models::context_memory(*device.gpu).bytes;
  room.replicas = static_cast<int>(std::min<std::int64_t>(resource.replicas, 10'000));
  room.bound = GpuRoom::Bound::Pods;
  const Bytes limit{device.memory.count / room.replicas};
  for (const Claim& claim : claims) {
    if (!claim.process) {
      found.unknown.push_back(claim.pod->name.substr(0, 60));
      continue;
    }
    const Bytes one = *claim.process + room.context;
    const auto pods =
        static_cast<int>(std::min<std::int64_t>(claim.pod->copies, room.replicas - room.may_meet));
    room.may_meet += pods;
    int fit = room.next.count > 0 ? 0 : pods;
    if (is_mps && one > limit) {
      fit = 0;
    } else if (fit > 0 && one.count > 0) {
      fit = static_cast<int>(
          std::min<std::int64_t>(fit, (room.usable - room.needed).count / one.count));
    }
    if (fit > 0) {
      room.tenants.push_back({claim.pod->name.substr(0, 60), fit, 1, *claim.process, claim.greedy});
      room.needed += Bytes{one.count * fit};
      room.safe += fit;
      found.is_judged = found.is_judged && claim.is_judged;
    }
    if (fit == pods || room.next.count > 0) continue;
    room.next = room.needed + one;
    room.next_workload = claim.pod->name.substr(0, 60);
    room.bound = GpuRoom::Bound::Memory;
    if (is_mps && one > limit) {
      room.bound = GpuRoom::Bound::ProcessLimit;
      room.process_limit = limit;
    }
    found.is_judged = found.is_judged && claim.is_judged;
    found.where = claim.where;
  }
  if (room.next.count == 0 && room.may_meet == room.replicas) room.bound = GpuRoom::Bound::Replicas;
  return found;
}

std::vector<FileRoom> file_rooms(const LintInput& input) {
  std::vector<FileRoom> rooms;
  for (const NodeOffer& offer : input.offers) {
    if (offer.config == nullptr || offer.group == nullptr) continue;
    for (const OfferedResource& resource : offer.resources) {
      if (resource.replicas < 2) continue;
      const SharedDevice device = smallest_device(input, offer, resource.name);
      if (device.gpu == nullptr) continue;
      const auto claims = claims_on(input, offer, resource, device);
      if (claims.empty()) continue;
      rooms.push_back(room_of(offer.group->name.substr(0, 60), resource, device,
                              offer.config->sharing == FileSharing::Mps, claims));
    }
  }
  return rooms;
}

void judge_annotations(const LintInput& input, const PodFile& pod) {
  const KeyValue* memory = scenarios::annotation_of(pod, scenarios::kMemoryAnnotation);
  if (memory != nullptr) {
    const auto bytes = scenarios::parse_bytes(memory->value);
    if (!bytes)
      input.tell(bytes.error().code, memory->where, bytes.error().message, bytes.error().help);
  }
  const KeyValue* profile = scenarios::annotation_of(pod, scenarios::kProfileAnnotation);
  if (profile != nullptr && input.catalogue.find_profile(profile->value) == nullptr) {
    input.tell(Code::ProfileUnknown, profile->where,
               fmt::format("no profile \"{}\" in the catalogue", profile->value.substr(0, 80)),
               "slicewise get profiles");
  }
}

}  // namespace

void lint_gpu_rooms(const LintInput& input) {
  for (const PodFile& pod : input.files.pods) judge_annotations(input, pod);
  for (const FileRoom& found : file_rooms(input)) {
    const bool too_much = found.room.next.count > 0;
    if (!too_much || found.is_judged) continue;
    input.tell(Code::GpuOom, found.where,
               fmt::format("{}: {}", found.room.pool, room_sentence(found.room)),
               fmt::format("at most {} replicas, node groups of their own, or a limit for each "
                           "process (MPS, MIG)",
                           std::max(1, found.room.safe)));
  }
}

}  // namespace slicewise::sim::lint

namespace slicewise::sim {

std::vector<std::string> cluster_room_lines(const scenarios::ClusterFiles& files,
                                            const models::Catalogue& catalogue) {
  Diagnostics ignored;
  const lint::LintInput input{files, catalogue, {}, lint::node_offers(files, catalogue), ignored};
  std::vector<std::string> lines;
  for (const lint::FileRoom& found : lint::file_rooms(input)) {
    if (found.room.may_meet > 0) {
      lines.push_back(fmt::format("{}: {}", found.room.pool, room_sentence(found.room)));
    }
    if (found.unknown.empty()) continue;
    lines.push_back(fmt::format(
        "{}: what {} need{} of the GPU's memory is in no file: annotate the pods, {}: 4Gi",
        found.room.pool, fmt::join(found.unknown, ", "), found.unknown.size() == 1 ? "s" : "",
        scenarios::kMemoryAnnotation));
  }
  return lines;
}

}  // namespace slicewise::sim
