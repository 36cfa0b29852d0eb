#include "metric_samples.hpp"

#include <fmt/format.h>

#include "slicewise/reports/result_report.hpp"

namespace slicewise::reports {
namespace {

std::string escaped_label(std::string_view value) {
  std::string out;
  for (const char c : value) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

std::string label_list(Labels labels) {
  std::string out;
  for (const auto& [name, value] : labels) {
    if (value.empty()) continue;  // the same as absent
    out += fmt::format("{}{}=\"{}\"", out.empty() ? "" : ",", name, escaped_label(value));
  }
  return out;
}

}  // namespace

MetricSamples::MetricSamples(Labels common, std::int64_t start_unix)
    : common_(label_list(common)), start_unix_(start_unix) {}

MetricSamples::Series& MetricSamples::Series::at(TimePoint when, double value) {
  const std::int64_t ms = when.ns / 1'000'000;
  if (ms == last_ms_) return *this;
  last_ms_ = ms;
  *text_ += fmt::format("{} {:.9g} {}.{:03}\n", head_, value, start_unix_ + ms / 1000, ms % 1000);
  return *this;
}

MetricSamples::Series MetricSamples::series(std::string_view family, std::string_view suffix,
                                            Labels labels) {
  const std::string own = label_list(labels);
  return {families_[std::string(family)],
          fmt::format("{}{}{{{}{}{}}}", family, suffix, common_, own.empty() ? "" : ",", own),
          start_unix_};
}

std::string MetricSamples::text() const {
  std::string out;
  for (const MetricFamily& family : metric_families()) {
    const auto samples = families_.find(family.name);
    if (samples == families_.end() || samples->second.empty()) continue;
    out += fmt::format("# TYPE {} {}\n", family.name, family.type);
    if (!family.unit.empty()) out += fmt::format("# UNIT {} {}\n", family.name, family.unit);
    out += fmt::format("# HELP {} {}\n", family.name, family.help);
    out += samples->second;
  }
  return out + "# EOF\n";
}

std::string bound_text(Duration bound) {
  if (bound == kNoBound) return "+Inf";
  std::string text = fmt::format("{:.9g}", to_seconds(bound));
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

}  // namespace slicewise::reports
