#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/models/catalogue.hpp"
#include "slicewise/scenarios/scenario.hpp"
#include "slicewise/sim/comparison.hpp"
#include "slicewise/sim/max_load.hpp"
#include "slicewise/sim/pool_choice.hpp"
#include "slicewise/sim/run.hpp"
#include "slicewise/sim/stamp.hpp"
#include "slicewise/units.hpp"

// The cheapest configuration that meets the objectives of a scenario.
namespace slicewise::sim {

// One objective of a workload or pipeline in a simulated option.
struct PlannedObjective {
  std::string workload;
  ObjectiveResult result;
};

// What gets done of work that has no objective: nothing else says when an option slows it.
struct WorkRate {
  std::string workload;
  std::string unit;  // "epoch"
  double per_hour = 0;
  std::optional<Duration> completion = {};  // mean of its Jobs; nullopt: some do not end in the run
};

// How long a Service takes to answer that has no objective.
struct AnswerTime {
  std::string workload;
  Duration p99;
};

// What a simulation of an option found; only what a plan shows.
struct OptionFigures {
  int replications = 0;
  Usd monthly;  // nodes x price x 730 h
  Usd total;    // of the run
  std::optional<Usd> per_1k_in_slo;
  std::optional<Usd> per_job;
  std::vector<PlannedObjective> objectives;
  double worst_ratio = 0;               // the largest of the objectives; 0 without any
  std::optional<Duration> latency_p99;  // of the slowest Service or pipeline
  std::vector<AnswerTime> answers;      // of Services
  std::vector<WorkRate> work;           // of Jobs and Deployments
  std::vector<UnfinishedJobs> unfinished_jobs;
  double gpu_busy = 0;  // kernels run, share of all GPU time
  double failed = 0;    // pods, means per replication
  double oom_kills = 0;
  std::int64_t running_max = 0;
  std::int64_t pending_max = 0;
  // Of them, where a Service scales and there were no more nodes for its pods.
  std::int64_t pending_at_limit = 0;
  std::string bound_by;  // bounds_of() the workloads
  std::vector<UnsureGain> unsure_gains = {};
  std::vector<std::string> denied_by;  // policies with severity Deny that fail
  std::vector<std::string> warned_by;  // ... with severity Warn
  Verdict verdict;

  bool stands() const { return verdict.stands(); }
  // So close to a limit that another look may find it beyond.
  bool is_tight() const { return worst_ratio > 0.95; }
  // The objective that is nearest to its limit or farthest beyond it; nullptr without one.
  const PlannedObjective* tightest() const;
};

// Of a variant, whether planned or not.
OptionFigures figures_of(const VariantResult& variant);

// A way to put an option on a cluster: NVIDIA's device plugin, its DRA driver, EKS Auto Mode.
struct SetUpRoute {
  std::string by;                         // "devicePlugin", "dra", "autoMode"
  std::vector<std::string> refused = {};  // why it cannot, one sentence each; empty: it can
};

// A whole answer: every workload has a pool.
struct PlanOption {
  std::vector<PoolChoice> pools;
  OptionFigures figures;
  std::optional<double> goal;  // what is minimised, in dollars or seconds; nullopt: not defined
  bool pareto = false;         // nothing simulated is both cheaper and closer within its limits
  std::vector<SetUpRoute> routes = {};  // of the ranked options (reports::add_routes)
};

// Why something cannot be, one sentence without a full stop. Two that differ in figures only are of
// one kind.
struct Reason {
  std::string form = {};                  // "no MIG on the {}"
  std::vector<std::string> figures = {};  // numbers and names, in the order of their places

  bool empty() const { return form.empty(); }
  std::string text() const;

