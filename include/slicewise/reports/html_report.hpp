#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "slicewise/reports/export.hpp"
#include "slicewise/scenarios/scenario.hpp"
#include "slicewise/sim/comparison.hpp"
#include "slicewise/sim/max_load.hpp"
#include "slicewise/sim/neighbours.hpp"
#include "slicewise/sim/plan.hpp"
#include "slicewise/sim/recording.hpp"
#include "slicewise/sim/result.hpp"
#include "slicewise/sim/sensitivity.hpp"
#include "slicewise/sim/validation.hpp"
#include "slicewise/sim/world.hpp"

// The page that `slicewise report -o html` writes: one file for people who decide and people who
// apply.
namespace slicewise::reports {

// What puts one option in place.
struct ApplySection {
  std::string option;  // "variant after"
  ExportFiles files;   // empty: `refused` says why
  Diagnostics refused;
};

// What lets a page simulate by itself: the program in a browser, and what it reads there.
struct EngineInside {
  // One of HtmlReport::worlds, in their order.
  struct Variant {
    scenarios::Scenario scenario;
    std::string text;  // as a file of its own: scenarios::scenario_text()
  };
  std::string script;                        // what tools/web/build writes
  std::string file;                          // by this name the texts of variants are read
  std::vector<std::string> words;            // of every verb: --prices FILE --catalogue FILE
  std::vector<std::string> run_words;        // of `run` alone, but for --replications
  std::map<std::string, std::string> files;  // others that the words and the texts name
  std::vector<Variant> variants;
};

// What a page is made from. Parts that are absent leave their section out, or make it say why.
struct HtmlReport {
  sim::Result result;              // of a plan: its best options, as variants
  std::optional<sim::Plan> plan;   // what chose them
  std::vector<sim::World> worlds;  // of result.variants, in their order; may be empty
  std::optional<sim::NeighbourMatrix> neighbours;
  std::optional<sim::Recording> recording;           // of one replication of the option that leads
  std::optional<sim::SensitivityStudy> sensitivity;  // of the option that leads
  std::string no_sensitivity;        // why it was not studied, in a sentence; "": nothing to say
  sim::ValidationResult validation;  // studies of the ways of sharing that it is about
  std::optional<ApplySection> apply;
  std::string scenario_text;  // as it was read
  std::string command;        // that makes the same figures
  std::string document;       // the JSON that is embedded
  std::optional<EngineInside> engine{};
};

// Sections draw so many things at most, and say what they leave out; the JSON is what has to give
// way.
inline constexpr std::size_t kLargestPage = std::size_t{300} * 1024;

// One self-contained HTML document. Static: charts are SVG, nothing is fetched, and all of it can
// be read without JavaScript, which only sorts tables, copies files, switches themes and reads
// values off charts over time; and, with an engine inside, simulates what is changed. Same report,
// same bytes.
std::string html_report(const HtmlReport& report);

// A chart of the page as an SVG file that needs nothing else.
struct ReportChart {
  std::string name;  // "options", "memory", "latency-1"
  std::string svg;
};

// All of them in the order of the page; what it has no figures for has no chart.
std::vector<ReportChart> report_charts(const HtmlReport& report);
std::vector<ReportChart> latency_charts(const HtmlReport& report);  // these of them

// What there is to choose from, or every load that was tried, against the tightest objective: the
// chart of a study by itself, without another simulation. Empty where nothing has both figures.
std::vector<ReportChart> study_charts(const sim::Plan& plan);
std::vector<ReportChart> study_charts(const sim::StrategyComparison& comparison);
std::vector<ReportChart> study_charts(const sim::MaxLoad& found);

// A study as a page of its own: its chart, what a terminal shows of it, and its JSON.
std::string study_page(const sim::StrategyComparison& comparison);
std::string study_page(const sim::MaxLoad& found);
std::string study_page(const sim::NeighbourMatrix& matrix);
std::string study_page(const sim::SensitivityStudy& study);

// Whether the text is a JSON document of `slicewise replay`, well-formed or not.
bool looks_like_replay(const SourceText& source);

// The page of a trace: what the document of a replay says, drawn. Nothing is simulated again.
struct ReplayPage {
  std::string html;
  std::vector<ReportChart> charts;
  std::vector<sim::Verdict> verdicts;  // on its ways
};
// With `engine` inside, of which `words` are the flags of the replay, the page replays again what
// is moved in it. Errors: what the schema does not allow, an inflation, a replay that was
// interrupted before it began.
Expected<ReplayPage> replay_page(const SourceText& document, const EngineInside* engine = nullptr);

// The jobs that wait over the time of two replays, each by the first of its ways, in one chart with
// common axes. nullopt: one is no document of a replay, or nothing waits.
std::optional<std::string> waiting_svg(const SourceText& older, const SourceText& newer);

// What a replay's document says that it was made from: the file of the trace, its SHA-256, and the
// flags that give its figures again; "" and empty where it says nothing.
struct ReplaySource {
  std::string trace;
  std::string sha256;
  std::vector<std::string> flags;
};
ReplaySource replay_source(const SourceText& document);

// The variant that the verdict on a result speaks of; nullptr when none does the work.
const sim::VariantResult* best_variant(const sim::Result& result);

}  // namespace slicewise::reports
