#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/lookup.hpp"
#include "slicewise/sim/gpu_room.hpp"

// What a GPU holds, in words.
namespace slicewise::sim {
namespace room {
namespace {

using Bound = GpuRoom::Bound;

std::string gib(Bytes bytes, int digits = 1) {
  return fmt::format("{:.{}f}", in_gibibytes(bytes), digits);
}

// What is missing never reads as nothing.
std::string missing_gib(Bytes needed, Bytes there) {
  constexpr int kMost = 3;
  int digits = 1;
  while (digits < kMost && gib(needed - there, digits) == gib(Bytes{}, digits)) ++digits;
  return gib(needed - there, digits);
}

// "4 x (4.1 + 0.5 GiB)"
std::string sum_text(const GpuRoom& room) {
  constexpr std::size_t kMostNamed = 3;
  if (room.tenants.size() > kMostNamed) {
    return fmt::format("{} pods of {} workloads need {} GiB", room.safe, room.tenants.size(),
                       gib(room.needed));
  }
  std::string out;
  for (const GpuRoom::Tenant& tenant : room.tenants) {
    out += out.empty() ? "" : " + ";
    if (tenant.pods > 1) out += fmt::format("{} x ", tenant.pods);
    if (tenant.processes > 1) out += fmt::format("{} x ", tenant.processes);
    out += fmt::format("({} + {} GiB)", gib(tenant.process), gib(room.context));
  }
  if (room.awake.count > 0) out += fmt::format(" + {} GiB of the one awake", gib(room.awake));
  return out;
}

std::string one_more(int safe) {
  constexpr std::array<std::string_view, 9> kPlaces = {"a second",  "a third", "a fourth",
                                                       "a fifth",   "a sixth", "a seventh",
                                                       "an eighth", "a ninth", "a tenth"};
  const auto place = static_cast<std::size_t>(safe - 1);
  return place < kPlaces.size() ? std::string(kPlaces[place]) : "one more";
}

std::string share_text(const GpuRoom& room) {
  return fmt::format(
      "{} takes {} of {} GiB (memoryUtilization), its weights, activations and context need {}",
      room.next_workload, gib(room.process_limit.value_or(Bytes{})), gib(room.usable),
      gib(room.next));
}

std::string bound_text(const GpuRoom& room) {
  switch (room.bound) {
    case Bound::Memory:
      return fmt::format("{} lacks {} GiB", one_more(room.safe),
                         missing_gib(room.next, room.usable));
    case Bound::ProcessLimit:
      return fmt::format("a process of {} passes the limit of {}", room.next_workload,
                         gib(room.process_limit.value_or(Bytes{})));
    case Bound::OwnShare:
      return share_text(room);
    case Bound::Replicas:
      return room.replicas == 1 ? "it is not shared" : "the plugin's replicas bind";
    case Bound::Parts:
      return "what its pods ask for of the GPU binds";
    case Bound::Cpu:
      return "the CPU of the node binds";
    case Bound::HostMemory:
      return "the memory of the node binds";
    case Bound::NodePods:
      return "the pods of the node bind: the kubelet takes no more";
    case Bound::Pods:
      return "all that there are fit";
  }
  return "";
}

// Nothing fits.
std::string none_text(const GpuRoom& room) {
  if (room.bound == Bound::ProcessLimit) {
    return fmt::format("a process of {} needs {} GiB with its context, its limit is {}",
                       room.next_workload, gib(room.next),
                       gib(room.process_limit.value_or(Bytes{})));
  }
  if (room.bound != Bound::Memory) return bound_text(room);
  return fmt::format("a pod of {} needs {} GiB, {} more than there is", room.next_workload,
                     gib(room.next), missing_gib(room.next, room.usable));
}

}  // namespace
}  // namespace room

std::string room_sentence(const GpuRoom& room) {
  const std::string on = room.partition.empty() ? "GPU" : room.partition;
  std::string out = fmt::format("{} per {}: ", room.safe, on);
  const bool greedy = !room.tenants.empty() && room.tenants.front().greedy;
  if (room.safe == 0) {
    out += room::none_text(room);
  } else if (greedy && room.bound == GpuRoom::Bound::Memory) {
    out += fmt::format("{} maps all free memory of {} GiB", room.tenants.front().workload,
                       room::gib(room.usable));
  } else {
    out += fmt::format("{} of {}; {}", room::sum_text(room), room::gib(room.usable),
                       room::bound_text(room));
  }
  if (room.is_overcommitted() && room.safe > 0) {
    out += fmt::format("; up to {} may meet there and run out of memory", room.may_meet);
  }
  return out;
}

namespace room {
namespace {

struct Line {
  std::string sentence;
  std::vector<std::string> variants;
};

bool is_on(const std::string& workload, const GpuRoom& room) {
  return !workload.empty() && (room.next_workload == workload ||
                               contains(room.tenants, workload, &GpuRoom::Tenant::workload));
}

std::string names_of(const std::vector<std::string>& variants) {
  constexpr std::size_t kMostNamed = 3;
  if (variants.size() <= kMostNamed) return fmt::format("{}", fmt::join(variants, ", "));
  return fmt::format("{} and {} more", variants.front(), variants.size() - 1);
}

bool has_several_pools(const VariantRooms& variant) {
  return std::ranges::any_of(
      variant.rooms, [&](const GpuRoom& room) { return room.pool != variant.rooms.front().pool; });
}

}  // namespace
}  // namespace room

std::vector<std::string> room_lines(std::span<const VariantRooms> variants) {
  std::vector<room::Line> lines;
  const bool pools = std::ranges::any_of(variants, room::has_several_pools);
  for (const VariantRooms& variant : variants) {
    for (const GpuRoom& held : variant.rooms) {
      std::string sentence = (pools ? held.pool + ": " : "") + room_sentence(held);
      if (room::is_on(variant.missed_by, held)) {
        sentence += fmt::format("; {} of {} is missed", variant.missed, variant.missed_by);
      }
      auto line = std::ranges::find(lines, sentence, &room::Line::sentence);
      if (line == lines.end()) line = lines.insert(line, {sentence, {}});
      if (line->variants.empty() || line->variants.back() != variant.variant) {
        line->variants.push_back(variant.variant);
      }
    }
  }
  std::vector<std::string> out;
  for (const room::Line& line : lines) {
    const bool all = line.variants.size() == variants.size();
    out.push_back((all ? "" : room::names_of(line.variants) + ": ") + line.sentence);
  }
  return out;
}

}  // namespace slicewise::sim
