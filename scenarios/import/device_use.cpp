#include "device_use.hpp"

#include <algorithm>
#include <tuple>

namespace slicewise::scenarios {
namespace {

struct UsePart {
  std::int64_t at = 0;
  std::uint32_t pod = 0;
  std::uint32_t part = 0;
  double value = 0;
};

// All entries of one instant, pod by pod.
struct Instant {
  const UsePart* begin = nullptr;
  const UsePart* end = nullptr;
  int pods = 0;
  bool is_equal = true;
  double most = 0;
};

Instant instant_at(const std::vector<UsePart>& entries, std::size_t first) {
  Instant instant{&entries[first], &entries[first]};
  const UsePart* const stop = entries.data() + entries.size();
  for (; instant.end != stop && instant.end->at == instant.begin->at; ++instant.end) {
    const UsePart& entry = *instant.end;
    const bool is_new = instant.end == instant.begin || entry.pod != (instant.end - 1)->pod;
    instant.pods += is_new ? 1 : 0;
    instant.is_equal = instant.is_equal && entry.value == instant.begin->value;
    instant.most = std::max(instant.most, entry.value);
  }
  return instant;
}

std::size_t size_of(const Instant& instant) {
  return static_cast<std::size_t>(instant.end - instant.begin);
}

}  // namespace

void DeviceUse::add(Metric metric, std::uint32_t pod, const std::string& part,
                    const std::vector<Sample>& samples) {
  std::vector<Part>& parts = samples_[metric];
  auto found = std::ranges::find_if(
      parts, [&](const Part& known) { return known.pod == pod && known.name == part; });
  if (found == parts.end()) found = parts.insert(parts.end(), Part{pod, part, {}});
  found->samples.insert(found->samples.end(), samples.begin(), samples.end());
}

DeviceUse::Uses DeviceUse::uses(Metric metric) const {
  Uses result;
  const auto found = samples_.find(metric);
  if (found == samples_.end()) return result;
  std::vector<UsePart> entries;
  std::uint32_t number = 0;
  for (const Part& part : found->second) {
    for (const Sample& sample : part.samples) {
      entries.push_back({sample.at, part.pod, number, sample.value});
    }
    ++number;
  }
  const auto identity = [](const UsePart& e) { return std::tuple(e.at, e.pod, e.part); };
  std::ranges::stable_sort(entries, {}, identity);
  // Answers that overlap repeat samples.
  entries.erase(
      std::unique(entries.begin(), entries.end(),
                  [&](const UsePart& a, const UsePart& b) { return identity(a) == identity(b); }),
      entries.end());

  // Idle instants are equal either way. Samples at the borders of a pod's life may differ.
  std::int64_t shared = 0;
  std::int64_t equal = 0;
  for (std::size_t i = 0; i < entries.size();) {
    const Instant instant = instant_at(entries, i);
    i += size_of(instant);
    result.most_pods = std::max(result.most_pods, instant.pods);
    if (size_of(instant) < 2 || instant.most == 0) continue;
    ++shared;
    equal += instant.is_equal ? 1 : 0;
  }
  const bool repeated = shared > 0 && equal * 10 >= shared * 9;

  for (std::size_t i = 0; i < entries.size();) {
    const Instant instant = instant_at(entries, i);
    i += size_of(instant);
    for (const UsePart* entry = instant.begin; entry != instant.end;) {
      Use use{entry->pod, entry->at, 0};
      for (; entry != instant.end && entry->pod == use.pod; ++entry) {
        use.value = repeated ? std::max(use.value, entry->value) : use.value + entry->value;
      }
      if (repeated) use.value /= instant.pods;
      result.of_pods.push_back(use);
      if (instant.pods > 1) ++(repeated ? result.split : result.of_processes);
    }
  }
  return result;
}

}  // namespace slicewise::scenarios
