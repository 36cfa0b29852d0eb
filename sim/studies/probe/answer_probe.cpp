#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "slicewise/sim/judge.hpp"

#include "../../result/merge.hpp"
#include "../../run/replications.hpp"
#include "islands.hpp"
#include "probe.hpp"
#include "scaled_input.hpp"
#include "some_workloads.hpp"

namespace slicewise::sim {
namespace {

// A finding is words already: its figures are those that have a digit, without the punctuation
// around them.
Reason reason_in(std::string_view message) {
  Reason found;
  while (!message.empty()) {
    const std::string_view word = message.substr(0, message.find(' '));
    const std::size_t first = std::min(word.find_first_not_of("$(\""), word.size());
    const std::size_t end = std::max(word.find_last_not_of(",;:.)\"") + 1, first);
    const std::string_view core = word.substr(first, end - first);
    const bool is_figure = core.find_first_of("0123456789") != std::string_view::npos;
    found.form += found.form.empty() ? "" : " ";
    found.form.append(word.substr(0, first))
        .append(is_figure ? "{}" : core)
        .append(word.substr(end));
    if (is_figure) found.figures.emplace_back(core);
    message.remove_prefix(std::min(word.size() + 1, message.size()));
  }
  return found;
}

}  // namespace

Expected<World> probe_world(const Scenario& base, const PlanProbe& probe,
                            const Catalogue& catalogue, bool force, UnknownInputs unknown) {
  const Scenario scenario = scaled_input(base, probe.input, probe.factor, catalogue);
  Expected<World> world = build_world(
      probe.pools.empty() ? scenario : planned_scenario(scenario, probe.pools, catalogue, force),
      catalogue, unknown);
  if (world) world->replications = probe.replications;
  constexpr std::uint64_t kOtherSeed = 0x9E3779B97F4A7C15;
  if (world) world->seed += static_cast<std::uint64_t>(probe.draw) * kOtherSeed;
  return world;
}

std::string filled_form(
    std::string_view form,
    const std::function<std::string(std::size_t place, std::string_view before)>& figure) {
  constexpr std::string_view kPlace = "{}";
  std::string out;
  for (std::size_t place = 0;; ++place) {
    const std::size_t at = form.find(kPlace);
    out += form.substr(0, at);
    if (at == std::string_view::npos) return out;
    out += figure(place, out);
    form.remove_prefix(at + kPlace.size());
  }
}

std::string Reason::text() const {
  return filled_form(form, [&](std::size_t place, std::string_view) {
    return place < figures.size() ? figures[place] : "";
  });
}

Reason joined(Reason first, const Reason& second) {
  first.form += second.form;
  first.figures.insert(first.figures.end(), second.figures.begin(), second.figures.end());
  return first;
}

std::optional<Refusal> refusal_of(const Expected<World>& world) {
  if (!world) {
    const auto error = std::ranges::find(world.error(), Severity::Error, &Diagnostic::severity);
    return Refusal{error->code, reason_in(error->message)};
  }
  const auto never = std::ranges::find(world->findings, Code::GpuOom, &Diagnostic::code);
  if (never == world->findings.end()) return std::nullopt;
  return Refusal{never->code, reason_in(never->message)};
}

PoolChoice unshared(const InstanceType& type, std::vector<std::string> workloads) {
  PoolChoice choice;
  choice.instance_type = type.name;
  choice.workloads = std::move(workloads);
  choice.strategy = type.gpu_fraction < 1 ? Strategy::Vgpu : Strategy::Exclusive;
  return choice;
}

std::vector<std::string> workloads_with_pods(const Scenario& scenario) {
  std::vector<std::string> names;
  for (const auto& workload : scenario.workloads) {
    if (workload.count > 0) names.push_back(workload.name.value);
  }
  return names;
}

namespace {

// Replications that show whether something fails clearly.
constexpr int kFewestToScreen = 2;
constexpr int kScreenShare = 3;

int screening_replications(int all) {
  return all <= kScreenShare ? all : std::max(kFewestToScreen, all / kScreenShare);
}

// Replications may become so many times as many while a limit lies within its interval.
constexpr int kMostTimes = 4;

// More replications may tell: all that keeps it from standing are limits within their intervals.
bool is_open(const OptionFigures& figures) {
  using Cause = Verdict::Cause;
  if (figures.stands()) return false;
  for (const Verdict::Reason& reason : figures.verdict.reasons) {
    if (reason.cause != Cause::ObjectiveMissed && reason.cause != Cause::ObjectiveUndecided) {
      return false;
    }
  }
  return std::ranges::none_of(figures.objectives, is_clearly_missed, &PlannedObjective::result);
}

// Few replications are enough where every figure is far within its limit.
bool holds_clearly(const OptionFigures& figures) {
  constexpr double kClearShare = 0.7;
  return figures.replications >= kFewestToScreen && figures.stands() &&
         figures.worst_ratio <= kClearShare;
}

// Finds the smallest number of replications from `first` to `most` on that say yes or no. Fewer
// than `all` may only say no, but for `brief` answers.
class Decision {
 public:
  Decision(int first, int all, int most, bool brief)
      : replications_(first), all_(all), most_(most), brief_(brief) {}

