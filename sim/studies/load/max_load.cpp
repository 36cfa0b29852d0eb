#include "slicewise/sim/max_load.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "slicewise/lookup.hpp"
#include "slicewise/sim/world.hpp"

#include "../../result/merge.hpp"
#include "../../run/replications.hpp"
#include "../probe/islands.hpp"
#include "../probe/loads.hpp"
#include "../probe/pool_homes.hpp"
#include "load_search.hpp"

namespace slicewise::sim {
namespace {

using scenarios::Objective;

// A test needs two replications, and a handful more to be worth much where figures scatter.
constexpr int kFewestReplications = 2;
constexpr int kMoreReplications = 4;

// A scenario whose load is scaled, and the effort that a probe may take.
struct Subject {
  Scenario base;
  std::vector<LoadTarget> targets;
  int replications = kFewestReplications;
  int most_replications = kFewestReplications;
};

void leave_out_throughput(std::vector<Objective>& objectives, const std::string& name,
                          Diagnostics& notes) {
  const auto first =
      std::ranges::find(objectives, scenarios::Figure::Throughput, &Objective::figure);
  if (first == objectives.end()) return;
  add_note(notes, Code::SettingConflict, first->where,
           fmt::format("the throughput objective of \"{}\" is left out: it says how much load "
                       "there must be, not how much there may be",
                       name));
  std::erase_if(objectives,
                [](const Objective& o) { return o.figure == scenarios::Figure::Throughput; });
}

Diagnostics without_throughput(Subject& subject) {
  Diagnostics notes;
  for (const LoadTarget& target : subject.targets) {
    const bool pipeline = target.kind == LoadTarget::Kind::PipelineTraffic;
    leave_out_throughput(pipeline ? subject.base.pipelines[target.index].objectives
                                  : subject.base.workloads[target.index].objectives,
                         target.name, notes);
  }
  return notes;
}

// Objectives, or policies that deny.
bool can_fail(const Scenario& scenario) {
  return std::ranges::any_of(scenario.policies, &scenarios::Policy::may_refuse) ||
         std::ranges::any_of(scenario.workloads,
                             [](const auto& w) { return w.count > 0 && !w.objectives.empty(); }) ||
         std::ranges::any_of(scenario.pipelines,
                             [](const auto& p) { return !p.objectives.empty(); });
}

Diagnostic no_objective(const Scenario& scenario) {
  return make_diagnostic(
      Code::InputMissing, scenario.where,
      fmt::format("\"{}\" has no objective that a load could miss, and no policy that denies one",
                  scenario.name),
      "give a workload one, for example `slo: {latencyP99: 300ms}`");
}

std::vector<double> loads_of(const Subject& subject, const Scenario& scenario) {
  std::vector<double> loads;
  for (const LoadTarget& target : subject.targets) loads.push_back(load_of(scenario, target));
  return loads;
}

// One load while it is looked at.
struct Probed {
  Probed(World of, const RunOptions& options) : world(std::move(of)), run(world, options) {}

  const World world;
  IslandRun run;
  LoadProbe probe;
  bool is_whole = false;  // every workload was looked at
};

// Probes until the interval is narrow enough.
class Search {
 public:
  // `apart`: workloads that share no node with others are judged one by one, and a load ends at the
  // first that fails.
  Search(const Subject& subject, const Catalogue& catalogue, const MaxLoadOptions& options,
         bool apart)
      : subject_(subject),
        catalogue_(catalogue),
        run_(options.run),
        apart_(apart),
        search_(options.precision, options.most) {
    if (!options.run.progress) return;
    run_.progress = [this, &options](int done, int total) {
      options.run.progress(done_before_ + done, done_before_ + total);
      if (done == total) done_before_ += total;
    };
  }
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;

  // false: the ends of the interval, looked at as a whole, say something else than their parts.
  Expected<bool> find(MaxLoad& found) {
    std::vector<std::vector<double>> loads;  // of each probe
    while (const std::optional<double> factor = search_.next()) {
      const Scenario scenario = scaled(subject_.base, subject_.targets, *factor);
      std::vector<double> load = loads_of(subject_, scenario);
      // Where counts make two loads equal, the earlier probe speaks for both.
      if (const auto same = std::ranges::find(loads, load); same != loads.end()) {
        search_.record(*factor,
                       found.probes[static_cast<std::size_t>(same - loads.begin())].verdict);
        continue;
      }
      Expected<World> world = build_world(scenario, catalogue_);
      if (!world) return tl::unexpected(std::move(world.error()));
      auto probed = std::make_unique<Probed>(std::move(*world), run_);
      probed->probe.factor = *factor;
      const bool first = loads.empty();
      if (!(apart_ && !first && probed->run.is_apart() ? judge_parts(*probed)
                                                       : judge_whole(*probed))) {
        found.interrupted = true;
        return true;
      }
      search_.record(*factor, probed->probe.verdict, excess_of(probed->probe));
      loads.push_back(std::move(load));
      keep(std::move(probed), found);
      if (found.nothing_runs()) return true;
    }
    return confirm(passed_.get(), found, found.passed) &&
           confirm(failed_.get(), found, found.failed);
  }

