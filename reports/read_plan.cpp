#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "slicewise/reports/plan_report.hpp"

#include "plan_document.hpp"

namespace slicewise::reports {
namespace {

using nlohmann::json;

Diagnostic plan_problem(const SourceText& source, Code code, std::string message,
                        std::string help = {}) {
  return make_diagnostic(code, {source.name, 1, 1, 1}, std::move(message), std::move(help));
}

// Reads members and remembers the first that is not what it should be.
class PlanFields {
 public:
  std::string text(const json& object, const char* key, bool required = true) {
    const auto at = object.find(key);
    if (at == object.end()) return missing(key, required);
    if (!at->is_string()) return missing(key, true);
    return at->get<std::string>();
  }
  int whole(const json& object, const char* key) {
    constexpr std::int64_t kMost = 1'000'000;
    const auto at = object.find(key);
    const bool fits = at != object.end() && at->is_number_integer() && at->get<double>() >= 0 &&
                      at->get<double>() <= static_cast<double>(kMost);
    if (!fits) {
      missing(key, true);
      return 0;
    }
    return at->get<int>();
  }
  const json& list(const json& object, const char* key, bool required = true) {
    const auto at = object.find(key);
    if (at != object.end() && at->is_array()) return *at;
    if (required || at != object.end()) missing(key, true);
    return none_;
  }
  std::vector<std::string> texts(const json& object, const char* key) {
    std::vector<std::string> all;
    for (const json& item : list(object, key, false)) {
      if (item.is_string()) {
        all.push_back(item.get<std::string>());
      } else {
        missing(key, true);
      }
    }
    return all;
  }
  const std::string& odd() const { return odd_; }

 private:
  std::string missing(const char* key, bool required) {
    if (required && odd_.empty()) odd_ = key;
    return {};
  }
  json none_ = json::array();
  std::string odd_;
};

sim::PoolChoice read_pool(const json& pool, PlanFields& fields) {
  sim::PoolChoice choice;
  choice.instance_type = fields.text(pool, "instanceType");
  choice.purchase = fields.text(pool, "purchaseOption");
  const std::string strategy = fields.text(pool, "strategy");
  const auto known = std::ranges::find(sim::kStrategies, strategy, sim::strategy_name);
  if (known == sim::kStrategies.end()) {
    fields.whole(json::object(), "strategy");
  } else {
    choice.strategy = *known;
  }
  choice.replicas = fields.whole(pool, "replicas");
  for (const json& count : fields.list(pool, "mig", false)) {
    choice.mig.push_back({fields.text(count, "profile"), fields.whole(count, "count")});
  }
  choice.workloads = fields.texts(pool, "workloads");
  choice.mig_profiles = fields.texts(pool, "migProfiles");
  choice.nodes = fields.whole(pool, "nodes");
  return choice;
}

}  // namespace

bool looks_like_plan(const SourceText& source) {
  const std::size_t first = source.text.find_first_not_of(" \t\r\n");
  return first != std::string::npos && source.text[first] == '{' &&
         source.text.find("\"slicewise.dev/plan.") != std::string::npos;
}

Expected<StoredPlan> read_plan(const SourceText& source) {
  const json document = json::parse(source.text, nullptr, false);
  if (document.is_discarded() || !document.is_object()) {
    return tl::unexpected(Diagnostics{plan_problem(
        source, Code::YamlSyntax, "this is not the JSON that `slicewise plan` writes")});
  }
  PlanFields fields;
  const std::string version = fields.text(document, "apiVersion");
  if (version != kPlanApiVersion) {
    return tl::unexpected(Diagnostics{plan_problem(
        source, Code::ApiVersionUnknown, fmt::format("\"{}\" is not read here", version),
        fmt::format("make the plan again: this slicewise reads {}", kPlanApiVersion))});
  }
  StoredPlan plan;
  const auto metadata = document.find("metadata");
  const json about = metadata == document.end() ? json::object() : *metadata;
  plan.scenario_file = fields.text(about, "scenarioFile", false);
  plan.scenario_sha256 = fields.text(about, "scenarioSha256");
  plan.variant = fields.text(about, "variant");
  plan.settings = fields.texts(about, "settings");
  for (const json& option : fields.list(document, "options")) {
    std::vector<sim::PoolChoice> pools;
    for (const json& pool : fields.list(option, "pools")) pools.push_back(read_pool(pool, fields));
    plan.options.push_back(std::move(pools));
  }
  if (!fields.odd().empty()) {
    return tl::unexpected(Diagnostics{
        plan_problem(source, Code::FieldMissing,
                     fmt::format("\"{}\" is absent or not what it should be", fields.odd()),
                     "make the plan again; `slicewise schema plan` prints its form")});
  }
  return plan;
}

}  // namespace slicewise::reports