  // Of which the next figures must be; those that settled it.
  int replications() const { return replications_; }
  bool is_settled() const { return settled_; }
  bool yes() const { return yes_; }
  OptionFigures& figures() { return figures_; }

  // `given_up`: they are of a replication that ended as it missed something.
  void hear(OptionFigures figures, bool given_up) {
    figures_ = std::move(figures);
    const int n = replications_;
    if (given_up || fails_clearly(figures_)) return settle(false);
    if (n < all_) {
      if (brief_ && holds_clearly(figures_)) return settle(true);
      replications_ = n < screening_replications(all_) ? screening_replications(all_) : all_;
    } else if (n < most_ && is_open(figures_)) {
      replications_ = std::min(2 * n, most_);
    } else {
      settle(figures_.stands());
    }
  }

 private:
  void settle(bool yes) {
    settled_ = true;
    yes_ = yes;
  }

  int replications_;
  int all_;
  int most_;
  bool brief_;
  bool settled_ = false;
  bool yes_ = false;
  OptionFigures figures_;
};

PlanAnswer with(OptionFigures figures, bool partial = false) {
  PlanAnswer answer;
  answer.figures = std::move(figures);
  answer.partial = partial;
  return answer;
}

// What is known of a workload by itself. REQUIRES: run() of so many.
OptionFigures figures_of_workload(const World& world, const IslandRun& run, std::size_t workload,
                                  int replications) {
  const auto records = run.records(replications);
  const std::vector<SureMiss> misses = run.misses_of(workload);
  return figures_of(misses.empty() ? result_of_workload(world, workload, records)
                                   : result_of_misses(world, misses, records));
}

// Workload by workload, busiest first: the first that fails speaks for all. Where threads are free
// they look at the next ones meanwhile. `needed`: replications that the others took.
std::optional<PlanAnswer> first_that_fails(const World& world, IslandRun& run,
                                           const RunOptions& options, int all, bool brief,
                                           int& needed) {
  const std::vector<std::size_t> workloads = run.busiest_first();
  std::vector<Decision> decisions(workloads.size(), Decision(1, all, kMostTimes * all, brief));
  for (std::size_t first = 0; first < workloads.size();) {
    std::vector<std::size_t> open;
    std::vector<IslandRun::Wanted> wanted;
    const std::size_t width = side_by_side(options);
    for (std::size_t n = first; n < workloads.size() && open.size() < width; ++n) {
      if (decisions[n].is_settled()) continue;
      open.push_back(n);
      wanted.push_back({workloads[n], decisions[n].replications()});
    }
    if (!run.run(wanted, 1)) return PlanAnswer{};
    for (const std::size_t n : open) {
      const IslandRun::Wanted seen{workloads[n], decisions[n].replications()};
      if (!run.has(seen)) continue;
      decisions[n].hear(figures_of_workload(world, run, seen.workload, seen.replications),
                        !run.misses_of(seen.workload).empty());
    }
    for (; first < workloads.size() && decisions[first].is_settled(); ++first) {
      OptionFigures& figures = decisions[first].figures();
      if (!decisions[first].yes()) return with(std::move(figures), true);
      needed = std::max(needed, figures.replications);
    }
  }
  return std::nullopt;
}

// How much of the GPU kernels fill says how long they take on another one, and what they do side by
// side: nothing where they take turns on the GPU that they were measured on.
bool hangs_on_sm_active(const World& world, const Island& island) {
  return std::ranges::any_of(island.workloads, [&](std::size_t w) {
    for (std::size_t p = 0; p < world.pools.size(); ++p) {
      const PoolDemand& demand = world.workloads[w].on_pool[p];
      const bool takes_turns = world.pools[p].takes_turns();
      if (demand.schedulable && (demand.gpu_scale != 1 || !takes_turns)) return true;
    }
    return false;
  });
}

// Whether what the probe scales changes what happens on the island.
bool is_concerned(const PlanProbe& probe, const World& world, const Island& island) {
  if (probe.input == kSmActive) return hangs_on_sm_active(world, island);
  if (probe.input.empty() || probe.factor == 1) return false;
  std::vector<std::string> names;
  for (const std::size_t w : island.workloads)
    names.push_back(world.workloads[w].spec.given_name());
  return concerns(probe.input, names);
}

// What an island of a plan's world depends on beyond its place: how its nodes are had and shared,
// and what is scaled.
IslandKeys keys_of(const Scenario& base, const PlanProbe& probe, const World& world) {
  IslandKeys keys;
  for (PoolChoice choice : with_unshared(base, probe.pools)) {
    const bool limits = choice.strategy == Strategy::Mps ||
                        choice.strategy == Strategy::MpsUncapped ||
                        choice.strategy == Strategy::MigMps;
    if (!limits) choice.replicas = 1;  // only says how many may meet
    choice.workloads.clear();
    choice.mig_profiles.clear();
    choice.pods.clear();  // who sits there is of the key
    choice.nodes = 1;
    keys.pools.push_back(probe_line({.pools = {choice}, .draw = probe.draw}));
  }
  keys.about = [&probe, &world](const Island& island) -> std::string {
    if (!is_concerned(probe, world, island)) return "";
    return probe_line({.input = probe.input, .factor = probe.factor});
  };
  return keys;
}

// Whether nodes come and go, and came whenever they were asked for.
bool had_all_nodes(const World& world, std::span<const Replication> records) {
  const auto was_refused_one = [](const Replication& record) {
    return contains(record.workloads, true, &WorkloadRecord::met_node_limit);
  };
  const auto grows = [](const PoolModel& pool) { return pool.most_nodes.has_value(); };
  return std::ranges::all_of(world.pools, grows) && std::ranges::none_of(records, was_refused_one);
}

// Who lives in the probe's pools.
std::vector<std::string> homes_of(const PlanProbe& probe) {
  std::vector<std::string> names;
  for (const PoolChoice& pool : probe.pools) {
    names.insert(names.end(), pool.workloads.begin(), pool.workloads.end());
  }
  return names;
}

PlanAnswer answer(const Scenario& base, const PlanProbe& probe, const Catalogue& catalogue,
                  const RunOptions& run, IslandRecords* known) {
  PlanAnswer refused;
  const Expected<World> world = probe_world(base, probe, catalogue);
  if (auto refusal = refusal_of(world)) {
    refused.code = refusal->code;
    refused.refused = std::move(refusal->reason);
    return refused;
  }
  int all = probe.replications;
  // Of what is scaled nobody reads more than whether it stands, and what it costs.
  const bool brief = probe.until_clear && !probe.input.empty();
  // The scenario's own pools are asked about once.
  IslandRun islands(*world, run, probe.pools.empty() ? nullptr : known,
                    keys_of(base, probe, *world));
  islands.give_up_what_is_missed(probe.until_clear);
  if (probe.glance) islands.glance();
  const auto figures_with = [&](int n) -> std::optional<OptionFigures> {
    if (!islands.run_all(n)) return std::nullopt;
    return figures_of(islands.misses().empty()
                          ? merge(*world, islands.records(n))
                          : result_of_misses(*world, islands.misses(), islands.records(n)));
  };
  const bool apart = probe.until_clear && islands.is_apart();
  // Pools that were chosen stand, each by itself.
  const bool likely = apart && probe.pools.size() > 1 && probe.input.empty() && !probe.glance;
  if (likely) islands.run_together(probe.replications);
  if (apart) {
    auto failed = first_that_fails(*world, islands, run, probe.replications, brief, all);
    if (failed) return *failed;
    if (likely) islands.run_together(all);  // as many as one of them took
    if (brief) {
      auto figures = figures_with(std::min(kFewestToScreen, probe.replications));
      if (!figures) return {};
      // Each was judged by as many replications as it took.
      if (!figures->verdict.loses_pods() && figures->denied_by.empty()) figures->verdict = {};
      return with(std::move(*figures));
    }
  }
  const int first = probe.until_clear && !apart ? 1 : all;
  const int most = probe.until_clear ? kMostTimes * probe.replications : all;
  Decision decision(first, all, most, brief);
  while (!decision.is_settled()) {
    auto figures = figures_with(decision.replications());
    if (!figures) return {};
    decision.hear(std::move(*figures), !islands.misses().empty());
  }
  PlanAnswer found = with(std::move(decision.figures()), !islands.misses().empty());
  found.had_all_nodes = had_all_nodes(*world, islands.records(decision.replications()));
  return found;
}

// Each objective as near to its limit as at either time.
void take_worse(const OptionFigures& then, OptionFigures& figures) {
  for (PlannedObjective& objective : figures.objectives) {
    for (const PlannedObjective& other : then.objectives) {
      const bool is_same =
          other.workload == objective.workload && other.result.name == objective.result.name;
      if (is_same && other.result.ratio() > objective.result.ratio()) objective = other;
    }
  }
  figures.worst_ratio = std::max(figures.worst_ratio, then.worst_ratio);
  figures.latency_p99 = std::max(figures.latency_p99, then.latency_p99);
}

// At the peak of all of its traffic, and where it stands at that of each: a light Service's curve
// may be the steeper one. Whoever fails at any has the figures of that time.
PlanAnswer answer_at_peaks(const Scenario& base, const PlanProbe& probe, const Catalogue& catalogue,
                           const RunOptions& run, IslandRecords& known,
                           std::vector<IslandRecords>& known_at) {
  PlanAnswer found = answer(base, probe, catalogue, run, &known);
  for (std::size_t n = 0; n < base.other_peaks.size(); ++n) {
    if (!found.figures || found.partial || !found.figures->stands()) return found;
    const scenarios::OtherPeak& other = base.other_peaks[n];
    const bool is_here = std::ranges::any_of(other.whose, [&](const std::string& name) {
      return base.find_workload(name) != nullptr ||
             contains(base.pipelines, name,
                      [](const scenarios::Pipeline& pipeline) { return pipeline.name.value; });
    });
    if (!is_here) continue;
    Scenario there = base;
    there.starts_at = other.starts_at;
    PlanAnswer then = answer(there, probe, catalogue, run, &known_at[n]);
    if (!then.figures || then.partial || !then.figures->stands()) return then;
    take_worse(*then.figures, *found.figures);
  }
  return found;
}

// A call while it counts as one of those that share threads.
class Share {
 public:
  explicit Share(std::atomic<int>& busy) : busy_(busy) { ++busy_; }
  ~Share() { --busy_; }
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;

 private:
  std::atomic<int>& busy_;
};

}  // namespace

ProbeAnswerer probe_answerer(const Scenario& base, const Catalogue& catalogue,
                             const std::atomic<bool>* interrupted) {
  struct Shared {
    explicit Shared(const Scenario& all) : parts(all), known_at(all.other_peaks.size()) {}

    SomeWorkloads parts;
    IslandRecords known;
    std::vector<IslandRecords> known_at;  // other peaks
    std::atomic<int> busy = 0;
  };
  return [&base, &catalogue, interrupted, shared = std::make_shared<Shared>(base)](
             const PlanProbe& probe, int threads) {
    const Share share(shared->busy);
    RunOptions run;
    run.threads = threads;
    run.interrupted = interrupted;
    run.busy = &shared->busy;
    const auto of = [&](const Scenario& asked) {
      return answer_at_peaks(asked, probe, catalogue, run, shared->known, shared->known_at);
    };
    return probe.pools.empty() ? of(base) : of(shared->parts.with(homes_of(probe)));
  };
}

}  // namespace slicewise::sim