 private:
  // A workload that is judged by itself.
  struct Part {
    std::size_t workload = 0;
    std::optional<int> replications;  // of which it is looked at next; absent: it is settled
    LoadProbe probe = {};
  };

  // More replications while the verdict stays open.
  std::optional<int> more_than(int replications, LoadVerdict verdict) const {
    const bool is_clear = verdict != LoadVerdict::Undecided;
    if (is_clear || replications >= subject_.most_replications) return std::nullopt;
    return std::min(2 * replications, subject_.most_replications);
  }

  bool judge_whole(Probed& probed) {
    probed.is_whole = true;
    for (std::optional n = subject_.replications; n; n = more_than(*n, probed.probe.verdict)) {
      if (!judge_whole(probed, *n)) return false;
    }
    return true;
  }

  bool judge_whole(Probed& probed, int replications) const {
    if (!probed.run.run_all(replications)) return false;
    const auto records = probed.run.records(replications);
    const VariantResult result = merge(probed.world, records);
    probed.probe = judge_probe(probed.probe.factor, result);
    add_new_denials(result.verdict, probed.probe);
    return true;
  }

  // By policies that hold at the scenario's own load, where nothing else fails.
  void add_new_denials(const Verdict& verdict, LoadProbe& probe) const {
    if (probe.factor <= 1 || probe.verdict != LoadVerdict::Passes) return;
    for (const Verdict::Reason& reason : verdict.reasons) {
      const bool is_new = !contains(as_is_.reasons, reason);
      if (reason.cause != Verdict::Cause::PolicyDenies || !is_new) continue;
      probe.left_behind.push_back(reason);
      probe.verdict = LoadVerdict::Fails;
    }
  }

  // Where threads are free they look at the next workloads meanwhile.
  bool judge_parts(Probed& probed) {
    std::vector<Part> parts = parts_of(probed);
    LoadProbe all = probed.probe;
    all.verdict = LoadVerdict::Passes;
    all.replications = subject_.replications;
    for (auto part = parts.begin(); part != parts.end() && all.verdict != LoadVerdict::Fails;) {
      if (!look_at_first(probed, {part, parts.end()})) return false;
      for (; part != parts.end() && !part->replications; ++part) {
        add(*part, all);
        if (all.verdict == LoadVerdict::Fails) break;
      }
    }
    probed.probe = std::move(all);
    return true;
  }

  // Those of which it is not known that they bear the load.
  std::vector<Part> parts_of(Probed& probed) const {
    std::vector<Part> parts;
    for (const std::size_t w : probed.run.busiest_first()) {
      const auto bears = bears_.find(w);
      if (bears != bears_.end() && bears->second >= probed.probe.factor) continue;
      parts.push_back({w, subject_.replications});
    }
    return parts;
  }

  // As many of those that are not settled as there are threads.
  bool look_at_first(Probed& probed, std::span<Part> parts) {
    std::vector<Part*> open;
    std::vector<IslandRun::Wanted> wanted;
    const std::size_t width = side_by_side(run_);
    for (Part& part : parts) {
      if (!part.replications || open.size() >= width) continue;
      open.push_back(&part);
      wanted.push_back({part.workload, *part.replications});
    }
    if (!probed.run.run(wanted, 1)) return false;
    for (Part* part : open) {
      if (probed.run.has({part->workload, *part->replications})) judge_part(probed, *part);
    }
    return true;
  }

  void judge_part(const Probed& probed, Part& part) const {
    const auto records = probed.run.records(*part.replications);
    part.probe =
        judge_probe(probed.probe.factor, result_of_workload(probed.world, part.workload, records));
    part.replications = more_than(*part.replications, part.probe.verdict);
  }

  void add(const Part& part, LoadProbe& all) {
    const LoadProbe& probe = part.probe;
    if (probe.verdict == LoadVerdict::Passes) bears_[part.workload] = all.factor;
    all.replications = std::max(all.replications, probe.replications);
    all.objectives.insert(all.objectives.end(), probe.objectives.begin(), probe.objectives.end());
    all.left_behind = probe.left_behind;
    if (probe.verdict != LoadVerdict::Passes) all.verdict = probe.verdict;
  }

  void keep(std::unique_ptr<Probed> probed, MaxLoad& found) {
    const std::size_t here = found.probes.size();
    found.probes.push_back(probed->probe);
    const LoadProbe& probe = found.probes.back();
    if (here == 0) {
      as_is_ = merge(probed->world, probed->run.records(probe.replications)).verdict;
      found.verdict = as_is_;
    }
    const auto take = [&](std::optional<std::size_t>& end, std::unique_ptr<Probed>& kept) {
      end = here;
      kept = std::move(probed);
    };
    if (probe.verdict == LoadVerdict::Passes &&
        (!found.passed || probe.factor > found.probes[*found.passed].factor)) {
      take(found.passed, passed_);
    } else if (probe.verdict == LoadVerdict::Fails &&
               (!found.failed || probe.factor < found.probes[*found.failed].factor)) {
      take(found.failed, failed_);
    } else {
      return;
    }
    say(found);
  }

