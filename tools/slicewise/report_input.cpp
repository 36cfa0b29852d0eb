#include "report_input.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "slicewise/models/validation.hpp"
#include "slicewise/reports/difference.hpp"
#include "slicewise/reports/result_report.hpp"
#include "slicewise/reports/studies.hpp"
#include "slicewise/sim/bill_groups.hpp"
#include "slicewise/sim/neighbours.hpp"
#include "slicewise/sim/recording.hpp"
#include "slicewise/sim/run.hpp"
#include "slicewise/sim/sampled_inputs.hpp"

#include "choices.hpp"
#include "engine_inside.hpp"
#include "files.hpp"
#include "scenario_file.hpp"
#include "terminal.hpp"

namespace slicewise::tools {
namespace {

// What a page may simulate unasked: a second or so. Counted, not timed: a page is the same on
// every machine.
constexpr double kMostRequests = 3'000'000;
constexpr double kRequestsPerPod = 100;  // that a pod costs as much as
constexpr int kMostReplications = 3;

double requests_of(const sim::VariantResult& result) {
  double requests = kRequestsPerPod * result.pods.submitted;
  for (const sim::WorkloadResult& workload : result.workloads) {
    if (workload.requests) requests += workload.requests->arrived;
  }
  return requests;
}

// Varies the inputs of the option that leads, where the scenario asks for it with its block
// `sensitivity` or the simulations are few enough for a page; else says which command does it.
// `result` is that of `option`.
void study_sensitivity(const scenarios::Scenario& option, const scenarios::ScenarioSet& set,
                       const sim::VariantResult& result, const ReportCommand& command,
                       ReportInput& input) {
  if (input.html.result.interrupted) return;
  scenarios::ScenarioSet one = set;
  one.variants = {option};
  scenarios::Scenario& base = one.variants.front();
  base.replications = std::clamp(base.replications, 2, kMostReplications);
  sim::SensitivityOptions options;
  options.break_evens = 0;
  options.run.threads = thread_count(command.jobs);
  options.run.interrupted = &catch_interrupt();
  const auto inputs = sim::count_varied_inputs(one, 0, input.catalogue, options);
  if (!inputs) return;
  const double runs = static_cast<double>(2 * *inputs + 1) * base.replications;
  if (!option.sensitivity && runs * requests_of(result) > kMostRequests) {
    input.html.no_sensitivity = fmt::format(
        "Not simulated for this page: to vary {} inputs up and down takes {:.0f} more runs of this "
        "size. `slicewise sensitivity` makes them, and so does this page when the scenario has a "
        "block `sensitivity`.",
        *inputs, runs);
    return;
  }
  auto study = sim::find_sensitivity(one, 0, input.catalogue, options);
  if (study && !study->interrupted && !study->nothing_runs()) {
    input.html.sensitivity = std::move(*study);
  }
}

// Where the figures come from, from the flags or from a stored document.
struct ReportOrigin {
  SourceText document;  // stored; no text for a scenario
  sim::Stamp stamp;     // hashes: "" for any; seed and replications are below
  std::vector<std::string> variants;
  std::vector<sim::VariantResult> made;  // of a stored result: their seeds and replications
  std::optional<std::uint64_t> seed;
  std::optional<int> replications;
  std::string fidelity;
  std::string cost_split;
  std::string group_by;
  bool sampled_inputs = false;
  Code stale = Code::ResultStale;
};

// Of a stored document, whose paths count from where it lies.
void take_stamp(const sim::Stamp& stamp, ReportOrigin& origin) {
  origin.stamp = stamp;
  origin.stamp.scenario_file = path_from(origin.document.name, stamp.scenario_file);
  origin.stamp.price_file = path_from(origin.document.name, stamp.price_file);
}

ExitCode stale(const ReportOrigin& origin, const std::string& message, const CommonFlags& flags) {
  return fail({make_diagnostic(origin.stale, {origin.document.name, 1, 1, 1}, message,
                               "make it again, or take the files of that time")},
              {origin.document}, flags);
}

std::string quoted(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=:,+-%@";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string command_of(const ReportOrigin& origin, const sim::Result& result) {
  std::string out = "slicewise run -f " + quoted(origin.stamp.scenario_file);
  for (const std::string& setting : origin.stamp.settings) out += " --set " + quoted(setting);
  for (const std::string& variant : origin.variants) out += " --variant " + quoted(variant);
  for (const std::string& file : result.stamp.catalogue_files) {
    out += " --catalogue " + quoted(file);
  }
  if (!origin.stamp.price_file.empty()) out += " --prices " + quoted(origin.stamp.price_file);
  if (origin.stamp.allow_pending) out += " --allow-pending";
  if (!origin.fidelity.empty()) out += " --fidelity " + origin.fidelity;
  if (origin.sampled_inputs) out += " --inputs sampled";
  if (!origin.cost_split.empty()) out += " --split " + origin.cost_split;
  if (!result.group_by.empty()) out += " --group-by " + quoted(result.group_by);
  // Where variants differ, it is the scenario that says so.
  const auto all_have = [&](auto sim::VariantResult::*figure, auto value) {
    return std::ranges::all_of(result.variants,
                               [&](const sim::VariantResult& v) { return v.*figure == value; });
  };
  if (all_have(&sim::VariantResult::seed, result.stamp.seed)) {
    out += fmt::format(" --seed {}", result.stamp.seed);
  }
  if (all_have(&sim::VariantResult::replications_asked, result.stamp.replications)) {
    out += fmt::format(" --replications {}", result.stamp.replications);
  }
  return out;
}

// A variant of the scenario, for a page with the engine inside.
reports::EngineInside::Variant tried(const scenarios::Scenario& variant, const ReportInput& input) {
  if (input.engine.empty()) return {};
  return {variant, scenarios::scenario_text(input.source, {input.settings}, variant)};
}

// What a page with the engine inside runs, to the figures that it has.
ExitCode let_page_simulate(const ReportOrigin& origin,
                           std::vector<reports::EngineInside::Variant> variants,
                           const CommonFlags& flags, ReportInput& input) {
  const sim::Stamp& stamp = input.html.result.stamp;
  reports::EngineInside engine;
  engine.script = std::move(input.engine);
  engine.file = input.source.name;
  engine.variants = std::move(variants);
  const auto add = [](std::vector<std::string>& to, const std::string& flag, std::string value) {
    if (!value.empty()) to.insert(to.end(), {flag, std::move(value)});
  };
  for (const std::string& file : stamp.catalogue_files) add(engine.words, "--catalogue", file);
  add(engine.words, "--prices", origin.stamp.price_file);
  add(engine.run_words, "--fidelity", origin.fidelity);
  add(engine.run_words, "--split", origin.cost_split);
  add(engine.run_words, "--inputs", origin.sampled_inputs ? "sampled" : "");
  if (origin.stamp.allow_pending) engine.run_words.emplace_back("--allow-pending");
  std::vector<SourceText> files = input.traces;
  for (std::size_t w = 0; w + 1 < engine.words.size(); w += 2) {
    auto file = read_source(engine.words[w + 1]);
    if (!file) return fail(file.error(), {}, flags);
    files.push_back(std::move(*file));
  }
  if (const ExitCode code = put_files_inside(files, flags, engine); failed(code)) return code;
  input.html.engine = std::move(engine);
  return ExitCode::Success;
}

// Reads the scenario and lays prices, seed and replications over it.
ExitCode open_origin(const ReportOrigin& origin, const CommonFlags& flags, ReportInput& input,
                     scenarios::ScenarioSet& set) {
  if (origin.stamp.scenario_file.empty() || origin.stamp.scenario_file == "-") {
    if (!origin.document.text.empty()) {
      return stale(origin, "it was made from a scenario on standard input, which is gone", flags);
    }
  }
  auto opened = open_priced(origin.stamp.scenario_file, origin.stamp.settings,
                            origin.stamp.price_file, flags);
  if (!opened) return opened.error();
  if (const ExitCode code = check_mistakes(*opened, flags); failed(code)) return code;
  const ScenarioFile& file = opened->file;
  input.prices = opened->prices;
  input.texts = file.texts;
  input.source = file.source();
  input.settings = file.is_option ? file.planned_with : file.settings;
  input.traces.assign(file.traces().begin(), file.traces().end());
  set = std::move(opened->file.loaded.set);
  input.catalogue = std::move(opened->catalogue);
  if (std::string problem;
      !origin.document.text.empty() && !has_layers(input.catalogue, origin.stamp, problem)) {
    return stale(origin, problem, flags);
  }
  if (!origin.stamp.scenario_sha256.empty() && set.sha256 != origin.stamp.scenario_sha256) {
    return stale(origin,
                 fmt::format("{} is not what this was made from", origin.stamp.scenario_file),
                 flags);
  }
  if (!origin.stamp.price_file_sha256.empty() &&
      input.prices.sha256 != origin.stamp.price_file_sha256) {
    return stale(origin, fmt::format("{} is not what this was made with", origin.stamp.price_file),
                 flags);
  }
  for (scenarios::Scenario& scenario : set.variants) {
    scenario.seed = origin.seed.value_or(scenario.seed);
    scenario.replications = origin.replications.value_or(scenario.replications);
    const auto made = std::ranges::find(origin.made, scenario.name, &sim::VariantResult::name);
    if (made != origin.made.end()) {
      scenario.seed = made->seed;
      scenario.replications = made->replications;
    }
    scenario.allow_pending |= origin.stamp.allow_pending;
    for (const auto& [word, fidelity] : kFidelities) {
      if (word == origin.fidelity) scenario.fidelity = fidelity;
    }
    for (const auto& [word, split] : kCostSplits) {
      if (word == origin.cost_split) scenario.cost_split = split;
    }
  }
  input.html.scenario_text = input.texts.front().text;
  return ExitCode::Success;
}

ExitCode simulate_set(const ReportOrigin& origin, const ReportCommand& command,
                      const CommonFlags& flags, const scenarios::ScenarioSet& set,
                      ReportInput& input) {
  if (const ExitCode code =
          check_size(input.texts, set.variants, input.catalogue, command.limits, flags);
      failed(code)) {
    return code;
  }
  Progress progress(command.progress, flags.quiet);
  const auto simulate = origin.sampled_inputs ? sim::run_sampled : sim::run_scenario;
  Expected<sim::Result> result =
      simulate(set, input.catalogue,
               {.threads = thread_count(command.jobs),
                .progress = [&](int done, int total) { progress.update(done, total); },
                .interrupted = &catch_interrupt()});
  progress.finish();
  if (!result) return fail(result.error(), input.texts, flags);
  result->stamp.scenario_file = origin.stamp.scenario_file;
  result->stamp.settings = origin.stamp.settings;
  result->fidelity = origin.fidelity;
  result->cost_split = origin.cost_split;
  sim::group_bills(origin.group_by, *result);
  result->stamp.price_file = input.prices.name;
  result->stamp.price_file_sha256 = input.prices.sha256;
  for (const sim::VariantResult& variant : result->variants) {
    const auto scenario = std::ranges::find(set.variants, variant.name, &scenarios::Scenario::name);
    auto world = sim::build_world(*scenario, input.catalogue);
    if (!world) return fail(world.error(), input.texts, flags);
    input.html.worlds.push_back(std::move(*world));
  }
  input.html.result = std::move(*result);
  if (input.is_drawn) {
    // How far the models of these ways of sharing are from published measurements.
    input.html.validation = sim::validate(
        input.catalogue,
        sim::studies_about(input.html.result.variants, models::load_validation_set()));
  }
  input.notes = set.notes;
  return ExitCode::Success;
}

// When things happen, in the option that leads.
void record_one(std::size_t variant, ReportInput& input) {
  constexpr sim::RecordingLimits kDrawn{
      .buckets = 120, .nodes = 64, .gpus = 16, .pods = 200, .intervals_per_pod = 50, .turns = 0};
  if (input.html.result.interrupted) return;
  input.html.recording = sim::record(input.html.worlds[variant], kDrawn, &catch_interrupt());
}

// The files for one variant, or why there are none.
reports::ApplySection apply_files(const scenarios::Scenario& scenario, std::string option,
                                  const models::Catalogue& catalogue) {
  reports::ApplySection apply{std::move(option), {}, {}};
  auto files = reports::render_bundle(scenario, catalogue, reports::export_options(scenario));
  if (files) {
    apply.files = std::move(*files);
  } else {
    apply.refused = std::move(files.error());
  }
  return apply;
}

// Who slows whom down, where pods of a few workloads share GPUs. What is wrong with the scenario
// has been said before: then there is no matrix.
void simulate_neighbours(const scenarios::Scenario& scenario, const scenarios::ScenarioSet& set,
                         const sim::VariantResult& variant, const ReportCommand& command,
                         ReportInput& input) {
  constexpr std::size_t kMostWorkloads = 5;
  const std::size_t workloads = variant.workloads.size();
  if (!variant.pods_share_gpu || workloads < 2 || workloads > kMostWorkloads) return;
  scenarios::ScenarioSet one = set;
  one.variants = {scenario};
  sim::NeighbourOptions options;
  options.run.threads = thread_count(command.jobs);
  options.run.interrupted = &catch_interrupt();
  auto matrix = sim::find_neighbours(one, 0, input.catalogue, options);
  if (matrix && !matrix->interrupted) input.html.neighbours = std::move(*matrix);
}

// What pages and charts show of the option that leads, the variant of the result.
void study(std::size_t variant, const scenarios::Scenario& scenario,
           const scenarios::ScenarioSet& set, const ReportCommand& command, ReportInput& input) {
  if (!input.is_drawn) return;
  const sim::VariantResult& result = input.html.result.variants[variant];
  simulate_neighbours(scenario, set, result, command, input);
  study_sensitivity(scenario, set, result, command, input);
  record_one(variant, input);
}

ExitCode report_on_scenario(const ReportOrigin& origin, const ReportCommand& command,
                            const CommonFlags& flags, ReportInput& input) {
  scenarios::ScenarioSet set;
  if (const ExitCode code = open_origin(origin, flags, input, set); failed(code)) return code;
  const bool stored = !origin.document.text.empty();
  if (stored) {
    for (const std::string& name : origin.variants) {
      if (std::ranges::find(set.variants, name, &scenarios::Scenario::name) == set.variants.end()) {
        return stale(origin, fmt::format("the scenario has no variant \"{}\"", name), flags);
      }
    }
  }
  if (const ExitCode code = keep_variants(set, origin.variants); failed(code)) return code;
  if (const ExitCode code = simulate_set(origin, command, flags, set, input); failed(code)) {
    return code;
  }
  const sim::Result& result = input.html.result;
  if (stored && !result.interrupted && !reports::has_figures_of(origin.document, result)) {
    return stale(origin, "simulating the scenario again gives other figures", flags);
  }
  if (!command.group_by.empty()) sim::group_bills(command.group_by, input.html.result);
  const sim::VariantResult* best = reports::best_variant(result);
  if (best == nullptr && !result.variants.empty()) best = &result.variants.front();
  if (best != nullptr) {
    const auto scenario = std::ranges::find(set.variants, best->name, &scenarios::Scenario::name);
    if (best->verdict.stands()) {
      input.html.apply = apply_files(*scenario, "variant " + best->name, input.catalogue);
    }
    study(static_cast<std::size_t>(best - result.variants.data()), *scenario, set, command, input);
  }
  input.html.command = command_of(origin, result);
  input.html.document = reports::Report(result).json();
  if (input.engine.empty()) return ExitCode::Success;
  std::vector<reports::EngineInside::Variant> variants;
  for (const sim::VariantResult& variant : result.variants) {
    variants.push_back(
        tried(*std::ranges::find(set.variants, variant.name, &scenarios::Scenario::name), input));
  }
  return let_page_simulate(origin, std::move(variants), flags, input);
}

std::string option_name(std::size_t option, const std::vector<sim::PoolChoice>& pools) {
  std::string name = fmt::format("#{}", option + 1);
  for (const sim::PoolChoice& pool : pools)
    name += (&pool == &pools.front() ? " " : " + ") + sim::describe(pool);
  return name;
}

ExitCode report_on_plan(ReportOrigin origin, const ReportCommand& command, const CommonFlags& flags,
                        ReportInput& input) {
  auto plan = reports::read_plan(origin.document);
  if (!plan) return fail(plan.error(), {origin.document}, flags);
  origin.stale = Code::PlanStale;
  take_stamp(plan->stamp, origin);
  origin.seed = plan->stamp.seed;
  origin.replications = plan->stamp.replications;
  scenarios::ScenarioSet set;
  if (const ExitCode code = open_origin(origin, flags, input, set); failed(code)) return code;
  const auto variant =
      std::ranges::find(set.variants, plan->stamp.variant, &scenarios::Scenario::name);
  if (variant == set.variants.end()) {
    return stale(origin, fmt::format("the scenario has no variant \"{}\"", plan->stamp.variant),
                 flags);
  }
  const scenarios::Scenario base = *variant;
  set.variants.clear();
  std::vector<reports::EngineInside::Variant> variants;
  constexpr std::size_t kMostOptions = 5;
  for (std::size_t o = 0; o < std::min(kMostOptions, plan->options.size()); ++o) {
    scenarios::Scenario option =
        sim::planned_scenario(base, plan->options[o].pools, input.catalogue);
    option.replications = plan->options[o].figures.replications;
    variants.push_back(tried(option, input));
    option.name = option_name(o, plan->options[o].pools);
    set.variants.push_back(std::move(option));
  }
  if (plan->today || set.variants.empty()) {
    variants.push_back(tried(base, input));
    set.variants.push_back(base);
    set.variants.back().name = "the scenario's own pools";
    if (plan->today) set.variants.back().replications = plan->today->figures.replications;
  }
  if (const ExitCode code = simulate_set(origin, command, flags, set, input); failed(code)) {
    return code;
  }
  const sim::Result& result = input.html.result;
  for (std::size_t o = 0; o < result.variants.size() && !result.interrupted; ++o) {
    const bool ranked = o < std::min(kMostOptions, plan->options.size());
    if (!ranked && !plan->today) continue;
    const sim::OptionFigures& planned = ranked ? plan->options[o].figures : plan->today->figures;
    if (!reports::has_figures_of(result.variants[o], planned)) {
      return stale(origin, "simulating its options again gives other figures", flags);
    }
  }
  if (!plan->options.empty() && !result.variants.empty()) {
    study(0, set.variants.front(), set, command, input);
    const scenarios::Scenario best =
        sim::planned_scenario(base, plan->options.front().pools, input.catalogue);
    // Nobody applies by mistake what nobody recommends.
    if (plan->placeholders.empty() && !plan->keep_as_is) {
      input.html.apply =
          apply_files(best, option_name(0, plan->options.front().pools), input.catalogue);
    }
  }
  input.html.command = "slicewise report " + quoted(command.file) + " -o html=report.html";
  input.html.document = origin.document.text;
  input.html.plan = std::move(*plan);
  if (input.engine.empty()) return ExitCode::Success;
  variants.resize(result.variants.size());  // an interrupt may leave some out
  return let_page_simulate(origin, std::move(variants), flags, input);
}

}  // namespace

ExitCode make_report_input(const ReportCommand& command, const CommonFlags& flags,
                           ReportInput& input) {
  ReportOrigin origin;
  if (command.file != "-" && !file_part(command.file).part) {
    Expected<SourceText> source = read_source(command.file, reports::kLargestDocument);
    if (!source) return fail(source.error(), {}, flags);
    origin.document = std::move(*source);
  }
  const bool plan = reports::looks_like_plan(origin.document);
  if (!plan && !reports::looks_like_result(origin.document)) {
    origin.document = {};
    origin.stamp.scenario_file = command.file;
    origin.stamp.settings = command.set;
    origin.variants = command.variants;
    origin.stamp.price_file = command.prices;
    origin.seed = command.seed;
    origin.replications = command.replications;
    origin.stamp.allow_pending = command.allow_pending;
    if (command.split) origin.cost_split = scenarios::split_name(*command.split);
    return report_on_scenario(origin, command, flags, input);
  }
  if (!command.set.empty() || !command.variants.empty() || !command.prices.empty() ||
      command.seed || command.replications || command.allow_pending || command.split) {
    return usage_error(
        "--set, --variant, --prices, --seed, --replications, --allow-pending and --split are those "
        "of " +
            command.file,
        "leave them out, or name the scenario instead of what was made from it");
  }
  if (plan) return report_on_plan(std::move(origin), command, flags, input);
  const auto stored = reports::read_result(origin.document);
  if (!stored) return fail(stored.error(), {origin.document}, flags);
  if (stored->interrupted) {
    return stale(origin, "this result was interrupted: it has no figures to make again", flags);
  }
  take_stamp(stored->stamp, origin);
  origin.made = stored->variants;
  for (const sim::VariantResult& variant : origin.made) origin.variants.push_back(variant.name);
  origin.fidelity = stored->fidelity;
  origin.sampled_inputs = stored->sampled_inputs;
  origin.cost_split = stored->cost_split;
  origin.group_by = stored->group_by;
  return report_on_scenario(origin, command, flags, input);
}

}  // namespace slicewise::tools
