#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "slicewise/reports/studies.hpp"
#include "slicewise/scenarios/cron.hpp"
#include "slicewise/sim/plan_record.hpp"

#include "record_json.hpp"
#include "stored_document.hpp"
#include "stored_fields.hpp"

namespace slicewise::reports {
namespace {

using nlohmann::json;
using sim::PoolChoice;

constexpr std::int64_t kMostNodes = 1'000'000;
constexpr std::int64_t kMostReplicas = 10'000;  // as nodePools.devicePlugin has it
constexpr std::int64_t kMostInstances = 64;
constexpr int kMostPods = 100'000;

// Another version is said alone: its keys are another's.
bool is_of_this_version(StoredDocument& document) {
  const std::string version = document.required_text("/apiVersion");
  if (version == sim::kPlanApiVersion || !document.problems().empty())
    return version == sim::kPlanApiVersion;
  document.report(
      Code::ApiVersionUnknown, "/apiVersion", fmt::format("\"{}\" is not read here", version),
      fmt::format("make the plan again: this slicewise reads {}", sim::kPlanApiVersion));
  return false;
}

// Plans did not always say why.
void infer_reason(const json& stored, sim::OptionFigures& figures) {
  if (stored.value("stands", true) || !figures.stands()) return;
  figures.verdict.reasons.push_back({sim::Verdict::Cause::ObjectiveMissed, "", "does not stand",
                                     "the plan is too old to say why it does not stand"});
}

void infer_reason(const json& stored, std::optional<sim::OptionFigures>& figures) {
  if (figures) infer_reason(stored["figures"], *figures);
}

// What is not declared but follows from what is stored.
void infer(const json& document, sim::Plan& plan, StoredFields& fields) {
  for (std::size_t o = 0; o < plan.options.size(); ++o) {
    infer_reason(document["options"][o], plan.options[o].figures);
  }
  if (plan.today) infer_reason(document["today"], plan.today->figures);
  for (std::size_t r = 0; r < plan.rejected.size(); ++r) {
    plan.rejected[r].reason = {document["rejected"][r]["reason"].get<std::string>()};
    infer_reason(document["rejected"][r], plan.rejected[r].figures);
  }
  for (std::size_t r = 0; r < plan.replicas.size(); ++r) {
    infer_reason(document["replicasCurve"]["points"][r], plan.replicas[r].figures);
  }
  for (std::size_t f = 0; f < plan.flips.size(); ++f) {
    if (!plan.flips[f].winner) continue;
    infer_reason(document["flips"][f]["winner"], plan.flips[f].winner->figures);
  }
  if (plan.sm_active && plan.sm_active->then) {
    infer_reason(document["smActive"]["then"], plan.sm_active->then->figures);
  }
  const json curve = document.value("replicasCurve", json::object());
  if (!curve.contains("knee")) return;
  const auto knee = std::ranges::find(plan.replicas, curve["knee"].get<std::int64_t>(),
                                      &sim::ReplicasPoint::replicas);
  if (knee == plan.replicas.end()) return fields.add_odd("replicasCurve/knee");
  plan.knee = static_cast<std::size_t>(knee - plan.replicas.begin());
}

// What a node pool cannot be, of a pool of an option.
class PoolCheck {
 public:
  PoolCheck(StoredDocument& document, const PoolChoice& choice, std::string at)
      : document_(document), choice_(choice), at_(std::move(at)) {}

  void check() {
    check_count("/replicas", choice_.replicas, kMostReplicas);
    check_count("/nodes", choice_.nodes, kMostNodes);
    if (choice_.on_demand < 0 || (choice_.on_demand > 0 && choice_.on_demand >= choice_.nodes)) {
      odd(Code::ValueRange, "/onDemandNodes", "fewer nodes are on-demand than there are");
    }
    check_cut("/mig", choice_.mig);
    for (std::size_t c = 0; c < choice_.other_cuts.size(); ++c) {
      const std::string at = fmt::format("/otherCuts/{}", c);
      check_count(at + "/gpus", choice_.other_cuts[c].gpus, kMostInstances);
      check_cut(at + "/mig", choice_.other_cuts[c].mig);
    }
    if (!choice_.pods.empty() && choice_.pods.size() != choice_.workloads.size()) {
      odd(Code::FieldMissing, "/pods", "pods has a number for each workload of the pool");
    }
    for (const int pods : choice_.pods) {
      if (pods >= 0 && pods <= kMostPods) continue;
      odd(Code::ValueRange, "/pods", fmt::format("pods is from 0 to {}", kMostPods));
    }
    check_schedules();
    check_scalings();
    const bool cuts = choice_.strategy == sim::Strategy::Mig ||
                      choice_.strategy == sim::Strategy::MigTimeSlicing ||
                      choice_.strategy == sim::Strategy::MigMps;
    if (cuts == choice_.mig.empty()) {
      odd(Code::SettingConflict, "/strategy",
          cuts ? "a strategy with MIG needs the layout: \"mig\" is absent"
               : "\"mig\" is the layout of another strategy");
    }
    const std::size_t profiles = choice_.mig_profiles.size();
    const bool is_uniform = choice_.mig.size() <= 1 && choice_.other_cuts.empty();
    if (profiles == choice_.workloads.size() || (profiles == 0 && is_uniform)) return;
    odd(Code::FieldMissing, profiles > 0 ? "/migProfiles" : "",
        "migProfiles names one profile for each workload of the pool");
  }

