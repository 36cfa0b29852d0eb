#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "slicewise/reports/studies.hpp"

#include "documents.hpp"
#include "schema_check.hpp"
#include "stored_fields.hpp"

namespace slicewise::reports {
namespace {

using nlohmann::json;
using sim::PoolChoice;

constexpr std::int64_t kMostNodes = 1'000'000;
constexpr std::int64_t kMostReplicas = 10'000;  // as nodePools.devicePlugin has it

// Reads a pool that the schema allows; what a node pool cannot be is reported.
class PoolReader {
 public:
  PoolReader(StoredDocument& document, const json& pool, std::string at)
      : document_(document), pool_(pool), at_(std::move(at)) {}

  PoolChoice read() {
    PoolChoice choice;
    choice.instance_type = pool_["instanceType"].get<std::string>();
    choice.purchase = pool_["purchaseOption"].get<std::string>();
    read_strategy(choice);
    choice.replicas = count_at(pool_, at_, "replicas", kMostReplicas);
    choice.nodes = count_at(pool_, at_, "nodes", kMostNodes);
    choice.workloads = texts_at("workloads");
    choice.mig_profiles = texts_at("migProfiles");
    read_layout(choice);
    return choice;
  }

 private:
  void odd(Code code, const std::string& key, const std::string& message,
           const std::string& help = {}) {
    document_.report(code, at_ + key, message, help);
  }

  int count_at(const json& object, const std::string& at, const std::string& key,
               std::int64_t most) {
    const bool is_large = object[key].is_number_unsigned() &&
                          object[key].get<std::uint64_t>() > static_cast<std::uint64_t>(most);
    const std::int64_t count = is_large ? most + 1 : object[key].get<std::int64_t>();
    if (count >= 1 && count <= most) return static_cast<int>(count);
    document_.report(Code::ValueRange, at + "/" + key,
                     fmt::format("{} is from 1 to {}", key, most));
    return 1;
  }

  std::vector<std::string> texts_at(const char* key) const {
    return pool_.value(key, std::vector<std::string>());
  }

  void read_strategy(PoolChoice& choice) {
    const auto word = pool_["strategy"].get<std::string>();
    const auto* const known = std::ranges::find(sim::kStrategies, word, sim::strategy_name);
    if (known != sim::kStrategies.end()) {
      choice.strategy = *known;
      return;
    }
    odd(Code::EnumUnknown, "/strategy", fmt::format("there is no strategy \"{}\"", word),
        "exclusive, timeSlicing, mps, mpsUncapped, mig, mig+timeSlicing, mig+mps or vgpu");
  }

  void read_layout(PoolChoice& choice) {
    const json layout = pool_.value("mig", json::array());
    constexpr std::int64_t kMostInstances = 64;
    for (std::size_t i = 0; i < layout.size(); ++i) {
      choice.mig.push_back(
          {layout[i]["profile"].get<std::string>(),
           count_at(layout[i], fmt::format("{}/mig/{}", at_, i), "count", kMostInstances)});
    }
    const bool cuts = choice.strategy == sim::Strategy::Mig ||
                      choice.strategy == sim::Strategy::MigTimeSlicing ||
                      choice.strategy == sim::Strategy::MigMps;
    if (cuts == choice.mig.empty()) {
      odd(Code::SettingConflict, "/strategy",
          cuts ? "a strategy with MIG needs the layout: \"mig\" is absent"
               : "\"mig\" is the layout of another strategy");
    }
    const bool each = choice.mig.size() > 1;
    if (choice.mig_profiles.size() == choice.workloads.size() || (!each && !has_profiles())) return;
    odd(Code::FieldMissing, has_profiles() ? "/migProfiles" : "",
        "migProfiles names one profile for each workload of the pool");
  }
  bool has_profiles() const { return pool_.contains("migProfiles"); }

