#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/counted.hpp"

#include "../text/text_table.hpp"
#include "plan_screen.hpp"
#include "plan_words.hpp"
#include "result_figures.hpp"

namespace slicewise::reports {
namespace {

// "5 pods (asr, tts), within 52 s"; who they are, unless that is half the fleet.
std::string restarts_text(const sim::PathStep& step) {
  if (step.pods_restarted == 0) return "no pod";
  constexpr std::size_t kNamed = 4;
  std::string text = counted(step.pods_restarted, "pod");
  if (step.restarts.size() <= kNamed) {
    text += fmt::format(" ({})", fmt::join(step.restarts, ", "));
  } else {
    text += fmt::format(" of {} workloads", step.restarts.size());
  }
  if (step.start > Duration{}) text += fmt::format(", {} each", duration_text(step.start));
  return text;
}

std::string nodes_text(const sim::PathStep& step) {
  std::vector<std::string> parts;
  if (step.nodes_launched > 0) parts.push_back(fmt::format("+{}", step.nodes_launched));
  if (step.nodes_removed > 0) parts.push_back(fmt::format("-{}", step.nodes_removed));
  if (step.nodes_cut_anew > 0) parts.push_back(fmt::format("MIG anew on {}", step.nodes_cut_anew));
  return parts.empty() ? "the same" : fmt::format("{}", fmt::join(parts, ", "));
}

std::string becomes_text(const sim::PathStep& step) {
  return fmt::format("{} becomes {}", pools_text(step.from), pools_text(step.to));
}

std::string saves_text(Usd saves) {
  return saves.nano < 0 ? fmt::format("-{}", money_text(Usd{-saves.nano})) : money_text(saves);
}

// `has_limits`: without objectives none can be late.
std::string loss_text(const sim::RestartLoss& loss, bool has_limits) {
  const double lost = std::round(loss.lost);
  const double late = std::round(loss.late);
  if (lost + late == 0) return has_limits ? "no request is lost or late" : "no request is lost";
  return fmt::format("{} {} lost, {} late", count_text(lost), lost == 1 ? "request" : "requests",
                     count_text(late));
}

// Of the step with that number, where it is of Services.
std::string disruption_sentence(const sim::PlanPath& path, std::size_t number) {
  const sim::PathStep& step = path.steps[number - 1];
  if (!step.disruption) return "";
  const bool has_limits = !path.now.figures.objectives.empty();
  std::string costs = loss_text(*step.disruption, has_limits);
  if (step.one_by_one) {
    costs += fmt::format(
        "; of each Service one after the other, as a PodDisruptionBudget with "
        "maxUnavailable: 1 has it, in {}: {}",
        duration_text(step.one_by_one_takes), loss_text(*step.one_by_one, has_limits));
  }
  const bool is_unknown = !step.restarts.empty() && step.start == Duration{};
  return fmt::format("Step {}, all its pods at once: {}{}.", number, costs,
                     is_unknown ? ", if pods are ready at once: nobody says how long they take to "
                                  "start (startup.imagePull, startup.modelLoad)"
                                : "");
}

std::string end_sentence(const sim::PlanPath& path) {
  const std::string kept =
      path.kept == 0 ? ""
                     : fmt::format(
                           " {} stay as they are, whatever they cost: they are bought in two ways, "
                           "or their nodes come and go.",
                           counted(path.kept, "pool"));
  if (path.steps.empty()) {
    return (path.ended_by_limit ? "Nothing within --max-changes saves: keep it as it is."
                                : "Nothing that was tried saves: keep it as it is.") +
           kept;
  }
  Usd saved;
  int changes = 0;
  for (const sim::PathStep& step : path.steps) {
    saved = saved + step.saves;
    changes += step.changes;
  }
  const char* const plural = path.steps.size() == 1 ? "s" : "";
  std::string text =
      fmt::format("{} of {} ", counted(path.steps.size(), "step"), counted(changes, "pool"));
  text += saved.nano < 0
              ? fmt::format("cost{} {} more a month: what the present pools miss is mended.",
                            plural, money_text(Usd{-saved.nano}))
              : fmt::format("save{} {} a month.", plural, saves_text(saved));
  if (path.is_cheapest && path.max_changes) {
    text += " Of all ways to change no more pools than that none saves more.";
  }
  if (path.ended_by_limit) text += " More changes than --max-changes allows may save more.";
  if (path.end && !path.end->figures.stands()) text += " Even then an objective is missed.";
  if (path.end) text += slower_answers_sentence(path.end->figures, path.now.figures);
  return text + kept;
}

}  // namespace

std::vector<std::string> step_sentences(const sim::PlanPath& path, std::size_t number) {
  const sim::PathStep& step = path.steps[number - 1];
  std::vector<std::string> sentences{
      becomes_text(step) + ".",
      fmt::format("{}: all pools then cost {}.",
                  step.saves.nano < 0
                      ? fmt::format("It costs {} more a month", money_text(Usd{-step.saves.nano}))
                      : fmt::format("It saves {} a month", money_text(step.saves)),
                  money_text(step.monthly)),
      fmt::format("Nodes: {}. What restarts: {}.", nodes_text(step), restarts_text(step)),
      disruption_sentence(path, number)};
  std::erase(sentences, "");
  return sentences;
}

ScreenPart plan_path_part(const sim::PlanPath& path, const TextStyle& style) {
  const std::string none(signs(style).none);
  ScreenPart part{.heading = "FROM WHERE YOU ARE"};
  part.table.columns = {{"STEP", true},
                        {"CHANGE", false, kNeverDropped},
                        {"SAVES", true, kNeverDropped},
                        price_column("monthlyUsd"),
                        {"NODES", false, 1},
                        {"RESTARTS", false, 2}};
  const bool stands = path.now.figures.stands();
  part.table.rows.push_back({none,
                             fmt::format("keep as is: {}{}", pools_text(path.now.pools),
                                         stands ? "" : " (misses what it should hold)"),
                             none, money_text(path.now.figures.monthly), none, none});
  for (std::size_t s = 0; s < path.steps.size(); ++s) {
    const sim::PathStep& step = path.steps[s];
    part.table.rows.push_back({std::to_string(s + 1), becomes_text(step), saves_text(step.saves),
                               money_text(step.monthly), nodes_text(step), restarts_text(step)});
  }
  part.sentences.push_back({end_sentence(path)});
  for (std::size_t s = 0; s < path.steps.size(); ++s) {
    std::string line = disruption_sentence(path, s + 1);
    if (!line.empty()) part.sentences.push_back({std::move(line)});
  }
  return part;
}

}  // namespace slicewise::reports