  void say(const MaxLoad& found) const {
    if (!run_.so_far) return;
    const auto at = [&](std::optional<std::size_t> end) {
      return fmt::format("{:.3g} times the load", found.probes[*end].factor);
    };
    const std::string passes = found.passed ? "passes at " + at(found.passed) : "";
    const std::string fails = found.failed ? "fails at " + at(found.failed) : "";
    run_.so_far(passes + (found.passed && found.failed ? ", " : "") + fails);
  }

  // Looks at the rest of an end of the interval.
  bool confirm(Probed* end, MaxLoad& found, std::optional<std::size_t> probe) {
    if (end == nullptr) return true;
    const LoadProbe before = end->probe;
    if (!end->is_whole && !judge_whole(*end, before.replications)) {
      found.interrupted = true;
      return true;
    }
    if (end->probe.verdict != before.verdict) return false;
    found.probes[*probe] = end->probe;
    if (before.verdict == LoadVerdict::Fails) {
      found.binding = binding_objective(end->probe);
    } else {
      found.at_passed = merge(end->world, end->run.records(before.replications));
    }
    return true;
  }

  const Subject& subject_;
  const Catalogue& catalogue_;
  RunOptions run_;
  bool apart_;
  int done_before_ = 0;
  LoadSearch search_;
  Verdict as_is_;                        // at the scenario's own load
  std::map<std::size_t, double> bears_;  // the highest load at which a workload passed
  std::unique_ptr<Probed> passed_;       // the ends of the interval so far
  std::unique_ptr<Probed> failed_;
};

// Fills in `found.loads`.
void describe_loads(const Subject& subject, MaxLoad& found) {
  const auto at = [&](std::optional<std::size_t> probe, const LoadTarget& target) {
    return probe ? std::optional(load_of(
                       scaled(subject.base, subject.targets, found.probes[*probe].factor), target))
                 : std::nullopt;
  };
  for (const LoadTarget& target : subject.targets) {
    found.loads.push_back({target.path, target.name, unit_of(subject.base, target),
                           load_of(subject.base, target), at(found.passed, target),
                           at(found.failed, target)});
  }
}

}  // namespace

std::string_view unit_name(LoadUnit unit) {
  switch (unit) {
    case LoadUnit::RequestsPerSecond:
      return "requests/s";
    case LoadUnit::Users:
      return "users";
    case LoadUnit::Streams:
      return "streams";
    case LoadUnit::JobsPerHour:
      return "jobs/h";
  }
  return "requests/s";
}

std::optional<double> MaxLoad::width() const {
  if (!passed || !failed) return std::nullopt;
  // Counts that differ by one differ by more than their factors may.
  const ScaledLoad& load = loads.front();
  return *load.failed / *load.passed - 1;
}

Expected<MaxLoad> find_max_load(const ScenarioSet& set, std::size_t variant,
                                const Catalogue& catalogue, const MaxLoadOptions& options) {
  Subject subject;
  subject.base = with_denials(at_its_peak(set.variants[variant]));
  auto targets = load_targets(subject.base, options.scale);
  if (!targets) return tl::unexpected(std::move(targets.error()));
  subject.targets = std::move(*targets);
  subject.replications = std::max(kFewestReplications, subject.base.replications);
  subject.most_replications =
      std::max(subject.replications,
               options.most_replications.value_or(kMoreReplications * subject.replications));
  MaxLoad found;
  found.stamp = stamp_of(set, variant, subject.base, catalogue);
  found.stamp.replications = subject.replications;
  found.most_replications = subject.most_replications;
  found.precision = options.precision;
  found.most = options.most;
  found.notes = without_throughput(subject);
  if (!can_fail(subject.base)) return tl::unexpected(Diagnostics{no_objective(subject.base)});
  const MaxLoad begun = found;
  // A policy is about all workloads together.
  const bool apart = std::ranges::none_of(subject.base.policies, &scenarios::Policy::may_refuse);
  auto confirmed = Search(subject, catalogue, options, apart).find(found);
  if (confirmed && !*confirmed) {
    found = begun;
    confirmed = Search(subject, catalogue, options, false).find(found);
  }
  if (!confirmed) return tl::unexpected(std::move(confirmed.error()));
  describe_loads(subject, found);
  // With the rates at which it stood.
  const double factor = found.passed ? found.probes[*found.passed].factor : 1;
  tell_of_peak(scaled(set.variants[variant], subject.targets, factor),
               scaled(subject.base, subject.targets, factor), found.notes);
  return found;
}

}  // namespace slicewise::sim
