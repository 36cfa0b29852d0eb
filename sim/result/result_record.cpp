#include "slicewise/sim/result_record.hpp"

#include <algorithm>

#include "slicewise/lookup.hpp"
#include "slicewise/models/execution_law.hpp"
#include "slicewise/scenarios/policy.hpp"
#include "slicewise/sim/isolation.hpp"

#include "merge.hpp"

namespace slicewise::sim {
namespace {

using Role = DiffFigure::Role;

// What is not stored but follows from what is.

bool has_place(const Diagnostic& d) { return d.where.line > 0; }

std::string_view severity_of_policy(const PolicyResult& p) {
  using scenarios::PolicySeverity;
  return p.severity == PolicySeverity::Deny   ? "Deny"
         : p.severity == PolicySeverity::Warn ? "Warn"
                                              : "Require";
}

double half_width_of(const FigureRange& r) { return (r.most - r.least) / 2; }

bool has_length(const VariantResult& v) { return v.makespan.count > 0; }

bool has_price_date(const Stamp& s) { return !s.price_date.empty(); }

// For policies.

std::optional<bool> all_objectives_pass(const VariantResult& v) {
  std::size_t judged = 0;
  bool pass = true;
  for (const WorkloadResult& workload : v.workloads) {
    judged += static_cast<std::size_t>(
        std::ranges::count(workload.objectives, false, &ObjectiveResult::is_unasked));
    pass = pass && std::ranges::all_of(workload.objectives, is_kept);
  }
  return judged == 0 ? std::nullopt : std::optional(pass);
}

double node_count_of(const VariantResult& v) {
  int nodes = 0;
  for (const NodePoolResult& pool : v.node_pools) nodes += pool.nodes;
  return nodes;
}

// Each once.
template <std::string NodePoolResult::*Word>
std::vector<std::string> words_of_pools(const VariantResult& v) {
  std::vector<std::string> words;
  for (const NodePoolResult& pool : v.node_pools) {
    if (!contains(words, pool.*Word)) words.push_back(pool.*Word);
  }
  return words;
}

// A plan knows it, no single result.
std::optional<double> no_headroom(const VariantResult&) { return std::nullopt; }

int strength(Isolation::Memory level) { return static_cast<int>(level); }
int strength(Isolation::Compute level) { return static_cast<int>(level); }
int strength(Isolation::Fault level) {
  if (level == Isolation::Fault::Shared) return 0;
  return level == Isolation::Fault::Hardware ? 2 : 1;
}

// Of the pool that has least of it.
template <auto Level>
std::optional<std::string> weakest(const VariantResult& v) {
  if (v.node_pools.empty()) return std::nullopt;
  const auto rank = [](const NodePoolResult& p) { return strength(isolation_of(p).*Level); };
  const auto pool = std::ranges::min_element(v.node_pools, {}, rank);
  return std::string(level_name(isolation_of(*pool).*Level));
}

}  // namespace

std::string_view unit_word(const scenarios::FigureValue& value) {
  return std::visit(models::Overloaded{
                        [](Duration) { return "seconds"; },
                        [](scenarios::Share) { return "ratio"; },
                        [](Rate) { return "perSecond"; },
                        [](double) { return "number"; },
                    },
                    value);
}

double in_its_unit(const scenarios::FigureValue& value) {
  return std::visit(
      models::Overloaded{[](Duration d) { return to_seconds(d); },
                         [](scenarios::Share s) { return s.of_one; },
                         [](Rate r) { return r.per_second; }, [](double x) { return x; }},
      value);
}

Record declared(Of<Stamp>) {
  using S = Stamp;
  return {
      "what figures were made from",
      {field<&S::scenario>("scenario", "metadata.name of the scenario"),
       field<&S::scenario_file>("scenarioFile", "as it was given").optional(),
       field<&S::settings>("settings", "--set, in order").optional(),
       field<&S::scenario_sha256>("scenarioSha256", "SHA-256 of the scenario, in hexadecimal"),
       field<&S::inputs>("inputs", "what the scenario says after --set")
           .optional()
           .each("path=value, as --set takes it"),
       field<&S::variant>("variant", "which of its variants"),
       field<&S::seed>("seed", "seed of the random streams"),
       field<&S::replications>(
           "replications",
           "runs per variant that were asked for, each with its own random streams"),
       field<&S::version>("version", "version of slicewise"),
       field<&S::price_date>("priceDate", "date of the newest price in force, YYYY-MM-DD")
           .optional(),
       field<&S::price_file>("priceFile", "--prices file laid over the catalogue's prices")
           .when<&has_price_date>(),
       field<&S::price_file_sha256>("priceFileSha256", "SHA-256 of that file, in hexadecimal")
           .when<&has_price_date>(),
       field<&S::catalogue_files>("catalogueFiles", "--catalogue files, in order").optional(),
       field<&S::catalogue_sha256>("catalogueSha256", "SHA-256 of each of them, in hexadecimal")
           .optional(),
       field<&S::allow_pending>("allowPending", "--allow-pending: pods left Pending do not count")
           .optional(),
       field<&S::starts_at>("startsAt",
                            "when the runs of a study begin, at the peak of the traffic, UTC; "
                            "absent: as the scenario says")
           .optional()}};
}

Record declared(Of<PodCounts>) {
  using P = PodCounts;
  return {
      "what became of the pods",
      {field<&P::submitted>("submitted", "pods created, mean per replication"),
       field<&P::running_max>("runningMax", "most pods Running at once").csv(26, "podsRunningMax"),
       field<&P::pending_max>("pendingMax", "most pods Pending at once")
           .csv(27, "podsPendingMax")
           .policy("pods.pending")
           .diff({.role = Role::Pods,
                  .rank = 11,
                  .title = "pods Pending",
                  .condition = "pods.pending"}),
       field<&P::succeeded>("succeeded", "pods Succeeded, mean per replication")
           .diff({.role = Role::Pods, .rank = 10, .title = "jobs finished"}),
       field<&P::failed>("failed", "pods Failed, mean per replication")
           .csv(28, "podsFailed")
           .policy("pods.failed")
           .diff({.role = Role::Pods,
                  .rank = 13,
                  .title = "pods failed",
                  .condition = "pods.failed"}),
       field<&P::oom_kills>("oomKilled",
                            "containers that ran out of GPU memory, mean per replication")
           .csv(29, "podsOomKilled")
           .policy("pods.oomKills")
           .diff({.role = Role::Pods, .rank = 12, .title = "OOM kills", .condition = "pods.oom"}),
       field<&P::restarts>("restarts", "container restarts, mean per replication")
           .policy("pods.restarts"),
       field<&P::faults>("gpuFaults", "fatal GPU faults, mean per replication")
           .csv(39, "gpuFaults"),
       field<&P::fault_victims>(
           "faultVictims", "containers that died of the fault of a neighbour, mean per replication")
           .csv(40, "faultVictims"),
       field<&P::evicted>("evicted",
                          "pods evicted for a change of the MIG layout, from a node that ends or "
                          "for others of the queue, mean per replication")
           .csv(41, "podsEvicted"),
       field<&P::pending_reasons>("pendingReasons", "distinct messages, in order of appearance")
           .each("message of the kube-scheduler")}};
}

Record declared(Of<ProvenanceCounts>) {
  using P = ProvenanceCounts;
  return {"where the inputs of the variant come from",
          {field<&P::measured>("measured", "inputs that were measured"),
           field<&P::catalog>("catalog", "inputs from the catalogue"),
           field<&P::assumed>("assumed", "inputs that nobody measured"),
           field<&P::assumed_inputs>("assumedInputs", "which ones").each("workload: field")}};
}

Record declared(Of<Verdict::Reason>) {
  using R = Verdict::Reason;
  return {"one reason",
          {field<&R::cause>("cause", "what kind of reason it is"),
           field<&R::workload>("workload", "absent: all of them").optional(),
           field<&R::brief>("brief", "in a few words"),
           field<&R::text>("text", "one sentence, no full stop")}};
}

Record declared(Of<Verdict>) {
  using V = Verdict;
  return {"whether it does what it should",
          {field<&V::stands>("stands",
                             "every pod that should run does, every objective holds with its "
                             "interval, no policy denies it, nothing ran out of memory")
               .csv(kVerdictColumn, "stands"),
           field<&V::reasons>("reasons", "why it does not stand; empty when it does")
               .csv(kVerdictColumn + 1, "reasons", "brief")}};
}

Record declared(Of<PolicyResult::Figure>) {
  using F = PolicyResult::Figure;
  return {"a figure that the assertion asks for",
          {field<&F::name>("name", "as assertions spell it"),
           field<&F::value>("value", "for people; absent when it is not known").optional()}};
}

Record declared(Of<PolicyResult>) {
  using P = PolicyResult;
  return {"a policy of the scenario, held against the result",
          {field<&P::name>("name", "name in the scenario"),
           field<&P::assertion>("assertion", "as written in the scenario"),
           field<&P::verdict>("verdict", "unknown when a figure that decides it is absent"),
           field<&severity_of_policy>("severity", "whether a failure refuses the configuration")
               .one_of("Deny Require Warn"),
           field<&P::figures>("figures", "in the order of the assertion, each once")}};
}

Record declared(Of<Diagnostic>) {
  using D = Diagnostic;
  return {"something the user should know",
          {field<&D::code>("code", "stable code; `slicewise explain CODE` describes it"),
           field<&D::severity>("severity", "how bad it is"),
           field<&D::message>("message", "what was found"),
           field<&D::help>("help", "what to do").optional(),
           field<&D::workloads>("workloads", "that it is about").optional().each("workload"),
           field<&D::where, &SourceLocation::file>("file", "input file it comes from")
               .when<&has_place>(),
           field<&D::where, &SourceLocation::line>("line", "line in that file, from 1")
               .when<&has_place>(),
           field<&D::where, &SourceLocation::column>("column", "column in that line, from 1")
               .when<&has_place>()}};
}

const Record& finding_record() {
  static const Record declared = [] {
    const Record& whole = record_of<Diagnostic>();
    return Record{whole.meaning,
                  {whole.like("code"), whole.like("severity"), whole.like("message")}};
  }();
  return declared;
}

Record declared(Of<models::ExpectedError>) {
  using E = models::ExpectedError;
  return {
      "how far off predictions were, |predicted / measured - 1|",
      {field<&E::mode>("mode", "way of sharing, as `slicewise validate` names it"),
       field<&E::evidence>("evidence", "what was known: the least of any workload there"),
       field<&E::unlike>("unlike", "of other workloads side by side, not copies of one"),
       field<&E::rows>("rows", "published, that check; 0: there are none, nothing is known"),
       field<&E::median_percent>("medianPercent", "half of the rows are within it"),
       field<&E::ninth_decile_percent>("ninthDecilePercent", "nine of ten rows are within it")}};
}

Record declared(Of<UnsureGain>) {
  using G = UnsureGain;
  return {"a gain of sharing that may be a loss: half of such predictions are as far off",
          {field<&G::mode>("mode", "way of sharing, as `slicewise validate` names it"),
           field<&G::gain>("gain",
                           "what batch pods get done together on the GPUs that they share / one "
                           "after the other - 1")
               .of(Unit::Signed),
           field<&G::median_percent>("medianPercent", "half of the published rows are within it")}};
}

Record declared(Of<FigureRange>) {
  using F = FigureRange;
  return {"a figure of the results, where each replication drew its inputs",
          {field<&F::workload>("workload", "workload or pipeline; absent: the whole scenario")
               .optional(),
           field<&F::name>("name",
                           "monthlyUsd, per1kRequestsInSloUsd, perJobUsd, the objective that is "
                           "nearest to its limit, latencyP99 or jobCompletionP95"),
           field<&F::unit>("unit", "of the values beside it"),
           field<&F::value>("value", "of all replications together"),
           field<&half_width_of>("halfWidth95", "half of the way from the least to the most"),
           field<&F::least>("least",
                            "another replication lies between it and the most, 95 %: more "
                            "replications do not narrow it, better measurements do"),
           field<&F::most>("most", "see least")}};
}

Record declared(Of<VariantResult>) {
  using V = VariantResult;
  return {
      "one variant of the scenario",
      {field<&V::name>("name", "name in the scenario").csv(3, "variant"),
       field<&V::description>("description", "description in the scenario").optional(),
       field<&V::strategy>("strategy",
                           "of its pools, joined by a comma and a space when they differ")
           .csv(4, "strategy"),
       field<&V::seed>("seed", "seed of the random streams").csv(2, "seed"),
       field<&V::replications>("replications", "runs that were done")
           .csv(34, "variantReplications"),
       field<&V::stopped_at>(
           "stoppedAtSeconds",
           "interrupted within its first run: all figures are of what was simulated up to then")
           .optional(),
       field<&V::makespan>("makespanSeconds", "length of the run, one value per replication")
           .when<&has_length>()
           .csv(30, "makespanMeanSeconds", "mean"),
       field<&V::last_job_end>(
           "lastJobEndSeconds",
           "when the last of the Jobs that ended did, one value per replication"),
       field<&V::node_pools>("nodePools", "in the order of the scenario"),
       field<&V::rooms>("gpuRooms", "known before the run, in the order of the pools").optional(),
       field<&V::pods>("pods"),
       field<&V::workloads>("workloads", "in the order of the scenario, pipelines last"),
       field<&V::gpus>("gpus", "in the order of nodes, MIG layouts of the run, GPUs and instances"),
       field<&V::nodes>("nodes", "in the order of the pools"),
       group("cost", &cost_record),
       field<&V::node_start_up>("nodeStartUp"),
       field<&V::ranges>("ranges",
                         "--inputs sampled: where figures lie, for what is not known of the inputs")
           .optional(),
       field<&V::verdict>("verdict"),
       field<&V::policies>("policies", "in the order of the scenario").optional(),
       field<&V::findings>("findings", "in the order found"),
       field<&V::provenance>("provenance"),
       field<&V::expected_errors>("expectedErrors",
                                  "how far off the models were on published measurements of which "
                                  "as much was known, by way of sharing")
           .optional(),
       field<&V::unsure_gains>("unsureGains", "of sharing, which may be losses").optional(),
       field<&no_headroom>("").policy("headroom"),
       field<&node_count_of>("").policy("nodes"),
       field<&gpu_busy_ratio>("").of(Unit::Ratio).policy("gpu.busy"),
       field<&all_objectives_pass>("").policy("slo.pass"),
       field<&words_of_pools<&NodePoolResult::strategy>>("").policy(
           "strategy", "",
           "exclusive timeSlicing mps mig mig+mps mig+timeSlicing vgpu awsVirtualGpu nos hami kai"),
       field<&words_of_pools<&NodePoolResult::instance_type>>("").policy("instanceType"),
       field<&weakest<&Isolation::memory>>("").policy("isolation.memory", "",
                                                      "none processLimit hardware"),
       field<&weakest<&Isolation::compute>>("").policy("isolation.compute", "",
                                                       "none cap hardware"),
       field<&weakest<&Isolation::fault>>("").policy("isolation.fault", "",
                                                     "shared process hardware"),
       field<&V::pods_share_gpu>("").policy("sharedGpu"),
       field<&V::namespaces_share_gpu>("").policy(scenarios::kNamespacesShareGpu)}};
}

namespace {

Record result_metadata() {
  using R = Result;
  return {
      "what produced the result; the same values produce the same bytes",
      {stamp_field<R>("scenario").csv(1, "scenario"), stamp_field<R>("scenarioFile"),
       stamp_field<R>("settings"),
       field<&R::fidelity>("fidelity", "--fidelity, when it was given").optional(),
       field<&R::sampled_inputs>("sampledInputs", "--inputs sampled: each replication drew its own")
           .optional(),
       field<&R::cost_split>("split", "--split, when it was given").optional(),
       field<&R::group_by>("groupBy", "--group-by: workload, namespace, label:NAME or user")
           .optional()
           .csv(81, "groupBy"),
       stamp_field<R>("scenarioSha256"), stamp_field<R>("inputs"),
       stamp_field<R>("seed").saying("seed of the first variant: each says its own"),
       stamp_field<R>("replications").saying("runs of the first variant that were asked for"),
       stamp_field<R>("version"), stamp_field<R>("priceDate").csv(36, "priceDate"),
       stamp_field<R>("priceFile").csv(37, "priceFile"),
       stamp_field<R>("priceFileSha256").csv(38, "priceFileSha256"), stamp_field<R>("allowPending"),
       stamp_field<R>("catalogueFiles"), stamp_field<R>("catalogueSha256"),
       field<&R::interrupted>(
           "interrupted", "some replications were not run whole; variants without any are absent")
           .optional()
           .csv(35, "interrupted")}};
}

}  // namespace

Record declared(Of<Result>) {
  return {
      "What `slicewise run -o json` prints. SI units in the keys; fields that do not apply are "
      "absent. Keys are added, never renamed.",
      {constant("apiVersion", kResultApiVersion), constant("kind", "Result"),
       group("metadata", &once<result_metadata>),
       field<&Result::variants>("variants", "in the order of the scenario")}};
}

}  // namespace slicewise::sim
