#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "slicewise/reports/studies.hpp"
#include "slicewise/scenarios/job_trace.hpp"
#include "slicewise/sim/describe.hpp"
#include "slicewise/sim/replay/sharing.hpp"

#include "../charts/charts.hpp"
#include "../document/documents.hpp"
#include "../document/record_json.hpp"
#include "../document/replay_origin_fields.hpp"
#include "../document/stored_document.hpp"
#include "../document/stored_fields.hpp"
#include "../screens/replay_figures.hpp"
#include "../screens/result_figures.hpp"
#include "../text/text_table.hpp"
#include "page_parts.hpp"
#include "replay_ways.hpp"

// The page of a replay, made from its document alone: nothing is simulated again.
namespace slicewise::reports {

namespace {

using html::HtmlCell;
using html::HtmlTable;
using html::Markup;
using nlohmann::json;
using replayed::dollars_words;
using replayed::Figure;
using replayed::number;
using replayed::ratio_words;
using replayed::seconds_words;
using replayed::Way;

// "3h16m"; "–" where there is none. Sorted by the value.
HtmlCell figure_cell(const json& object, const Figure& figure) {
  const auto value = replayed::value_at(object, figure.pointer);
  if (!value) return {};
  return {figure.text(*value), *value, ""};
}

Figure figure_of_way(std::string_view pointer) {
  return replayed::figure_of(sim::record_of<sim::ReplayOutcome>(), pointer);
}

std::string text_at(const Way& way, std::string_view pointer) {
  return figure_cell(*way.figures, figure_of_way(pointer)).text;
}

Column column_on_page(const Figure& figure) { return {std::string(figure.column->on_page), true}; }

std::vector<Way> ways_of(const json& document) {
  const json& all = document["schedulers"];
  std::vector<const char*> differing;
  for (const char* key : {"sharing", "queue", "placement"}) {
    const bool differs = std::ranges::any_of(all, [&](const json& scheduler) {
      return scheduler.value(key, "") != all.front().value(key, "");
    });
    if (differs) differing.push_back(key);
  }
  if (differing.empty()) differing = {all.front().contains("sharing") ? "sharing" : "queue"};
  std::vector<Way> ways;
  for (const json& scheduler : all) {
    std::string name;
    for (const char* key : differing) add_name(name, scheduler.value(key, ""));
    ways.push_back({std::move(name), &scheduler});
  }
  return ways;
}

bool any_has(const std::vector<Way>& ways, const char* pointer) {
  return std::ranges::any_of(
      ways, [&](const Way& way) { return way.figures->contains(json::json_pointer(pointer)); });
}

bool stands(const Way& way) { return (*way.figures)["verdict"]["stands"].get<bool>(); }

double finished(const Way& way) { return number(*way.figures, "/finished"); }

// The one with the least, of those that did the same work: that stand, else that finished the most
// jobs.
const Way& least_of(const std::vector<Way>& ways, const char* pointer) {
  const auto worth = [&](const Way& way) {
    return std::tuple(!stands(way), stands(way) ? 0 : -finished(way),
                      number(*way.figures, pointer, HUGE_VAL));
  };
  return *std::ranges::min_element(ways, {}, worth);
}

// The one that finishes a job soonest.
const Way& best_of(const std::vector<Way>& ways) {
  return least_of(ways, "/completionSeconds/mean");
}

// " (5 of 20 jobs)" of one that lost some.
std::string jobs_of(const Way& way) {
  if (stands(way)) return "";
  return fmt::format(" ({} of {} jobs)", count_text(finished(way)),
                     count_text(number(*way.figures, "/jobs")));
}

// Exclusive use if it is there, else what is named first.
const Way& reference_of(const std::vector<Way>& ways) {
  const auto alone = std::ranges::find_if(
      ways, [](const Way& way) { return way.figures->value("sharing", "") == "exclusive"; });
  return alone != ways.end() ? *alone : ways.front();
}

std::string answer(const Way& best, const Way& reference) {
  const auto mean = [](const Way& way) {
    return seconds_words(number(*way.figures, "/completionSeconds/mean")) + jobs_of(way);
  };
  if (finished(best) == 0) return "No job of the trace ever ran.";
  std::string text =
      fmt::format("With {} a job takes {} from arrival to end, on average", best.name, mean(best));
  if (&best != &reference && finished(reference) > 0) {
    text += fmt::format("; {} with {}", mean(reference), reference.name);
  }
  return text + ".";
}

HtmlTable ways_table(const std::vector<Way>& ways, const Way& best) {
  constexpr const char* kShown[] = {"/finished",
                                    "/company/oomKilled",
                                    "/waitSeconds/mean",
                                    "/waitSeconds/p99",
                                    "/completionSeconds/mean",
                                    "/completionP95Seconds",
                                    "/company/slowdown/mean",
                                    "/company/slowdown/p95",
                                    "/company/gpuBusyRatio",
                                    "/company/smActiveRatio",
                                    "/gpuUtilization",
                                    "/costUsd",
                                    "/usdPerJob"};
  HtmlTable table{
      "each way to run the trace, means over the jobs that finished", {{"Way"}}, {}, {}, true};
  for (const Way& way : ways) {
    table.rows.push_back({way.name});
    table.row_classes.emplace_back(&way == &best && ways.size() > 1 ? "best" : "");
  }
  for (const char* pointer : kShown) {
    if (!any_has(ways, pointer)) continue;
    const Figure figure = figure_of_way(pointer);
    table.columns.push_back(column_on_page(figure));
    for (std::size_t w = 0; w < ways.size(); ++w) {
      table.rows[w].push_back(figure_cell(*ways[w].figures, figure));
    }
  }
  return table;
}

std::vector<std::string> lost_jobs(const std::vector<Way>& ways) {
  std::vector<std::string> lines;
  for (const Way& way : ways) {
    for (const json& reason : (*way.figures)["verdict"]["reasons"]) {
      lines.push_back(fmt::format("{}: {}", way.name, reason["text"].get<std::string>()));
    }
  }
  return lines;
}

std::string first_screen(const json& document, const std::vector<Way>& ways) {
  std::string out = "<section id=\"verdict\" aria-labelledby=\"verdict-h\">\n";
  if (document["metadata"].value("interrupted", false)) {
    out += html::paragraph("Interrupted: jobs that had not ended by then are missing.", "bad");
  }
  const Way& best = best_of(ways);
  const bool good = stands(best);
  out += fmt::format(
      "<h2 id=\"verdict-h\" class=\"{}\"><span aria-hidden=\"true\">{}</span> {}</h2>\n",
      good ? "good" : "bad", good ? "✓" : "✗", html::escaped(answer(best, reference_of(ways))));
  const json& figures = *best.figures;
  out += html::paragraph(fmt::format("{} jobs on {}.", count_text(number(figures, "/jobs")),
                                     document["metadata"]["cluster"].get<std::string>()));
  std::vector<html::Tile> tiles = {
      {text_at(best, "/waitSeconds/mean"), "mean wait with " + best.name}};
  if (figures.contains("company")) {
    tiles.push_back({text_at(best, "/company/slowdown/mean"), "times as long on the GPU as alone"});
    tiles.push_back({text_at(best, "/company/gpuBusyRatio"),
                     figures.contains(json::json_pointer("/company/provenance/gpuUtilisation"))
                         ? fmt::format("of all GPU time jobs need their GPUs: {:.0f} % of GPU_UTIL",
                                       100 * scenarios::kBusyOfGpuUtil)
                         : "of all GPU time kernels run"});
  }
  if (figures.contains("costUsd")) {
    tiles.push_back({text_at(best, "/costUsd"),
                     fmt::format("the nodes for {}", text_at(best, "/makespanSeconds"))});
  }
  out += html::tiles_markup(tiles) + html::table_markup(ways_table(ways, best));
  const std::vector<std::string> lost = lost_jobs(ways);
  if (!lost.empty()) out += html::list_of_lines(lost);
  return out + "</section>\n";
}

// What the record of the people declares of each of them, as far as anybody has it.
HtmlTable people_table(const std::string& caption, const sim::Record& record, const json& people) {
  std::vector<Figure> shown = replayed::figures_of(record);
  std::erase_if(shown, [&](const Figure& figure) {
    return figure.column->on_page.empty() || std::ranges::none_of(people, [&](const json& person) {
             return replayed::value_at(person, figure.pointer).has_value();
           });
  });
  HtmlTable table{caption, {{"Name"}}, {}, {}, true};
  for (const Figure& figure : shown) table.columns.push_back(column_on_page(figure));
  for (const json& person : people) {
    const std::string name = person["name"].get<std::string>();
    std::vector<HtmlCell> row{name.empty() ? HtmlCell{} : HtmlCell{name}};
    for (const Figure& figure : shown) row.push_back(figure_cell(person, figure));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Markup slowed_users(const Way& way) {
  constexpr std::size_t kMostBars = 10;
  const json& users = (*way.figures)["company"]["users"];
  charts::StackedBars chart;
  chart.text = {std::string(html::kChartId) + "users",
                fmt::format("{}: the jobs of {} take {} times as long on the GPU as alone.",
                            way.name, users[0]["name"].get<std::string>(),
                            ratio_words(number(users[0], "/slowdownMean"))),
                "One bar for each user, the one slowed down most first."};
  chart.x = {"mean slowdown", tick_text, false, true};
  chart.parts = {"time alone", "time lost to sharing"};
  for (std::size_t u = 0; u < std::min(kMostBars, users.size()); ++u) {
    const double slowdown = number(users[u], "/slowdownMean");
    chart.bars.push_back({charts::shortened(users[u]["name"].get<std::string>(), 24),
                          {{1, "alone"}, {std::max(0.0, slowdown - 1), "sharing"}},
                          std::nullopt,
                          ratio_words(slowdown)});
  }
  return html::figure(draw(chart), chart.text.title,
                      {people_table("users of " + way.name + ", slowed down most first",
                                    sim::record_of<sim::SlowedUser>(), users)});
}

Markup users_section(const json& document, const std::vector<Way>& ways) {
  const auto most = [](const Way& way) {
    return number(*way.figures, "/company/users/0/slowdownMean");
  };
  // That of the best way, unless nobody is slowed down there.
  const Way* drawn = &best_of(ways);
  if (most(*drawn) <= 1) drawn = &*std::ranges::max_element(ways, {}, most);
  if (most(*drawn) <= 1) drawn = nullptr;
  Markup out;
  if (drawn != nullptr) out += slowed_users(*drawn);
  constexpr std::size_t kMostGroups = 50;
  for (const Way& way : ways) {
    json groups = way.figures->value("groups", json::array());
    const bool own = groups.empty();
    if (own && &way != drawn && any_has({way}, "/company/users")) {
      groups = (*way.figures)["company"]["users"];
    }
    if (groups.empty()) continue;
    if (groups.size() > kMostGroups) groups.erase(groups.begin() + kMostGroups, groups.end());
    const std::string by = own ? "user" : document["metadata"].value("groupBy", "");
    const auto all = static_cast<std::size_t>(number(*way.figures, "/company/userCount"));
    const std::string left_out =
        own && all > groups.size() ? fmt::format(": {} of {}", groups.size(), all) : "";
    out += html::folded(
        fmt::format("By {}, {}{}", by, way.name, left_out),
        table_markup(people_table(
            by + " with " + way.name + ", worst first",
            own ? sim::record_of<sim::SlowedUser>() : sim::record_of<sim::ReplayGroup>(), groups)));
  }
  return out.empty() ? out : html::section("users", "Who is slowed down?", out);
}

// All ways pay for the same nodes: what ends sooner costs less, and nothing else does.
Markup cost_section(const std::string& cluster, const std::vector<Way>& ways) {
  const bool any_ran = std::ranges::any_of(ways, [](const Way& way) { return finished(way) > 0; });
  if (!any_has(ways, "/costUsd") || !any_ran) return "";
  const auto cost = [](const Way& way) { return number(*way.figures, "/costUsd"); };
  const Way& cheapest = least_of(ways, "/costUsd");
  const Way& best = best_of(ways);
  const Way& least = cost(best) > cost(cheapest) ? cheapest : best;
  charts::StackedBars chart;
  chart.text = {
      std::string(html::kChartId) + "cost",
      fmt::format("{}: {} for {}{}{}.", ways.size() > 1 ? least.name + " ends first" : least.name,
                  dollars_words(cost(least)),
                  seconds_words(number(*least.figures, "/makespanSeconds")), jobs_of(least),
                  ways.size() > 1 ? ", of the same nodes" : ""),
      "One bar for each way: all nodes from the first arrival to the last end."};
  chart.x = {"dollars", dollars_tick, false, true};
  chart.parts = {"the nodes"};
  constexpr const char* kBill[] = {"/makespanSeconds", "/costUsd", "/finished", "/usdPerJob",
                                   "/gpuHoursPerUsd"};
  HtmlTable table{"the bill", {{"Way"}}, {}, {}, true};
  std::vector<const char*> bill(std::begin(kBill), std::end(kBill));
  std::erase_if(bill, [&](const char* pointer) { return !any_has(ways, pointer); });
  for (const char* pointer : bill) {
    table.columns.push_back(column_on_page(figure_of_way(pointer)));
  }
  for (const Way& way : ways) {
    if (finished(way) > 0) {
      chart.bars.push_back({way.name,
                            {{cost(way), dollars_words(cost(way))}},
                            std::nullopt,
                            dollars_words(cost(way)) + jobs_of(way)});
    }
    std::vector<HtmlCell> row{way.name};
    for (const char* pointer : bill) {
      row.push_back(figure_cell(*way.figures, figure_of_way(pointer)));
    }
    table.rows.push_back(std::move(row));
  }
  return html::section("cost", "What does it cost?",
                       html::figure(draw(chart), chart.text.title, {table}) +
                           html::paragraph("The bill is that of " + cluster +
                                           " until the last job ends, whatever runs there. What "
                                           "fewer nodes would save is another replay, of another "
                                           "--instances."));
}

// "time-slicing:4, completionMean: 5h21m, from 5h10m to 6h00m with 65 to 100 % of GPU_UTIL".
std::string range_line(const json& way, const json& range) {
  const auto name = range["name"].get<std::string>();
  const auto text = [&](const char* key) {
    const double value = range[key].get<double>();
    if (name == "costUsd") return dollars_words(value);
    return name == "slowdownMean" ? ratio_words(value) : seconds_words(value);
  };
  return fmt::format("{}, {}, {}: {}, from {} to {} with {:.0f} to {:.0f} % of GPU utilisation",
                     way.value("sharing", std::string("-")), way.value("queue", std::string("-")),
                     name, text("value"), text("least"), text("most"),
                     100 * sim::kLeastBusyOfGpuUtil, 100 * sim::kMostBusyOfGpuUtil);
}

// What the trace says of its jobs, and what was said beside the figures.
Markup evidence_section(const json& document) {
  std::vector<std::string> lines;
  for (const json& note : document["notes"]) lines.push_back(note["message"].get<std::string>());
  const json::json_pointer provenance("/company/provenance");
  const json& first = document["schedulers"].front();
  if (first.contains(provenance)) {
    const json& known = first[provenance];
    const auto say = [&](const char* key, std::string_view what, std::string_view others = "") {
      const double jobs = number(known, "/jobs");
      const double count = known.value(key, 0.0);
      std::string line =
          fmt::format("{} of {} jobs say {}", count_text(count), count_text(jobs), what);
      if (!others.empty() && count < jobs) line += (count > 0 ? "; the others " : "; they ");
      if (count < jobs) line += others;
      lines.push_back(std::move(line));
    };
    say("gpuUse", "how busy they kept their GPUs",
        "are taken for busy all the time, or for what they asked for (Assumed)");
    if (known.contains("gpuUtilisation")) {
      say("gpuUtilisation",
          fmt::format("in how much of the time kernels ran: {:.0f} % of it is taken for time that "
                      "they need the GPU, which is what is called busy here (Assumed, fitted on "
                      "pairs of RTX 3090)",
                      100 * scenarios::kBusyOfGpuUtil));
    }
    for (const json& way : document["schedulers"]) {
      for (const json& range : way.value("ranges", json::array())) {
        lines.push_back(range_line(way, range));
      }
    }
    if (known.contains("profile"))
      say("profile", "so by a rule that gave them a profile (Assumed)");
    say("smActivity", "how many SMs they used", "use all of them (Assumed)");
    say("gpuMemory", "how much GPU memory they need", "need next to none (Assumed)");
    say("gpuModel", "on which GPU they ran", "run as long here as they did there");
  }
  lines.emplace_back("one replay of what was recorded: there is no interval");
  return html::section("evidence", "What does it rest on?", html::list_of_lines(lines));
}

Markup appendix(const json& document) {
  std::string terms;
  for (const auto& [key, value] : document["metadata"].items()) {
    terms += html::definition(key, value.is_string() ? value.get<std::string>() : value.dump());
  }
  return html::section("appendix", "How do I reproduce it?",
                       "<dl>\n" + terms +
                           "</dl>\n<p>All figures as JSON are in this page, in the "
                           "element <code>&lt;script type=\"application/json\" "
                           "id=\"document\"&gt;</code>.</p>\n");
}

std::string title_of(const json& document) {
  return document["metadata"]["trace"].get<std::string>();
}

}  // namespace

bool looks_like_replay(const SourceText& source) {
  return looks_like(source, "slicewise.dev/replay.");
}

ReplaySource replay_source(const SourceText& source) {
  const json document = json::parse(source.text, nullptr, false);
  if (!document.is_object() || !document.contains("metadata")) return {};
  const json& metadata = document["metadata"];
  try {
    return {metadata.value("trace", ""), metadata.value("traceSha256", ""),
            metadata.value("flags", std::vector<std::string>())};
  } catch (const json::type_error&) {
    return {};  // replay_page() says where the document is another than its schema
  }
}

namespace {

Expected<StoredDocument> read_replay(const SourceText& source) {
  Expected<StoredDocument> stored = StoredDocument::read(source);
  if (!stored) return stored;
  check_schema(*stored, record_schema(sim::record_of<sim::ReplayStudy>()));
  if (stored->problems().empty() && stored->root()["schedulers"].empty()) {
    stored->report(Code::FieldMissing, "/schedulers", "it was interrupted before a job ran");
  }
  if (!stored->problems().empty()) return tl::unexpected(stored->problems());
  return stored;
}

}  // namespace

std::optional<std::string> waiting_svg(const SourceText& older, const SourceText& newer) {
  const Expected<StoredDocument> before = read_replay(older);
  const Expected<StoredDocument> after = read_replay(newer);
  if (!before || !after) return std::nullopt;
  std::vector<ReportChart> charts = html::page_charts(
      {{"time", "",
        replayed::course_section({{"before", &before->root()["schedulers"].front()},
                                  {"after", &after->root()["schedulers"].front()}})}});
  const auto waiting = std::ranges::find(charts, "waiting", &ReportChart::name);
  if (waiting == charts.end()) return std::nullopt;
  return std::move(waiting->svg);
}

Expected<ReplayPage> replay_page(const SourceText& source, const EngineInside* engine) {
  const Expected<StoredDocument> stored = read_replay(source);
  if (!stored) return tl::unexpected(stored.error());
  const json& document = stored->root();
  const std::vector<Way> ways = ways_of(document);
  const std::string price_date = document["metadata"].value("priceDate", "");
  html::PageText page{
      .title = title_of(document),
      .header = html::header_markup(
          title_of(document),
          fmt::format("slicewise {}{}", document["metadata"].value("version", ""),
                      price_date.empty() ? "" : ", prices of " + price_date)),
      .first = first_screen(document, ways),
      .parts = {{"trial", "What if",
                 engine == nullptr ? html::Markup() : replayed::trial_section(ways)},
                {"time", "Time", replayed::course_section(ways)},
                {"jobs", "Jobs", replayed::jobs_section(ways)},
                {"users", "Users", users_section(document, ways)},
                {"cost", "Cost",
                 cost_section(document["metadata"]["cluster"].get<std::string>(), ways)},
                {"evidence", "Evidence", evidence_section(document)},
                {"appendix", "Appendix", appendix(document)}},
      .json = html::embedded_json(source.text)};
  if (engine != nullptr) page.engine = replayed::trial_scripts(*engine, ways);
  StoredFields fields;
  std::vector<sim::Verdict> verdicts;
  verdicts.reserve(ways.size());
  for (const Way& way : ways) {
    verdicts.push_back(fields.read<sim::Verdict>((*way.figures)["verdict"]));
  }
  return ReplayPage{html::page_markup(page), html::page_charts(std::move(page.parts)),
                    std::move(verdicts)};
}

}  // namespace slicewise::reports
