#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "slicewise/scenarios/quantity.hpp"

// Parts of GPUs as pods ask KAI for them, by annotations.
// Source: NVIDIA/KAI-Scheduler docs/gpu-sharing/README.md, and the validation of its admission.
namespace slicewise::scenarios {

// Of the memory, in MiB, and of how many GPUs.
inline constexpr const char* kKaiFraction = "gpu-fraction";
inline constexpr const char* kKaiMemory = "gpu-memory";
inline constexpr const char* kKaiDevices = "gpu-fraction-num-devices";

// Of pods, in which queue they are.
inline constexpr const char* kKaiQueueLabel = "kai.scheduler/queue";

struct KaiPart {
  std::int64_t permille = 0;             // of a GPU's memory; 0: gpu-memory says it
  std::int64_t mebibytes = 0;            // 0: gpu-fraction says it
  std::optional<QuantityError> mistake;  // for which its admission refuses the pod
};

// What one annotation asks for; nullopt when it is another.
std::optional<KaiPart> kai_part(std::string_view annotation, std::string_view value);

// Whether a pod with these annotations asks for a part.
bool asks_kai(const std::map<std::string, std::string>& annotations);

// What it refuses of a pod that has one of these annotations: the other one, and whole GPUs.
QuantityError kai_refuses_both();
QuantityError kai_refuses_gpus();

}  // namespace slicewise::scenarios
