#include <fmt/format.h>

#include "../traces/client_rates.hpp"
#include "../traces/request_trace.hpp"
#include "node_values.hpp"
#include "read_scenario.hpp"

namespace slicewise::scenarios {
namespace {

enum class Shape : std::uint8_t {
  Poisson,
  Constant,
  Gamma,
  Weibull,
  Diurnal,
  Bursts,
  Steps,
  Trace,
  ClosedLoop,
  Clients
};

constexpr std::pair<std::string_view, Shape> kShapes[] = {
    {"Poisson", Shape::Poisson}, {"Constant", Shape::Constant}, {"Gamma", Shape::Gamma},
    {"Weibull", Shape::Weibull}, {"Diurnal", Shape::Diurnal},   {"Bursts", Shape::Bursts},
    {"Steps", Shape::Steps},     {"Trace", Shape::Trace},       {"ClosedLoop", Shape::ClosedLoop},
    {"Clients", Shape::Clients},
};

enum class Use : std::uint8_t { Needed, Taken, Refused };

// A field of traffic that only some shapes have.
struct ShapeField {
  std::string_view key;
  std::string_view example;
  Use (*use)(Shape shape);
};

constexpr Use needed_if(bool needed) { return needed ? Use::Needed : Use::Refused; }
constexpr Use taken_if(bool taken) { return taken ? Use::Taken : Use::Refused; }

constexpr ShapeField kShapeFields[] = {
    {"mean", "mean: 12/s",
     [](Shape s) {
       return needed_if(s != Shape::Steps && s != Shape::Trace && s != Shape::ClosedLoop &&
                        s != Shape::Clients);
     }},
    {"variation", "variation: 2.5",
     [](Shape s) {
       if (s == Shape::Gamma || s == Shape::Weibull) return Use::Needed;
       return taken_if(s == Shape::Diurnal || s == Shape::Steps);
     }},
    {"peak", "peak: 40/s", [](Shape s) { return needed_if(s == Shape::Diurnal); }},
    {"peakAt", "peakAt: \"14:00\"", [](Shape s) { return needed_if(s == Shape::Diurnal); }},
    {"utcOffset", "", [](Shape s) { return taken_if(s == Shape::Diurnal); }},
    {"weekend", "", [](Shape s) { return taken_if(s == Shape::Diurnal); }},
    {"bursts", "bursts: {rate: 80/s, length: 20s, every: 5m}",
     [](Shape s) { return needed_if(s == Shape::Bursts); }},
    {"steps", "steps: [{at: 0, rate: 5/s}, {at: 10m, rate: 20/s}]",
     [](Shape s) { return needed_if(s == Shape::Steps); }},
    {"trace", "trace: {file: requests.csv}", [](Shape s) { return needed_if(s == Shape::Trace); }},
    {"clientRates", "clientRates: {file: m-large.csv}",
     [](Shape s) { return needed_if(s == Shape::Clients); }},
    {"clients", "clients: 50", [](Shape s) { return needed_if(s == Shape::ClosedLoop); }},
    {"thinkTime", "", [](Shape s) { return taken_if(s == Shape::ClosedLoop); }},
};

std::string_view name_of(Shape shape) {
  for (const auto& [name, value] : kShapes) {
    if (value == shape) return name;
  }
  return "";
}

// "Gamma, Weibull": the shapes that take a field.
std::string shapes_with(const ShapeField& field) {
  std::string text;
  for (const auto& [name, shape] : kShapes) {
    if (field.use(shape) == Use::Refused) continue;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", name);
  }
  return text;
}

void check_shape_fields(const Node& node, Shape shape, const SourceLocation& where,
                        Findings& findings) {
  for (const ShapeField& field : kShapeFields) {
    const Use use = field.use(shape);
    const bool there = node.entry(field.key) != nullptr;
    if (there && use == Use::Refused) {
      findings.add(Code::SettingConflict, key_place(node, field.key),
                   fmt::format("{} with shape {}", field.key, name_of(shape)),
                   fmt::format("it belongs to: {}", shapes_with(field)));
    } else if (!there && use == Use::Needed) {
      findings.add(
          Code::FieldMissing, where,
          fmt::format("\"{}\" is missing: traffic of shape {} needs it", field.key, name_of(shape)),
          fmt::format("add `{}`", field.example));
    }
  }
}

Diurnal read_diurnal(const Node& node, Rate mean, Findings& findings) {
  // All requests of a day in one hour: a sharper peak is a burst.
  constexpr double kSharpest = 24;
  Diurnal diurnal;
  diurnal.peak = rate_at(&node, "peak").value_or(mean);
  diurnal.peak_at = clock_time_at(&node, "peakAt").value_or(diurnal.peak_at);
  diurnal.utc_offset = utc_offset_at(&node, "utcOffset").value_or(diurnal.utc_offset);
  diurnal.weekend = percent_at(&node, "weekend").value_or(diurnal.weekend);
  if (mean.per_second <= 0) return diurnal;
  if (diurnal.peak <= mean && node.entry("peak") != nullptr) {
    findings.add(Code::SettingConflict, value_place(node, "peak"), "peak is not above mean",
                 "mean is the rate over a whole working day, night included",
                 fmt::format("mean is on line {}", value_place(node, "mean").line));
  } else if (diurnal.peak.per_second > kSharpest * mean.per_second) {
    findings.add(Code::SettingConflict, value_place(node, "peak"),
                 "peak is more than 24 times mean",
                 "that is more than all requests of the day in one hour: use shape Bursts");
  }
  return diurnal;
}

Bursts read_bursts(const Node& traffic, Rate mean, Findings& findings) {
  const Node* node = block(&traffic, "bursts");
  Bursts bursts;
  bursts.rate = rate_at(node, "rate").value_or(bursts.rate);
  bursts.length = duration_at(node, "length").value_or(bursts.length);
  bursts.every = duration_at(node, "every").value_or(bursts.every);
  if (bursts.rate.per_second <= 0 || bursts.length.ns <= 0 || bursts.every.ns <= 0) return bursts;
  if (bursts.length >= bursts.every) {
    findings.add(Code::SettingConflict, value_place(*node, "length"),
                 "a burst is not shorter than the time between two of them",
                 "every counts from the start of a burst to the start of the next");
    return bursts;
  }
  if (mean.per_second <= 0) return bursts;
  const double in_bursts =
      bursts.rate.per_second * to_seconds(bursts.length) / to_seconds(bursts.every);
  if (in_bursts > mean.per_second) {
    findings.add(Code::SettingConflict, value_place(traffic, "mean"),
                 "the bursts alone bring more requests than mean",
                 fmt::format("mean counts bursts and quiet times: at least {:.4g}/s", in_bursts));
  } else if (bursts.rate <= mean) {
    findings.add(Code::SettingConflict, value_place(*node, "rate"),
                 "the rate of a burst is not above mean",
                 "mean counts bursts and quiet times together");
  }
  return bursts;
}

std::vector<RateStep> read_steps(const Node& traffic, Findings& findings) {
  std::vector<RateStep> steps;
  const Node* list = blocks(&traffic, "steps");
  if (list == nullptr) return steps;
  double highest = 0;
  for (const NodePtr& item : list->items) {
    const auto at = duration_at(item.get(), "at");
    const auto rate = rate_at(item.get(), "rate");
    if (!at || !rate) return steps;
    if (!steps.empty() && *at <= steps.back().at) {
      findings.add(Code::SettingConflict, value_place(*item, "at"),
                   "a step does not come after the one before it", "put steps in order of time");
    }
    highest = std::max(highest, rate->per_second);
    steps.push_back({*at, *rate});
  }
  if (!steps.empty() && highest <= 0) {
    findings.add(Code::ValueRange, list->where, "every step has a rate of zero",
                 "give one of them a rate, like `{at: 0, rate: 5/s}`");
  }
  return steps;
}

RequestTrace read_trace(const Node& traffic, Findings& findings, TraceFiles& traces) {
  const Node* node = block(&traffic, "trace");
  RequestTrace trace;
  trace.file = located_text_at(node, "file");
  trace.scale = number_at(node, "scale").value_or(trace.scale);
  trace.repeats = boolean_at(node, "repeat").value_or(trace.repeats);
  if (trace.scale <= 0) {
    findings.add(Code::ValueRange, value_place(*node, "scale"), "scale must be more than zero");
  }
  if (trace.file.value.empty()) return trace;
  const TraceChoice choice{
      located_text_at(node, "timeColumn"), located_text_at(node, "inputTokensColumn"),
      located_text_at(node, "outputTokensColumn"), duration_at(node, "from").value_or(Duration{}),
      duration_at(node, "length")};
  if (const SourceText* file = traces.find(trace.file, findings)) {
    read_request_trace(*file, choice, trace, findings, traces.notes());
  }
  return trace;
}

ClientTraffic read_clients(const Node& parent, Findings& findings, TraceFiles& traces) {
  const Node* node = block(&parent, "clientRates");
  ClientTraffic clients;
  clients.file = located_text_at(node, "file");
  clients.from = duration_at(node, "from").value_or(clients.from);
  clients.scale = number_at(node, "scale").value_or(clients.scale);
  clients.repeats = boolean_at(node, "repeat").value_or(clients.repeats);
  if (clients.scale <= 0) {
    findings.add(Code::ValueRange, value_place(*node, "scale"), "scale must be more than zero");
  }
  if (clients.file.value.empty()) return clients;
  const SourceText* file = traces.find(clients.file, findings);
  if (file == nullptr) return clients;
  ClientRates rates = read_client_rates(*file, findings);
  clients.windows = std::move(rates.windows);
  clients.window = rates.window;
  const Duration end = end_of(clients);
  if (clients.from >= end && end > Duration{}) {
    findings.add(Code::ValueRange, value_place(*node, "from"),
                 "the run would start behind the last window of the file",
                 fmt::format("the file ends after {:.6g} h", to_seconds(end) / 3600));
  }
  return clients;
}

void read_variation(const Node& node, Shape shape, Traffic& traffic, Findings& findings) {
  // Below it gaps hardly vary, and the laws need numbers beyond a double's reach.
  constexpr double kLeast = 0.01;
  const auto variation = number_at(&node, "variation");
  if (!variation) return;
  traffic.gap_variation = *variation;
  if (shape == Shape::Diurnal || shape == Shape::Steps) traffic.gaps = Traffic::Gaps::Gamma;
  if (*variation >= kLeast) return;
  findings.add(Code::ValueRange, value_place(node, "variation"), "variation must be at least 0.01",
               "for equal gaps write `shape: Constant`");
}

}  // namespace

std::optional<Traffic> read_traffic(const Node& parent, Findings& findings, TraceFiles& traces) {
  if (parent.entry("traffic") == nullptr) return std::nullopt;
  Traffic traffic;
  traffic.where = key_place(parent, "traffic");
  const Node* node = block(&parent, "traffic");
  if (node == nullptr) return traffic;  // of a wrong type, which is not the same as absent
  traffic.mean = rate_at(node, "mean").value_or(traffic.mean);
  const Node* written = node->find("shape");
  const auto shape = word_at(node, "shape", kShapes);
  // A misspelt shape is reported already; which fields belong to it nobody knows.
  if (written != nullptr && !shape) return traffic;
  const Shape known = shape.value_or(Shape::Poisson);
  check_shape_fields(*node, known, traffic.where, findings);
  read_variation(*node, known, traffic, findings);
  switch (known) {
    case Shape::Poisson:
      break;
    case Shape::Constant:
      traffic.gaps = Traffic::Gaps::Constant;
      break;
    case Shape::Gamma:
      traffic.gaps = Traffic::Gaps::Gamma;
      break;
    case Shape::Weibull:
      traffic.gaps = Traffic::Gaps::Weibull;
      break;
    case Shape::Diurnal:
      traffic.shape = read_diurnal(*node, traffic.mean, findings);
      break;
    case Shape::Bursts:
      traffic.shape = read_bursts(*node, traffic.mean, findings);
      break;
    case Shape::Steps:
      traffic.shape = read_steps(*node, findings);
      break;
    case Shape::Trace:
      traffic.shape = read_trace(*node, findings, traces);
      break;
    case Shape::Clients:
      traffic.shape = read_clients(*node, findings, traces);
      break;
    case Shape::ClosedLoop:
      traffic.shape = ClosedLoop{int_at(node, "clients").value_or(1),
                                 duration_at(node, "thinkTime").value_or(Duration{})};
      break;
  }
  return traffic;
}

}  // namespace slicewise::scenarios
