#include <string>
#include <string_view>

#include <fmt/format.h>

#include "slicewise/reports/advice.hpp"
#include "slicewise/reports/result_report.hpp"

namespace slicewise::reports {
namespace {

// As the text format of Prometheus has values of labels.
std::string label_value(std::string_view value) {
  std::string out;
  for (const char c : value) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

class AdviceMetrics {
 public:
  explicit AdviceMetrics(std::string_view cluster) : cluster_(label_value(cluster)) {}

  void family(std::string_view name) {
    for (const MetricFamily& one : metric_families()) {
      if (one.name != name) continue;
      text_ += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", name, one.help, one.type);
    }
    name_ = name;
  }
  void sample(std::initializer_list<std::pair<std::string_view, std::string_view>> labels,
              double value) {
    text_ += fmt::format("{}{{cluster=\"{}\"", name_, cluster_);
    for (const auto& [label, of] : labels)
      text_ += fmt::format(",{}=\"{}\"", label, label_value(of));
    text_ += fmt::format("}} {:.10g}\n", value);
  }
  std::string text() { return text_ + "# EOF\n"; }

 private:
  std::string cluster_;
  std::string_view name_;
  std::string text_;
};

constexpr std::string_view kToday = "today";
constexpr std::string_view kBest = "best";

}  // namespace

std::string advice_metrics(const sim::Plan& plan, const Advice& advice) {
  std::vector<std::pair<std::string_view, const sim::PlanOption*>> options;
  // Only a path knows the pools that there are.
  const sim::PlanOption* const today = plan.path    ? &plan.path->now
                                       : plan.today ? &*plan.today
                                                    : nullptr;
  const sim::PlanOption* best = plan.options.empty() ? nullptr : &plan.options.front();
  if (plan.keep_as_is && today != nullptr) best = today;
  if (today != nullptr && advice.assumed_pools.empty()) options.emplace_back(kToday, today);
  if (best != nullptr && advice.placeholders.empty()) options.emplace_back(kBest, best);
  AdviceMetrics writer(advice.scenario);
  writer.family("slicewise_advice_timestamp_seconds");
  writer.sample({}, static_cast<double>(advice.read_at_unix_s));
  writer.family("slicewise_advice_assumed_workloads");
  writer.sample({}, static_cast<double>(advice.placeholders.size()));
  writer.family("slicewise_advice_monthly_usd");
  for (const auto& [of, option] : options) {
    writer.sample({{"pools", of}}, to_dollars(option->figures.monthly));
  }
  writer.family("slicewise_advice_ok");
  for (const auto& [of, option] : options) {
    writer.sample({{"pools", of}}, option->figures.stands() ? 1 : 0);
  }
  writer.family("slicewise_advice_nodes");
  for (const auto& [of, option] : options) {
    std::size_t pool = 0;
    for (const sim::PoolChoice& choice : option->pools) {
      writer.sample({{"pools", of},
                     {"pool", std::to_string(++pool)},
                     {"instance_type", choice.instance_type},
                     {"strategy", sim::strategy_name(choice.strategy)}},
                    choice.nodes);
    }
  }
  writer.family("slicewise_advice_deviation_ratio");
  for (const Deviation& one : advice.deviations) {
    writer.sample({{"namespace", one.space}, {"workload", one.workload}, {"figure", one.figure}},
                  one.off());
  }
  return writer.text();
}

}  // namespace slicewise::reports
