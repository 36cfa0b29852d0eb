#pragma once

#include <cstdint>
#include <string_view>

// The ways in which pods share a GPU: one row each, for scenarios, results, plans and people.
namespace slicewise::scenarios {

enum class Strategy : std::uint8_t {
  Exclusive,
  TimeSlicing,
  Mps,          // as the stock device plugin sets it up: memory and threads / replicas
  MpsUncapped,  // every client may use all threads
  Mig,
  MigTimeSlicing,
  MigMps,
  Vgpu,
  Hami,  // a limit on memory, the GPU's by the pods, in the containers
  Kai,
  Nos,
  AwsVirtualGpu,
};

struct SharingStrategy {
  enum class Tried : std::uint8_t {
    Always,
    ByDra,      // by plan where NVIDIA's DRA driver may set it up: the device plugin does not
    WhenNamed,  // by plan: more than NVIDIA's charts is needed to set it up
    Never,      // simulated only where a scenario has it
  };

  std::string_view key;    // as scenarios and documents spell it
  std::string_view title;  // as people write it
  std::string_view mode;   // as rows of published measurements do; "": there are none
  Tried tried;             // by compare and plan
};

// In the order of Strategy.
inline constexpr SharingStrategy kSharingStrategies[] = {
    {"exclusive", "exclusive", "", SharingStrategy::Tried::Always},
    {"timeSlicing", "time-slicing", "time-slicing", SharingStrategy::Tried::Always},
    {"mps", "MPS", "MPS", SharingStrategy::Tried::Always},
    {"mpsUncapped", "MPS uncapped", "", SharingStrategy::Tried::ByDra},
    {"mig", "MIG", "MIG", SharingStrategy::Tried::Always},
    {"mig+timeSlicing", "MIG + time-slicing", "", SharingStrategy::Tried::Always},
    {"mig+mps", "MIG + MPS", "MIG+MPS", SharingStrategy::Tried::ByDra},
    {"vgpu", "vGPU", "", SharingStrategy::Tried::Always},
    {"hami", "HAMi", "", SharingStrategy::Tried::WhenNamed},
    {"kai", "KAI", "", SharingStrategy::Tried::Never},
    {"nos", "nos (MPS)", "", SharingStrategy::Tried::Never},
    {"awsVirtualGpu", "AWS virtual GPU (MPS)", "", SharingStrategy::Tried::Never},
};

// nullptr: no such way, as "mig+mps, exclusive" of two pools.
constexpr const SharingStrategy* sharing_strategy(std::string_view key) {
  for (const SharingStrategy& way : kSharingStrategies) {
    if (way.key == key) return &way;
  }
  return nullptr;
}

}  // namespace slicewise::scenarios