  friend bool operator==(const Reason&, const Reason&) = default;
};

// The form with what `figure` says of each place, which it is told by its number and the text
// before.
std::string filled_form(
    std::string_view form,
    const std::function<std::string(std::size_t place, std::string_view before)>& figure);

// What was not simulated, or not to the end, and why.
struct RejectedChoice {
  enum class Stage : std::uint8_t {
    Feasibility,  // memory, names, CPU, isolation: it cannot run
    Bound,        // a closed form says that it misses an objective or costs too much
    Simulation,   // it was simulated and misses an objective, or loses pods
  };
  Stage stage = Stage::Feasibility;
  PoolChoice choice;  // nodes 0: no number of nodes helps
  std::optional<Code> code;
  Reason reason;
  std::optional<OptionFigures> figures;  // of the largest number of nodes that was tried
};

// Sharing of the winner's GPUs among one to many pods; each with as few nodes as meet the
// objectives, or as hold the pods.
struct ReplicasPoint {
  int replicas = 1;
  int nodes = 0;
  std::optional<OptionFigures> figures;  // nullopt: cannot run
  std::string refused;                   // why
};

// A change of the scenario at which another option becomes the best one.
struct Flip {
  std::string input;    // "traffic", "workloads.asr.measured.requestGpuTime"
  double factor = 1;    // of the scenario's value, at which the winner is beaten; between it and
  double holds_at = 1;  // this it changes
  bool misses = true;   // the winner misses an objective there; else it is only dearer
  std::optional<PlanOption> winner;  // then; nullopt: none of the ranked options stands
  bool second_stands = false;        // the second option does, where the first misses an objective
};

// What would narrow the answer most if it was measured: how long a workload takes on a GPU of the
// best option, alone or with whom it shares it there.
struct TellingMeasurement {
  std::string workload;
  std::string gpu;       // model
  std::string strategy;  // in which it shares the GPU; "": alone, as its time was not measured
  std::string beside;    // the workload it shares it with; "": its own copies
  double factor = 1;     // Flip::factor of its time
  // Nine of ten predictions from as much as is known were within it; nullopt: nobody knows.
  std::optional<double> error_percent;
};

// What measured.smActive may be where nobody gave it: how long kernels take on a GPU that they were
// not measured on hangs on it. The plan takes them to fill as much as they can.
struct SmActiveRange {
  std::vector<std::string> workloads;  // that do not give it
  double holds_from = 1;               // the lowest at which the best option was seen to be best
  std::optional<double> turns_at;      // ... at which it was seen not to be; nullopt: it always is
  std::optional<PlanOption> then;  // what beats it there; nullopt: nothing that was tried stands
};

// What the jobs of traces cost as they were run: each alone on its GPUs, which are paid for only
// while a job holds them.
struct RecordedBill {
  double gpu_hours = 0;
  Usd total;                                // on-demand
  std::vector<std::string> instance_types;  // whose GPUs, the cheapest that have the model
  bool assumed = false;  // of some jobs the trace does not say the GPU: the scenario's own is taken
};

// How often EC2 takes back nodes of a spot pool, which a simulation of minutes seldom sees.
struct PlannedSpot {
  std::string pool;
  SpotRisk risk;
  double a_month = 0;  // of all its nodes, in expectation
  int most = 0;        // in 95 of 100 months, if they come independently
  // Requests a month that they cost, in expectation; absent: too long to simulate.
  std::optional<double> lost = {};
  std::optional<double> late = {};
};

// One objective over runs with other random numbers.
struct ObjectiveRisk {
  std::string workload;
  std::string name;  // "latencyP99"
  scenarios::FigureValue limit;
  scenarios::FigureValue median;
  scenarios::FigureValue p95;  // 95 of 100 runs are no worse
  int missed = 0;              // runs
};

// What chance does to the best option, run by run, and to the second with the same random numbers.
struct PlanRisk {
  int runs = 0;
  bool sampled_inputs = false;  // each run drew them anew, see run_sampled()
  int missed = 0;               // in which something of the best option fails (Verdict::fails)
  Usd monthly_p5;               // of 100 runs 5 cost less
  Usd monthly_median;
  Usd monthly_p95;
  std::vector<ObjectiveRisk> objectives;
  std::optional<int> second_cheaper;  // runs in which the second option costs less and misses
                                      // nothing; absent: there is none
  std::optional<int> second_instead;  // ... in which it misses nothing where the best one does
};

// Whether the best option holds in runs whose random numbers chose nothing, by intervals so wide
// that those of all that could have been chosen hold together at 95 % (Bonferroni).
struct PlanConfirmation {
  int runs = 0;
  std::int64_t intervals = 0;  // objectives of all configurations that stood
  bool holds = false;          // else some interval reaches over its limit
};

// Another region, in which the same nodes cost something else.
struct PlannedRegion {
  std::string region;
  std::optional<int> rank;     // of the options, from 1 on, the cheapest there; nullopt: none
  std::optional<Usd> monthly;  // of its nodes there
  std::string missing;         // why none can be bought there
};

// Requests that a step costs as its pods restart, beside a run in which none does; mean of the
// replications.
struct RestartLoss {
  double lost = 0;  // refused, dropped or timed out
  double late = 0;  // answered, but not within their objectives
};

// One step from the present pools towards cheaper ones: some of them give way to others. What
// stands before it stands after it.
struct PathStep {
  std::vector<PoolChoice> from;
  std::vector<PoolChoice> to;
  Usd saves;                          // a month
  Usd monthly;                        // of all pools after it
  int changes = 1;                    // pools that are set up, changed or removed
  int pods_restarted = 0;             // the others keep running
  std::vector<std::string> restarts;  // workloads that some of them are of
  Duration start;                     // of the slowest of them: image and model
  int nodes_launched = 0;
  int nodes_removed = 0;
  int nodes_cut_anew = 0;  // that stay, with another MIG layout: their pods leave first
  std::optional<RestartLoss> disruption;  // all pods at once; nullopt: no Service restarts
  // Of each workload one pod after the other, as a PodDisruptionBudget of one pod has it; nullopt:
  // some Service that restarts has one pod only.
  std::optional<RestartLoss> one_by_one = {};
  Duration one_by_one_takes;  // that long
};

// From where somebody is, step by step; none: keep it as it is.
struct PlanPath {
  PlanOption now;
  std::vector<PathStep> steps;
  std::optional<PlanOption> end;   // after the last one, all pools simulated together
  std::optional<int> max_changes;  // of pools; absent: as many as save
  bool ended_by_limit = false;     // more changes would save more
  bool is_cheapest = false;        // no others, of as many pools, would save more
  // Pools that stay, bought in two ways or of nodes that come and go: two or more, or those of
  // pools that cannot run.
  int kept = 0;
};

// The present pools after so many of its steps.
std::vector<PoolChoice> pools_after(const PlanPath& path, std::size_t steps);

// Months of a horizon with the same pools.
struct PlannedSpan {
  int from = 1;        // month, from 1 on
  int to = 1;          // the last one
  double traffic = 1;  // times the scenario's, in the last one
  PlanOption option;
};

// Nodes that are paid for through a term, by a discount of the catalogue.
struct PlannedCommitment {
  std::string instance_type;
  std::string kind;     // "Standard RI, 1 year, all upfront"
  std::string source;   // of the discount, and when it was seen
  double discount = 0;  // of the price by the hour
  int from = 1;         // month at whose beginning it is bought
  int months = 12;      // that it lasts
  int nodes = 1;
  Usd upfront;       // of all of them
  Usd price;         // ... over the whole term, with that
  Usd saves;         // ... against the price by the hour, over the horizon
  int pays_off = 1;  // month in which as much would have been paid by the hour
};

// What an option becomes while traffic grows: the one that costs least over all months.
struct PlanOverTime {
  int rank = 1;  // among the options
  int months = 1;
  double growth = 0;  // of the traffic, from month to month
  std::vector<PlannedSpan> spans;
  std::optional<int> next_node;   // month from which more nodes are needed
  std::optional<int> fails_from;  // month from which nothing that was tried stands
  std::vector<PlannedCommitment> commitments;
  std::vector<std::string> without_rate;  // instance types of which no discount is known
  Usd by_the_hour;                        // of all spans
  Usd total;                              // with the commitments
};

struct PlanCounts {
  std::int64_t configurations = 0;  // instance type x purchase x strategy x replicas or layout
  std::int64_t refused = 0;
  std::int64_t bounded = 0;       // by closed forms
  std::int64_t simulations = 0;   // of one configuration with one number of nodes
  std::int64_t exhaustive = 0;    // simulations of all with every number of nodes
  std::int64_t replications = 0;  // that were run
};

// What nodeSelectors cost: workloads that could run on any nodes without theirs.
struct UnselectedNodes {
  std::vector<std::string> workloads;
  PlanOption option;  // the cheapest without
};

// Where a curve of prices stops falling: at the first that the least undercuts by no more than a
// hundredth. Points without a price do not count.
std::optional<std::size_t> knee_of(std::span<const std::optional<Usd>> prices);

struct Plan {
  Stamp stamp;
  scenarios::PlanGoal goal = scenarios::PlanGoal::MonthlyCost;
  std::vector<std::string> instance_types;
  std::vector<std::string> purchases;
  std::string survives;                   // "node", "zone"; "": nothing was asked for
  std::vector<std::string> placeholders;  // workloads of made up figures: nothing is recommended
  std::optional<int> vary_pods;           // so many more or fewer might Services have
  std::vector<PlanOption> options;  // that stand, best first; at most as many as were asked for
  // Dollars; of what was tried no fleet costs less, with any numbers of pods that may be chosen,
  // if memory is to fit however pods meet and nobody is better off with more neighbours.
  std::optional<double> least_monthly;
  std::optional<PlanOption> today;        // the scenario's own pools, when it can run
  bool keep_as_is = false;                // they stand and rank before all options
  std::optional<PlanPath> path;           // absent: nobody asked for it
  std::optional<PlanOverTime> over_time;  // absent: nobody asked for it
  Usd control_plane_monthly;              // EKS's fee x 730 h, beside that of any option
  std::optional<RecordedBill> as_run;     // absent: the scenario has no recorded jobs
  std::vector<RejectedChoice> rejected;
  std::vector<std::string> nearest;      // without options: what would have to change; sentences
  std::vector<ReplicasPoint> replicas;   // of the best option's first pool
  std::optional<std::size_t> knee;       // into replicas: beyond it costs no longer fall
  std::string binding;                   // what stops more pods per GPU, in words
  std::optional<double> headroom;        // times the load that the best option bears
  std::optional<double> headroom_fails;  // ... at which it breaks
  std::string headroom_binding;          // the objective that breaks first, or what else
  std::vector<Flip> flips;
  std::optional<TellingMeasurement> measure_next;  // absent: no flip is of a time in doubt
  std::vector<PlanOption> other_pods;  // with one pod more or fewer, where that is cheaper, or
                                       // with more where nothing else stands; cheapest first
  // Over whole days, where load falls every day: the first option as it is, the cheapest of the
  // options with schedules, where that is cheaper, and the first with autoscalers.
  std::optional<PlanOption> over_days;
  std::optional<PlanOption> scheduled;
  std::optional<PlanOption> by_load;
  std::optional<UnselectedNodes> unselected;  // where that is cheaper, or nothing stands
  std::optional<PlanOption> kept_apart;       // of the options the first with PoolChoice::apart
  std::optional<SmActiveRange> sm_active;     // absent: the answer does not hang on it
  ProvenanceCounts provenance;                // of the best option's inputs
  std::optional<PlanConfirmation> confirmed;  // absent: nothing is to be met, or interrupted
  std::optional<PlanRisk> risk;        // of the best option; absent: not looked for, see notes
  std::vector<PlannedSpot> spot;       // of the best option's pools
  std::vector<PlannedRegion> regions;  // that were asked for
  std::vector<GpuRoom> rooms;          // of the best option's GPUs
  PlanCounts counts;
  bool interrupted = false;
  Diagnostics notes;
};

// One simulation that a plan asks for. Plain data: it may be done in another process.
struct PlanProbe {
  std::vector<PoolChoice> pools = {};
  int replications = 1;
  std::string input = {};  // of a flip: what is scaled; "": nothing
  double factor = 1;
  // Only whether it stands: ends at the first thing that says no, and takes more replications while
  // a limit lies within its interval.
  bool until_clear = false;
  // Random numbers: 0 are those by which configurations are found, each other number is others.
  int draw = 0;
  // The first replication ends as soon as it is likely what it will say: for who asks again before
  // it is relied upon. REQUIRES: until_clear.
  bool glance = false;