  StoredDocument& document_;
  const json& pool_;
  std::string at_;
};

bool is_purchase(const std::string& word, const scenarios::Scenario& scenario) {
  constexpr std::array<std::string_view, 3> kPurchases = {"on-demand", "spot", "reserved"};
  return std::ranges::find(kPurchases, word) != kPurchases.end() ||
         std::ranges::find(scenario.price_plans, word, &scenarios::PricePlan::name) !=
             scenario.price_plans.end();
}

bool has_workload(const scenarios::Scenario& scenario, const std::string& name) {
  return std::ranges::any_of(scenario.workloads, [&](const scenarios::Workload& workload) {
    return workload.name.value == name;
  });
}

// Another version is said alone: its keys are another's.
bool is_of_this_version(StoredDocument& document) {
  const std::string version = document.required_text("/apiVersion");
  if (version == kPlanApiVersion || !document.problems().empty()) return version == kPlanApiVersion;
  document.report(Code::ApiVersionUnknown, "/apiVersion",
                  fmt::format("\"{}\" is not read here", version),
                  fmt::format("make the plan again: this slicewise reads {}", kPlanApiVersion));
  return false;
}

}  // namespace

bool looks_like_plan(const SourceText& source) {
  const std::size_t first = source.text.find_first_not_of(" \t\r\n");
  return first != std::string::npos && source.text[first] == '{' &&
         source.text.find("\"slicewise.dev/plan.") != std::string::npos;
}

Expected<StoredPlan> read_plan(const SourceText& source) {
  Expected<StoredDocument> document = StoredDocument::read(source);
  if (!document) return tl::unexpected(std::move(document.error()));
  if (is_of_this_version(*document)) check_schema(*document, plan_schema());
  if (!document->problems().empty()) return tl::unexpected(document->problems());
  const json& root = document->root();
  StoredPlan plan;
  plan.stamp = StoredFields().read<sim::Stamp>(root["metadata"]);
  for (std::size_t o = 0; o < root["options"].size(); ++o) {
    const json& pools = root["options"][o]["pools"];
    std::vector<PoolChoice> option;
    for (std::size_t p = 0; p < pools.size(); ++p) {
      const std::string at = fmt::format("/options/{}/pools/{}", o, p);
      option.push_back(PoolReader(*document, pools[p], at).read());
    }
    if (option.empty()) {
      document->report(Code::FieldMissing, fmt::format("/options/{}/pools", o),
                       "an option has at least one pool");
    }
    plan.options.push_back(std::move(option));
  }
  if (!document->problems().empty()) return tl::unexpected(document->problems());
  return plan;
}

Diagnostics check_plan_names(const SourceText& source, const StoredPlan& plan, std::size_t option,
                             const scenarios::Scenario& scenario,
                             const models::Catalogue& catalogue) {
  Diagnostics found;
  const std::vector<PoolChoice>& pools = plan.options[option];
  for (std::size_t p = 0; p < pools.size(); ++p) {
    const PoolChoice& choice = pools[p];
    const auto odd = [&](Code code, std::string message) {
      found.push_back(make_diagnostic(
          code, place_in_document(source, fmt::format("/options/{}/pools/{}", option, p)),
          std::move(message), "the plan was edited by hand, or made with another catalogue"));
    };
    if (catalogue.find_instance(choice.instance_type) == nullptr) {
      odd(Code::InstanceUnknown,
          fmt::format("instance type \"{}\" is not in the catalogue", choice.instance_type));
    }
    if (!is_purchase(choice.purchase, scenario)) {
      odd(Code::PriceUnknown,
          fmt::format("the scenario has no price plan \"{}\"", choice.purchase));
    }
    for (const std::string& name : choice.workloads) {
      if (!has_workload(scenario, name)) {
        odd(Code::PlanStale, fmt::format("the scenario has no workload \"{}\"", name));
      }
    }
    for (const std::string& profile : choice.mig_profiles) {
      if (std::ranges::find(choice.mig, profile, &models::MigCount::profile) != choice.mig.end()) {
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
    if (workload.count == 0 || has_pool) continue;
    found.push_back(make_diagnostic(
        Code::PlanStale, place_in_document(source, fmt::format("/options/{}", option)),
        fmt::format("workload \"{}\" has no pool", workload.name.value),
        "the plan was edited by hand: name every workload in one of the pools"));
  }
  return found;
}

}  // namespace slicewise::reports