 private:
  void check_cut(const std::string& at, const std::vector<models::MigCount>& mig) {
    for (std::size_t m = 0; m < mig.size(); ++m) {
      check_count(fmt::format("{}/{}/count", at, m), mig[m].count, kMostInstances);
    }
  }

  void check_schedules() {
    for (const sim::PodSchedule& schedule : choice_.schedules) {
      const bool is_read = scenarios::parse_cron(schedule.start) &&
                           scenarios::parse_cron(schedule.end) &&
                           scenarios::time_zone(schedule.time_zone);
      const bool is_in_range = schedule.otherwise >= 1 && schedule.replicas >= schedule.otherwise &&
                               schedule.replicas <= kMostPods;
      if (is_read && is_in_range) continue;
      odd(Code::ValueRange, "/schedules",
          fmt::format("\"{}\" has no window of pods that could be kept", schedule.workload));
    }
  }
  void check_scalings() {
    for (const sim::PodScaling& scaling : choice_.scalings) {
      if (scaling.least >= 1 && scaling.most >= scaling.least && scaling.most <= kMostPods &&
          scaling.per_second > 0) {
        continue;
      }
      odd(Code::ValueRange, "/scalings",
          fmt::format("\"{}\" has no numbers of pods that could be kept", scaling.workload));
    }
  }
  void odd(Code code, const std::string& key, std::string message) {
    document_.report(code, at_ + key, std::move(message));
  }
  void check_count(const std::string& pointer, std::int64_t count, std::int64_t most) {
    if (count >= 1 && count <= most) return;
    odd(Code::ValueRange, pointer,
        fmt::format("{} is from 1 to {}", pointer.substr(pointer.rfind('/') + 1), most));
  }