  friend bool operator==(const PlanProbe&, const PlanProbe&) = default;
};

// What a probe found, or why its pools cannot run the scenario.
struct PlanAnswer {
  std::optional<OptionFigures> figures;  // nullopt: refused, or interrupted
  std::optional<Code> code;
  Reason refused;
  bool partial = false;  // it does not stand; the figures are of what said so, by which it is known
  // No pod waited for a node that its pools may not have: with more of them the same happens.
  bool had_all_nodes = false;

  bool interrupted() const { return !figures && refused.empty(); }
};

// Called as soon as probes[p] has its answer, from any thread, one call at a time.
using ProbeAnswered = std::function<void(std::size_t p, const PlanAnswer& answer)>;

// Answers probes in any order; answers[i] belongs to probes[i]. That is all that threads and MPI
// ranks differ in.
using ProbeRunner = std::function<std::vector<PlanAnswer>(std::span<const PlanProbe> probes,
                                                          const ProbeAnswered& answered)>;

// Answers of an earlier run of the same scenario, so that they are not simulated again.
struct ProbeJournal {
  std::function<std::optional<PlanAnswer>(const PlanProbe& probe)> find;
  // As ProbeAnswered is called. Never of an interrupted probe.
  std::function<void(const PlanProbe& probe, const PlanAnswer& answer)> keep;
};

inline constexpr std::string_view kPlannedInstances[] = {
    "g4dn.xlarge", "g4dn.2xlarge", "g4dn.12xlarge", "g5.xlarge",  "g5.2xlarge", "g5.12xlarge",
    "g6.xlarge",   "g6.2xlarge",   "g6.12xlarge",   "g6e.xlarge", "g6f.xlarge", "p4d.24xlarge"};
// ... and where some pods ask for several GPUs.
inline constexpr std::string_view kPlannedForSeveralGpus[] = {
    "g5.48xlarge", "g6.48xlarge", "g6e.12xlarge", "g6e.48xlarge", "p4de.24xlarge", "p5.48xlarge"};

// What a plan must still hold every objective without, of each pool at a time.
enum class Outage : std::uint8_t {
  None,
  Node,
  Zone,  // of three, over which the nodes of a pool are spread evenly
};

// "none", "node", "zone".
std::string_view outage_name(Outage loss);
// Nodes of a pool that are left of so many.
int survivors(Outage loss, int nodes);
// As few as leave so many.
int with_spares(Outage loss, int nodes);

struct PlanOptions {
  std::vector<std::string> instance_types;  // names or families; empty: the scenario's planning,
                                            // else its own types and kPlannedInstances
  std::vector<std::string> purchases;       // empty: the scenario's, else on-demand
  std::vector<std::string> strategies;      // empty: the scenario's, else all that can be had
  bool dra = false;  // where none are named: also those that only NVIDIA's DRA driver sets up
  std::vector<int> replicas;     // empty: the scenario's, else 2, 3, 4, 6, 8, ...
  ServingWays serving;           // empty: the scenario's planning, else as it serves
  std::optional<int> max_nodes;  // of a pool; absent: the scenario's
  std::optional<Usd> max_monthly_cost;
  std::optional<scenarios::PlanGoal> goal;  // absent: the scenario's
  std::optional<bool> split;                // several pools; absent: the scenario's, else yes
  std::size_t top = 5;
  bool headroom = true;
  bool risk = true;             // unless that takes too many requests, which a note says
  bool sampled_inputs = false;  // the runs for it draw their inputs, see run_sampled()
  bool flips = true;  // and whether the answer hangs on smActive, or on one pod more or fewer
  Outage survive = Outage::None;
  int vary_pods = 0;  // so many pods more or fewer than in the scenario may a Service have
  std::vector<PoolChoice> from;      // the present pools, for Plan::path; empty: no path
  std::optional<int> max_changes;    // of pools on that path; absent: any number
  int horizon = 0;                   // months, for Plan::over_time; 0: none
  double growth = 0;                 // of the traffic, from month to month
  std::vector<std::string> regions;  // for Plan::regions; "all"
  RunOptions run;
  ProbeRunner probes;                   // absent: threads of this process
  std::optional<ProbeJournal> journal;  // never changes a byte of the plan
};

// Searches for the best way to run variant `variant`: enumerates what can be had, refuses with
// reasons, prunes by closed forms, simulates the rest under common random numbers from the cheapest
// bound on, seeks the smallest number of nodes of each, and gives workloads pools of their own
// where that is better. Errors: what is wrong with the scenario wherever it runs, unknown names.
// REQUIRES: variant < set.variants.size().
Expected<Plan> make_plan(const scenarios::ScenarioSet& set, std::size_t variant,
                         const models::Catalogue& catalogue, const PlanOptions& options = {});

// The scenario's own pools in the words of a plan, each with the workloads that run there. Errors:
// pools that a plan has no word for, workloads that run on none or on several of them.
Expected<std::vector<PoolChoice>> pools_as_they_stand(const scenarios::Scenario& scenario,
                                                      const models::Catalogue& catalogue);

// The scenario as plans and comparisons judge it: in no queue of Kueue, whose quotas are of today's
// pools, and at the peak of its traffic (at_its_peak).
scenarios::Scenario as_judged(scenarios::Scenario scenario);

// The scenario as it goes on to the end of a day, where the clock tells all that comes; else as it
// is.
scenarios::Scenario over_whole_days(scenarios::Scenario scenario);

// Answers probes by simulation: what several have in common is simulated once. May be called from
// any thread; calls at the same time share so many threads, one of which is the caller's. REQUIRES:
// `base` is the plan's variant as_judged(); it and `catalogue` outlive it.
using ProbeAnswerer = std::function<PlanAnswer(const PlanProbe& probe, int threads)>;
ProbeAnswerer probe_answerer(const scenarios::Scenario& base, const models::Catalogue& catalogue,
                             const std::atomic<bool>* interrupted = nullptr);

// One line each, for the journal and between MPI ranks; the text holds every bit.
std::string probe_line(const PlanProbe& probe);
std::string answer_line(const PlanAnswer& answer);
std::optional<PlanProbe> read_probe(std::string_view line);
std::optional<PlanAnswer> read_answer(std::string_view line);

}  // namespace slicewise::sim
