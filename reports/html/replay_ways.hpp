#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "slicewise/reports/html_report.hpp"

#include "../screens/replay_figures.hpp"
#include "html_text.hpp"

// What the parts of the page of a replay share: its schedulers, read from its document.
namespace slicewise::reports::replayed {

using nlohmann::json;

// One scheduler of the document and what tells it from the others.
struct Way {
  std::string name;
  const json* figures;
};

inline double number(const json& object, const char* pointer, double otherwise = 0) {
  return value_at(object, pointer).value_or(otherwise);
}

// When it is tight, and how single jobs fare.
html::Markup course_section(const std::vector<Way>& ways);
html::Markup jobs_section(const std::vector<Way>& ways);

// What a page with an engine lets be moved, and its scripts.
html::Markup trial_section(const std::vector<Way>& ways);
std::string trial_scripts(const EngineInside& engine, const std::vector<Way>& ways);

}  // namespace slicewise::reports::replayed
