#include "slicewise/scenarios/kai_part.hpp"

#include <algorithm>

#include "../text/scalars.hpp"

namespace slicewise::scenarios {
namespace {

// Nobody's GPU has more, and products stay in range.
constexpr std::int64_t kMostMebibytes = 1'000'000'000;

// Below 1, without a suffix of Kubernetes' or an exponent, as Go's ParseFloat takes it; 0 no such
// part. A thousandth is the least that is told.
std::int64_t permille_of(std::string_view fraction) {
  const std::string_view digits = fraction.substr(fraction.starts_with('0') ? 1 : 0);
  if (!digits.starts_with('.') || digits.find_first_not_of("0123456789", 1) != digits.npos) {
    return 0;
  }
  return std::min<std::int64_t>(quantity_in_thousandths(fraction).value_or(0), 999);
}

}  // namespace

std::optional<KaiPart> kai_part(std::string_view annotation, std::string_view value) {
  if (annotation != kKaiFraction && annotation != kKaiMemory) return std::nullopt;
  KaiPart part;
  if (annotation == kKaiFraction) {
    part.permille = permille_of(value);
    if (part.permille == 0) {
      part.mistake = {Code::ValueRange,
                      "gpu-fraction annotation value must be a positive number smaller than 1.0",
                      "gpu-fraction: \"0.5\""};
    }
    return part;
  }
  part.mebibytes = std::min(whole_of(value).value_or(0), kMostMebibytes);
  if (part.mebibytes <= 0) {
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
