#include "slicewise/scenarios/kai_part.hpp"

#include <algorithm>

namespace slicewise::scenarios {
namespace {

// Nobody's GPU has more, and products stay in range.
constexpr std::int64_t kMostMebibytes = 1'000'000'000;

}  // namespace

std::optional<KaiPart> kai_part(std::string_view annotation, std::string_view value) {
  if (annotation != kKaiFraction && annotation != kKaiMemory) return std::nullopt;
  const std::int64_t thousandths = quantity_in_thousandths(value).value_or(0);
  KaiPart part;
  if (annotation == kKaiFraction) {
    part.permille = thousandths;
    if (thousandths <= 0 || thousandths >= 1'000) {
      part.mistake = {Code::ValueRange,
                      "gpu-fraction annotation value must be a positive number smaller than 1.0",
                      "gpu-fraction: \"0.5\""};
    }
    return part;
  }
  part.mebibytes = std::min(thousandths / 1'000, kMostMebibytes);
  if (thousandths <= 0 || thousandths % 1'000 != 0) {
    part.mistake = {Code::ValueRange,
                    "gpu-memory annotation value must be a positive integer greater than 0",
                    "gpu-memory: \"2000\""};
  }
  return part;
}

bool asks_kai(const std::map<std::string, std::string>& annotations) {
  return annotations.contains(kKaiFraction) || annotations.contains(kKaiMemory);
}

QuantityError kai_refuses_both() {
  return {Code::SettingConflict, "cannot request both GPU and GPU memory",
          "KAI refuses the pod: keep gpu-fraction or gpu-memory"};
}

QuantityError kai_refuses_gpus() {
  return {Code::SettingConflict,
          "cannot have both GPU fraction request and whole GPU resource request/limit",
          "KAI refuses the pod: remove nvidia.com/gpu, or the annotation"};
}

}  // namespace slicewise::scenarios
