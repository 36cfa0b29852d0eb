// libFuzzer target: a scenario gets settings drawn from the table of fields, whether its file holds
// them or not; what gets past the reader runs for a simulated minute. An input is a scenario file,
// with lines "# set PATH=VALUE" behind it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
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

#include "../../scenarios/fields/fields.hpp"
#include "fuzz_target.hpp"

// From libFuzzer.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

namespace scenarios = slicewise::scenarios;
using scenarios::Field;
using scenarios::FieldType;

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

struct Place {
  std::string path;  // "workloads[].replicas"
  const Field* field = nullptr;
};

// Of every field of the format.
// NOLINTNEXTLINE(misc-no-recursion): as deep as the table of fields
void add_places(const Field& field, const std::string& path, std::vector<Place>& places) {
  if (!path.empty()) places.push_back({path, &field});
  const bool is_list = field.type == FieldType::Blocks;
  if (!is_list && field.type != FieldType::Block && field.type != FieldType::Resources) return;
  const std::string inside = path + (is_list ? "[]" : "");
  for (const Field& child : field.children()) {
    if (!child.is_taken()) continue;
    add_places(child, inside + (inside.empty() ? "" : ".") + std::string(child.name), places);
  }
}

// Settings of fields that the file may hold or not, each as its entry in the table has it.
class Draw {
 public:
  Draw(unsigned seed, const std::vector<std::string>& inputs) : random_(seed), inputs_(inputs) {}

  bool one_in(unsigned count) { return random_() % count == 0; }
  std::size_t below(std::size_t count) { return random_() % count; }

  std::string setting() {
    static const std::vector<Place> places = [] {
      std::vector<Place> all;
      add_places(scenarios::spec_field(), "", all);
      return all;
    }();
    const Place& place = places[below(places.size())];
    std::string path = place.path;
    for (std::size_t at = 0; (at = path.find("[]", at)) != std::string::npos; ++at) {
      path.insert(at + 1, one_in(4) ? "1" : "0");
    }
    return path + "=" + (one_in(16) ? "null" : value(*place.field, 3));
  }

 private:
  std::string one_of(std::initializer_list<const char*> texts) {
    return *(texts.begin() + static_cast<std::ptrdiff_t>(below(texts.size())));
  }
  std::string number() {
    return one_of({"0", "1", "2", "3", "7", "0.5", "48", "100", "1000", "65536", "2147483647"});
  }
  std::string integer(const Field& field) {
    if (one_in(4)) return std::to_string(one_in(2) ? field.least : field.most);
    return std::to_string(field.least + static_cast<std::int64_t>(below(9)));
  }
  std::string time(const Field& field) {
    if (one_in(4)) return one_in(2) ? "1ns" : std::to_string(field.longest.ns) + "ns";
    return number() + one_of({"us", "ms", "s", "m", "h"});
  }
  std::string word(const Field& field) {
    return std::string((field.words.begin() + below(field.words.count))->text);
  }
  // What the file says somewhere: names are taken from there.
  std::string text(const Field& field) {
    if (inputs_.empty() || one_in(2)) return std::string(field.example);
    const std::string& input = inputs_[below(inputs_.size())];
    return input.substr(input.find('=') + 1);
  }
  std::string list_of(const std::string& item) { return "[" + item + "]"; }

  // Fields that it must have, and some of the others.
  // NOLINTNEXTLINE(misc-no-recursion): as deep as the table of fields
  std::string block(const Field& field, int depth) {
    std::string out = "{";
    for (const Field& child : field.children()) {
      if (!child.is_taken() || (!child.required && (depth == 0 || !one_in(6)))) continue;
      out += (out.size() > 1 ? ", " : "") + std::string(child.name) + ": " +
             value(child, std::max(0, depth - 1));
    }
    return out + "}";
  }

  // NOLINTNEXTLINE(misc-no-recursion): as deep as the table of fields
  std::string value(const Field& field, int depth) {
    switch (field.type) {
      case FieldType::Block:
      case FieldType::Resources:
        return block(field, depth);
      case FieldType::Blocks:
        return list_of(block(field, depth) + (one_in(2) ? "" : ", " + block(field, depth)));
      case FieldType::BlockByName:
        return "{" + text(field) + ": " + block(field, depth) + "}";
      case FieldType::BlocksByName:
        return "{" + text(field) + ": " + list_of(block(field, depth)) + "}";
      case FieldType::Boolean:
        return one_in(2) ? "true" : "false";
      case FieldType::Word:
      case FieldType::Words:
        return word(field);
      case FieldType::Integer:
        return integer(field);
      case FieldType::Integers:
        return list_of(integer(field));
      case FieldType::Range:
        return "{min: " + integer(field) + ", max: " + integer(field) + "}";
      case FieldType::Number:
        return number();
      case FieldType::Percent:
        return number() + "%";
      case FieldType::Rate:
        return number() + "/s";
      case FieldType::Bytes:
        return number() + one_of({"Ki", "Mi", "Gi"});
      case FieldType::Cpu:
        return number() + one_of({"", "m"});
      case FieldType::Duration:
      case FieldType::FineDuration:
      case FieldType::Random:
        return time(field);
      case FieldType::Name:
      case FieldType::Text:
        return text(field);
      case FieldType::Names:
      case FieldType::Texts:
        return list_of(text(field));
      default:
        return std::string(field.example);
    }
  }

  std::mt19937 random_;
  const std::vector<std::string>& inputs_;
};

std::size_t mutated(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed) {
  Input input = parts_of({reinterpret_cast<const char*>(data), size});
  Draw draw(seed, values_of(input.file));
  constexpr std::size_t kMostSettings = 8;
  if (draw.one_in(32)) return LLVMFuzzerMutate(data, size, max_size);
  if (input.settings.size() >= kMostSettings || (!input.settings.empty() && draw.one_in(4))) {
    input.settings.erase(input.settings.begin() +
                         static_cast<std::ptrdiff_t>(draw.below(input.settings.size())));
  }
  // Most of what is drawn goes against some rule: one that the reader takes is looked for.
  for (int tries = 16; tries > 0; --tries) {
    input.settings.push_back(draw.setting());
    if (tries == 1 || load(input).problems.empty()) break;
    input.settings.pop_back();
  }
  std::string text = input.file;
  for (const std::string& setting : input.settings) text += std::string(kSetting) + setting;
  if (text.size() > max_size) return size;
  std::memcpy(data, text.data(), text.size());
  return text.size();
}

int run_a_minute(const std::uint8_t* data, std::size_t size) {
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

}  // namespace

const fuzz::Target scenario_run_fuzz("scenario_run_fuzz", run_a_minute, mutated);
