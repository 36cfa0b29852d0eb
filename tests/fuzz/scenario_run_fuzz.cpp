// libFuzzer target: a scenario whose values are changed one by one, as the format has them, gets
// past the reader and runs for a simulated minute. An input is a scenario file, with lines "# set
// PATH=VALUE" behind it.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/scenarios/load.hpp"
#include "slicewise/sim/cluster/cluster.hpp"
#include "slicewise/sim/run_size.hpp"
#include "slicewise/sim/world.hpp"

// From libFuzzer.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

namespace scenarios = slicewise::scenarios;

constexpr std::string_view kSetting = "\n# set ";

struct Input {
  std::string file;
  std::vector<std::string> settings;
};

Input parts_of(std::string_view text) {
  const std::size_t first = text.find(kSetting);
  Input input{std::string(text.substr(0, first)), {}};
  for (std::size_t at = first; at != std::string_view::npos;) {
    const std::size_t next = text.find(kSetting, at + 1);
    input.settings.emplace_back(text.substr(at + kSetting.size(), next - at - kSetting.size()));
    at = next;
  }
  return input;
}

scenarios::LoadedScenario load(const Input& input) {
  return scenarios::read_scenario_file(
      {"fuzz", input.file}, {.set = input.settings},
      [](const std::string& path) -> slicewise::Expected<slicewise::SourceText> {
        return slicewise::SourceText{path, "arrival_s,run_s,gpus\n0,60,1\n5,60,2\n"};
      });
}

// What the fields of a file say, "workloads.asr.replicas=4".
const std::vector<std::string>& values_of(const std::string& file) {
  static std::map<std::string, std::vector<std::string>> known;
  const auto [found, is_new] = known.try_emplace(file);
  if (is_new) found->second = load({file, {}}).set.inputs;
  return found->second;
}

// A value near the one that is there: its ends, its unit kept, or that of another field.
std::string changed(const std::string& value, const std::vector<std::string>& all,
                    std::mt19937& random) {
  static constexpr std::array kNumbers = {"0",  "1",   "2",    "3",     "7",          "0.5",
                                          "48", "100", "1000", "65536", "2147483647", "null"};
  const std::size_t digits = value.find_first_not_of("0123456789.");
  const std::string unit = digits == std::string::npos ? "" : value.substr(digits);
  if (random() % 4 == 0) {
    const std::string& other = all[random() % all.size()];
    return other.substr(other.find('=') + 1);
  }
  return digits == 0 ? value : kNumbers[random() % kNumbers.size()] + unit;
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): the names that libFuzzer looks for
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  std::mt19937 random(seed);
  Input input = parts_of({reinterpret_cast<const char*>(data), size});
  const std::vector<std::string>& values = values_of(input.file);
  constexpr std::size_t kMostSettings = 8;
  if (values.empty() || random() % 32 == 0) return LLVMFuzzerMutate(data, size, max_size);
  if (input.settings.size() >= kMostSettings || (!input.settings.empty() && random() % 4 == 0)) {
    input.settings.erase(input.settings.begin() +
                         static_cast<std::ptrdiff_t>(random() % input.settings.size()));
  }
  const std::string& field = values[random() % values.size()];
  const std::size_t equals = field.find('=');
  input.settings.push_back(field.substr(0, equals + 1) +
                           changed(field.substr(equals + 1), values, random));
  std::string text = input.file;
  for (const std::string& setting : input.settings) text += std::string(kSetting) + setting;
  if (text.size() > max_size) return size;
  std::memcpy(data, text.data(), text.size());
  return text.size();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const slicewise::models::Catalogue catalogue = slicewise::models::load_catalogue();
  const scenarios::LoadedScenario loaded =
      load(parts_of({reinterpret_cast<const char*>(data), size}));
  if (!loaded.problems.empty()) return 0;
  constexpr slicewise::sim::SizeLimits kSmall{1e6, slicewise::mebibytes(256)};
  for (scenarios::Scenario scenario : loaded.set.variants) {
    constexpr slicewise::Duration kMinute = slicewise::seconds(60);
    scenario.duration = std::min(kMinute, scenario.duration.value_or(kMinute));
    scenario.warmup = std::min(scenario.warmup, *scenario.duration);
    const auto world = slicewise::sim::build_world(scenario, catalogue);
    if (!world ||
        !slicewise::sim::beyond_limits(slicewise::sim::estimate_size(*world), kSmall).empty())
      continue;
    try {
      slicewise::sim::run_replication(*world, 0);
    } catch (const slicewise::sim::Standstill&) {  // an answer
    }
  }
  return 0;
}
// NOLINTEND(readability-identifier-naming)