  StoredDocument& document_;
  const PoolChoice& choice_;
  std::string at_;
};

void check_pools(const sim::Plan& plan, StoredDocument& document) {
  for (const auto& [at, option] : {std::pair("/withSchedule", &plan.scheduled),
                                   std::pair("/withAutoscaling", &plan.by_load)}) {
    for (std::size_t p = 0; *option && p < (*option)->pools.size(); ++p) {
      PoolCheck(document, (*option)->pools[p], fmt::format("{}/pools/{}", at, p)).check();
    }
  }
  for (std::size_t o = 0; o < plan.options.size(); ++o) {
    const std::string at = fmt::format("/options/{}/pools", o);
    const std::vector<PoolChoice>& pools = plan.options[o].pools;
    for (std::size_t p = 0; p < pools.size(); ++p) {
      PoolCheck(document, pools[p], fmt::format("{}/{}", at, p)).check();
    }
    if (pools.empty()) {
      document.report(Code::FieldMissing, at, "an option has at least one pool");
    }
  }
}

bool is_purchase(const std::string& word, const scenarios::Scenario& scenario) {
  constexpr std::array<std::string_view, 5> kPurchases = {"on-demand", "spot", sim::kSpotFallback,
                                                          "reserved", "capacity-block"};
  return std::ranges::find(kPurchases, word) != kPurchases.end() ||
         std::ranges::find(scenario.price_plans, word, &scenarios::PricePlan::name) !=
             scenario.price_plans.end();
}

}  // namespace

bool looks_like_plan(const SourceText& source) { return looks_like(source, "slicewise.dev/plan."); }

Expected<sim::Plan> read_plan(const SourceText& source) {
  Expected<StoredDocument> document = StoredDocument::read(source);
  if (!document) return tl::unexpected(std::move(document.error()));
  if (is_of_this_version(*document)) {
    check_schema(*document, record_schema(sim::record_of<sim::Plan>()));
  }
  if (!document->problems().empty()) return tl::unexpected(document->problems());
  StoredFields fields;
  auto plan = fields.read<sim::Plan>(document->root());
  if (fields.odd().empty()) infer(document->root(), plan, fields);
  for (const StoredFields::Odd& odd : fields.odd()) {
    document->report(odd.code, odd.pointer, odd.message,
                     "make the plan again; `slicewise schema plan` prints its form");
  }
  check_pools(plan, *document);
  if (!document->problems().empty()) return tl::unexpected(document->problems());
  return plan;
}

Diagnostics check_plan_names(const SourceText& source, std::span<const PoolChoice> pools,
                             std::string_view at, const scenarios::Scenario& scenario,
                             const models::Catalogue& catalogue) {
  Diagnostics found;
  for (std::size_t p = 0; p < pools.size(); ++p) {
    const PoolChoice& choice = pools[p];
    const auto odd = [&](Code code, std::string message) {
      found.push_back(make_diagnostic(
          code, place_in_document(source, fmt::format("{}/pools/{}", at, p)), std::move(message),
          "the plan was edited by hand, or made with another catalogue"));
    };
    const models::InstanceType* type = catalogue.find_instance(choice.instance_type);
    int cut_otherwise = 0;
    for (const sim::MigCut& cut : choice.other_cuts) cut_otherwise += cut.gpus;
    if (type == nullptr) {
      odd(Code::InstanceUnknown,
          fmt::format("instance type \"{}\" is not in the catalogue", choice.instance_type));
    } else if (cut_otherwise >= std::max(1, type->gpu_count)) {
      odd(Code::ValueRange,
          fmt::format("otherCuts has {} of the {} GPUs of a node", cut_otherwise, type->gpu_count));
    }
    if (!is_purchase(choice.purchase, scenario)) {
      odd(Code::PriceUnknown,
          fmt::format("the scenario has no price plan \"{}\"", choice.purchase));
    }
    std::vector<std::string> names = choice.workloads;
    for (const sim::ApartClass& apart : choice.apart) {
      names.insert(names.end(), apart.begin(), apart.end());
    }
    for (const std::string& name : names) {
      if (scenario.find_workload(name) == nullptr) {
        odd(Code::PlanStale, fmt::format("the scenario has no workload \"{}\"", name));
      }
    }
    for (const std::string& profile : choice.mig_profiles) {
      const auto has = [&](const std::vector<models::MigCount>& mig) {
        return std::ranges::find(mig, profile, &models::MigCount::profile) != mig.end();
      };
      if (has(choice.mig) || std::ranges::any_of(choice.other_cuts, has, &sim::MigCut::mig)) {
        continue;
      }
      odd(Code::MigConfigUnknown,
          fmt::format("profile \"{}\" is not in the layout of the pool", profile));
    }
  }
  for (const scenarios::Workload& workload : scenario.workloads) {
    const bool has_pool = std::ranges::any_of(pools, [&](const PoolChoice& choice) {
      return std::ranges::find(choice.workloads, workload.name.value) != choice.workloads.end();
    });
    if (workload.count == 0 || !workload.uses_gpu() || has_pool) continue;
    found.push_back(
        make_diagnostic(Code::PlanStale, place_in_document(source, std::string(at)),
                        fmt::format("workload \"{}\" has no pool", workload.name.value),
                        "the plan was edited by hand: name every workload in one of the pools"));
  }
  return found;
}

bool has_figures_of(const sim::VariantResult& simulated, const sim::OptionFigures& planned) {
  constexpr double kDigits = 1e-7;  // a document has nine
  const auto same = [](double a, double b) {
    return std::abs(a - b) <= kDigits * std::max(std::abs(a), std::abs(b));
  };
  if (simulated.cost.monthly != planned.monthly) return false;
  std::size_t o = 0;
  for (const sim::WorkloadResult& workload : simulated.workloads) {
    for (const sim::ObjectiveResult& objective : workload.objectives) {
      if (o == planned.objectives.size()) return false;
      const sim::PlannedObjective& other = planned.objectives[o++];
      if (other.workload != workload.name || other.result.name != objective.name ||
          !same(sim::in_its_unit(objective.value), sim::in_its_unit(other.result.value))) {
        return false;
      }
    }
  }
  return o == planned.objectives.size();
}

}  // namespace slicewise::reports
