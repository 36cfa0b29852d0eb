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
    text_ += fmt::format("}} {:.9g}\n", value);
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

std::string advice_metrics(const sim::Plan& plan, const std::vector<Deviation>& deviations,
                           const std::string& cluster) {
  std::vector<std::pair<std::string_view, const sim::PlanOption*>> options;
  // Only a path knows the pools that there are.
  if (plan.path) {
    options.emplace_back(kToday, &plan.path->now);
  } else if (plan.today) {
    options.emplace_back(kToday, &*plan.today);
  }
  if (plan.keep_as_is && !options.empty()) {
    options.emplace_back(kBest, options.front().second);
  } else if (!plan.options.empty()) {
    options.emplace_back(kBest, &plan.options.front());
  }
  AdviceMetrics writer(cluster);
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
  for (const Deviation& one : deviations) {
    writer.sample({{"namespace", one.space}, {"workload", one.workload}, {"figure", one.figure}},
                  one.off());
  }
  return writer.text();
}

}  // namespace slicewise::reports
