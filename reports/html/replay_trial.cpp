#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "slicewise/scenarios/placements.hpp"
#include "slicewise/sim/replay/replay.hpp"

#include "embedded/page_files.hpp"
#include "page_parts.hpp"
#include "replay_ways.hpp"

// The part of a replay's page in which nodes, queue, placement and sharing are moved.
namespace slicewise::reports::replayed {
namespace {

// The flag of the cluster comes from the sliders, and these from the way.
constexpr std::array<std::string_view, 3> kClusters = {"--instances=", "--gpus=", "--nodes="};
constexpr std::array<std::string_view, 3> kOfWay = {"--sharing=", "--queue=", "--placement="};

bool is_one_of(const std::string& word, const std::array<std::string_view, 3>& flags) {
  return std::ranges::any_of(flags, [&](std::string_view flag) { return word.starts_with(flag); });
}

json queue_words() {
  json words = json::array();
  constexpr auto kLast = static_cast<int>(sim::QueuePolicy::AntMan);
  for (int n = 0; n <= kLast; ++n) {
    words.push_back(sim::policy_name(static_cast<sim::QueuePolicy>(n)));
  }
  return words;
}

}  // namespace

html::Markup trial_section(const std::vector<Way>& ways) {
  std::string options;
  for (const Way& way : ways)
    options += fmt::format("<option>{}</option>", html::escaped(way.name));
  return html::trial_markup("Way", options, "Copy the command");
}

std::string trial_scripts(const EngineInside& engine, const std::vector<Way>& ways) {
  json trial{{"file", engine.file},     {"files", engine.files},
             {"cluster", ""},           {"words", json::array()},
             {"queues", queue_words()}, {"placements", scenarios::kPlacementWords}};
  for (const std::string& word : engine.words) {
    if (is_one_of(word, kClusters)) {
      trial["cluster"] = word;
    } else if (!is_one_of(word, kOfWay)) {
      trial["words"].push_back(word);
    }
  }
  for (const Way& way : ways) {
    json& flags = trial["ways"][way.name];
    for (const char* key : {"sharing", "queue", "placement"}) {
      if (way.figures->contains(key)) flags[key] = (*way.figures)[key];
    }
  }
  return html::trial_elements(trial, engine.script, page_files::trial_replay_js());
}

}  // namespace slicewise::reports::replayed
