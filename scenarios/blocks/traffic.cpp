#include <algorithm>

#include <fmt/format.h>

#include "../fields/node_values.hpp"
#include "../traces/trace_files.hpp"
#include "blocks.hpp"

namespace slicewise::scenarios {
namespace {

using T = FieldType;

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

constexpr Word kShapes[] = {{"Poisson", Shape::Poisson},       {"Constant", Shape::Constant},
                            {"Gamma", Shape::Gamma},           {"Weibull", Shape::Weibull},
                            {"Diurnal", Shape::Diurnal},       {"Bursts", Shape::Bursts},
                            {"Steps", Shape::Steps},           {"Trace", Shape::Trace},
                            {"ClosedLoop", Shape::ClosedLoop}, {"Clients", Shape::Clients}};

// What a traffic of another shape does not have.
template <class Wanted>
Wanted* in_shape(Traffic& traffic) {
  return std::get_if<Wanted>(&traffic.shape);
}

void read_shape(Traffic& traffic, const Field& field, const Entry& entry, Reading& /*reading*/) {
  const auto shape = word_value(field, *entry.value);
  if (!shape) return;
  switch (static_cast<Shape>(*shape)) {
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
      traffic.shape = Diurnal{};
      break;
    case Shape::Bursts:
      traffic.shape = Bursts{};
      break;
    case Shape::Steps:
      traffic.shape = std::vector<RateStep>{};
      break;
    case Shape::Trace:
      traffic.shape = RequestTrace{};
      break;
    case Shape::ClosedLoop:
      traffic.shape = ClosedLoop{};
      break;
    case Shape::Clients:
      traffic.shape = ClientTraffic{};
      break;
  }
}

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

// "Gamma, Weibull": the shapes that take a field.
std::string shapes_with(const ShapeField& field) {
  std::string text;
  for (const Word& shape : kShapes) {
    if (field.use(static_cast<Shape>(shape.value)) == Use::Refused) continue;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", shape.text);
  }
  return text;
}

void check_shape_fields(const Node& node, Shape shape, const SourceLocation& where,
                        Findings& findings) {
  for (const ShapeField& field : kShapeFields) {
    const Use use = field.use(shape);
    const bool there = node.entry(field.key) != nullptr;
    if (there && use == Use::Refused) {
      findings.add(
          Code::SettingConflict, key_place(node, field.key),
          fmt::format("{} with shape {}", field.key, kShapes[static_cast<std::size_t>(shape)].text),
          fmt::format("it belongs to: {}", shapes_with(field)));
    } else if (!there && use == Use::Needed) {
      findings.add(Code::FieldMissing, where,
                   fmt::format("\"{}\" is missing: traffic of shape {} needs it", field.key,
                               kShapes[static_cast<std::size_t>(shape)].text),
                   fmt::format("add `{}`", field.example));
    }
  }
}

void finish_diurnal(const Node& map, Traffic& traffic, Findings& findings) {
  // All requests of a day in one hour: a sharper peak is a burst.
  constexpr double kSharpest = 24;
  Diurnal& diurnal = std::get<Diurnal>(traffic.shape);
  const Rate mean = traffic.mean;
  if (!rate_at(&map, "peak")) diurnal.peak = mean;
  if (mean.per_second <= 0) return;
  if (diurnal.peak <= mean && map.entry("peak") != nullptr) {
    findings.add(Code::SettingConflict, value_place(map, "peak"), "peak is not above mean",
                 "mean is the rate over a whole working day, night included",
                 fmt::format("mean is on line {}", value_place(map, "mean").line));
  } else if (diurnal.peak.per_second > kSharpest * mean.per_second) {
    findings.add(Code::SettingConflict, value_place(map, "peak"), "peak is more than 24 times mean",
                 "that is more than all requests of the day in one hour: use shape Bursts");
  }
}

void check_bursts(const Node& map, const Traffic& traffic, Findings& findings) {
  const Node* node = block(&map, "bursts");
  const Bursts& bursts = std::get<Bursts>(traffic.shape);
  const Rate mean = traffic.mean;
  if (bursts.rate.per_second <= 0 || bursts.length.ns <= 0 || bursts.every.ns <= 0) return;
  if (bursts.length >= bursts.every) {
    findings.add(Code::SettingConflict, value_place(*node, "length"),
                 "a burst is not shorter than the time between two of them",
                 "every counts from the start of a burst to the start of the next");
    return;
  }
  if (mean.per_second <= 0) return;
  const double in_bursts =
      bursts.rate.per_second * to_seconds(bursts.length) / to_seconds(bursts.every);
  if (in_bursts > mean.per_second) {
    findings.add(Code::SettingConflict, value_place(map, "mean"),
                 "the bursts alone bring more requests than mean",
                 fmt::format("mean counts bursts and quiet times: at least {:.4g}/s", in_bursts));
  } else if (bursts.rate <= mean) {
    findings.add(Code::SettingConflict, value_place(*node, "rate"),
                 "the rate of a burst is not above mean",
                 "mean counts bursts and quiet times together");
  }
}

void check_steps(const Node& map, Findings& findings) {
  const Node* list = blocks(&map, "steps");
  if (list == nullptr) return;
  std::optional<Duration> before;
  double highest = 0;
  for (const NodePtr& item : list->items) {
    const auto at = duration_at(item.get(), "at");
    const auto rate = rate_at(item.get(), "rate");
    if (!at || !rate) return;
    if (before && *at <= *before) {
      findings.add(Code::SettingConflict, value_place(*item, "at"),
                   "a step does not come after the one before it", "put steps in order of time");
    }
    before = at;
    highest = std::max(highest, rate->per_second);
  }
  if (!list->items.empty() && highest <= 0) {
    findings.add(Code::ValueRange, list->where, "every step has a rate of zero",
                 "give one of them a rate, like `{at: 0, rate: 5/s}`");
  }
}

void check_scale(double scale, const Node& map, Findings& findings) {
  if (scale >= kLeastScale) return;
  findings.add(Code::ValueRange, value_place(map, "scale"),
               fmt::format("scale must be at least {:f}", kLeastScale));
}

void finish_trace(RequestTrace& trace, const Node& map, Reading& reading) {
  check_scale(trace.scale, map, reading.findings);
  if (trace.file.value.empty()) return;
  if (const SourceText* file = reading.traces->find(trace.file, reading.findings)) {
    read_request_trace(*file, trace, reading.findings, reading.traces->notes());
  }
}

void finish_clients(ClientTraffic& clients, const Node& map, Reading& reading) {
  check_scale(clients.scale, map, reading.findings);
  if (clients.file.value.empty()) return;
  const SourceText* file = reading.traces->find(clients.file, reading.findings);
  if (file == nullptr) return;
  ClientRates rates = read_client_rates(*file, reading.findings);
  clients.windows = std::move(rates.windows);
  clients.window = rates.window;
  const Duration end = end_of(clients);
  if (clients.from >= end && end > Duration{}) {
    reading.findings.add(Code::ValueRange, value_place(map, "from"),
                         "the run would start behind the last window of the file",
                         fmt::format("the file ends after {:.6g} h", to_seconds(end) / 3600));
  }
}

void finish_variation(const Node& map, Shape shape, Traffic& traffic, Findings& findings) {
  // Below it gaps hardly vary, and the laws need numbers beyond a double's reach.
  constexpr double kLeast = 0.01;
  const auto variation = number_at(&map, "variation");
  if (!variation) return;
  // Where no law is written, 1 is what Poisson's has.
  const bool takes_any_law = shape == Shape::Diurnal || shape == Shape::Steps;
  if (takes_any_law && *variation != 1) traffic.gaps = Traffic::Gaps::Gamma;
  if (*variation >= kLeast) return;
  findings.add(Code::ValueRange, value_place(map, "variation"), "variation must be at least 0.01",
               "for equal gaps write `shape: Constant`");
}

void finish_traffic(Traffic& traffic, const Node& map, Reading& reading) {
  const Node* written = map.find("shape");
  const Word* word = list(kShapes).find(written == nullptr ? "Poisson" : written->text);
  // A misspelt shape is reported already; which fields belong to it nobody knows.
  if (word == nullptr) return;
  const auto shape = static_cast<Shape>(word->value);
  check_shape_fields(map, shape, traffic.where, reading.findings);
  finish_variation(map, shape, traffic, reading.findings);
  if (shape == Shape::Diurnal) finish_diurnal(map, traffic, reading.findings);
  if (shape == Shape::Bursts) check_bursts(map, traffic, reading.findings);
  if (shape == Shape::Steps) check_steps(map, reading.findings);
}

constexpr Field kBurstFields[] = {
    field<&Bursts::rate>("rate", "80/s", "Rate within a burst.").needed().positive(),
    field<&Bursts::length>("length", "20s", "Mean length of a burst.").needed().positive(),
    field<&Bursts::every>("every", "5m", "Mean time from the start of a burst to that of the next.")
        .needed()
        .positive(),
};
constexpr FieldList kBursts = block<Bursts>(kBurstFields);

constexpr Field kRateStepFields[] = {
    field<&RateStep::at>("at", "10m", "When the rate starts to hold, since the start of the run.")
        .needed(),
    field<&RateStep::rate>("rate", "20/s", "Rate until the next step; 0/s for none.").needed(),
};
constexpr FieldList kRateStep = block<RateStep>(kRateStepFields);

constexpr Field kTraceFields[] = {
    field<&RequestTrace::file>("file", "requests.csv",
                               "CSV file with a header, one request a line, or the binary form of "
                               "`slicewise import`; the path is relative to the scenario file.")
        .needed()
        .positive(),
    field<&RequestTrace::time_column>(
        "timeColumn", "TIMESTAMP", "Column of the arrivals: seconds, or date and time in ISO 8601.")
        .positive()
        .otherwise("timestamp, time, arrival or at, in any case"),
    field<&RequestTrace::input_column>("inputTokensColumn", "ContextTokens",
                                       "Column of the tokens of the prompt.")
        .positive()
        .otherwise("ContextTokens, inputTokens, promptTokens and the like, when present"),
    field<&RequestTrace::output_column>("outputTokensColumn", "GeneratedTokens",
                                        "Column of the tokens of the answer.")
        .positive()
        .otherwise("GeneratedTokens, outputTokens, completionTokens and the like, when present"),
    field<&RequestTrace::blocks_column>(
        "blocksColumn", "hash_ids",
        "Column of the hashes of the prompt's blocks, whole numbers with blanks between; each "
        "stands for all tokens up to the end of its block.")
        .positive()
        .otherwise("hash_ids or block_hashes, when present"),
    field<&RequestTrace::block_tokens>("blockTokens", "16", "Tokens of each of these blocks.")
        .between(1, 100'000'000),
    field<&RequestTrace::scale>(
        "scale", "2", "Factor of the rate: at 2 the same requests come in half of the time.")
        .up_to(1'000'000),
    field<&RequestTrace::from>(
        "from", "10m",
        "Start of the window that is replayed, since the first request of the file."),
    field<&RequestTrace::length>("length", "30m", "Length of that window, in the file's own time.")
        .positive()
        .otherwise("to the end of the file"),
    field<&RequestTrace::repeats>("repeat", "true", "Start over when the window is through."),
};
constexpr FieldList kTrace = block<RequestTrace, &finish_trace>(kTraceFields);

constexpr Field kClientRatesFields[] = {
    field<&ClientTraffic::file>("file", "m-large.csv",
                                "CSV file of `slicewise import servegen`: client, at_s, rate, law, "
                                "variation; the path is relative to the scenario file.")
        .needed()
        .positive(),
    field<&ClientTraffic::from>(
        "from", "9h", "Time of the file at which the run starts, since its first midnight."),
    field<&ClientTraffic::scale>("scale", "0.1", "Factor of all rates.").up_to(1'000'000),
    field<&ClientTraffic::repeats>("repeat", "true", "Start over when the file is through."),
};
constexpr FieldList kClientRates = block<ClientTraffic, &finish_clients>(kClientRatesFields);

constexpr Field kTrafficFields[] = {
    read_by<Traffic, &read_shape>(
        T::Word, "shape", "Poisson",
        "How requests arrive. Poisson, Constant, Gamma and Weibull: at one rate, with gaps of that "
        "law. Diurnal, Bursts, Steps: at a rate that changes. Trace: as recorded. ClosedLoop: each "
        "client waits for its answer. Clients: many clients, each at its own rate and variation in "
        "each window of time.")
        .one_of(kShapes)
        .otherwise("Poisson"),
    field<&Traffic::mean>("mean", "12/s",
                          "Requests of the whole Service, over all replicas, on average: of the "
                          "run, or of a working day with shape Diurnal.")
        .positive()
        .needed_by_rule(),
    field<&Traffic::gap_variation>(
        "variation", "2.5",
        "Coefficient of variation of the gaps between requests (Diurnal, Steps; Gamma and Weibull "
        "need it): 1 as Poisson, 0.5 more even, 3 in clumps.")
        .up_to(100)
        .otherwise("1 with Diurnal and Steps"),
    field<&in_shape<Diurnal>, &Diurnal::peak>("peak", "40/s",
                                              "Rate at the busiest time of the day (Diurnal).")
        .positive()
        .needed_by_rule(),
    field<&in_shape<Diurnal>, &Diurnal::peak_at>(
        "peakAt", "\"14:00\"", "The busiest time of the day, local time (Diurnal).")
        .as(T::ClockTime)
        .needed_by_rule(),
    field<&in_shape<Diurnal>, &Diurnal::utc_offset>("utcOffset", "\"+01:00\"",
                                                    "Local time minus UTC (Diurnal).")
        .as(T::UtcOffset),
    field<&in_shape<Diurnal>, &Diurnal::weekend>(
        "weekend", "40%", "Rate on Saturday and Sunday against a working day (Diurnal).")
        .as(T::Percent),
    field<&in_shape<Bursts>>(
        "bursts", "{rate: 80/s, length: 20s, every: 5m}",
        "Bursts that come and go at random (Bursts). Between them the rate is what keeps the mean.")
        .of(kBursts),
    field<&in_shape<std::vector<RateStep>>>("steps", "[{at: 0, rate: 5/s}, {at: 10m, rate: 20/s}]",
                                            "Rates from a time on, in order of time (Steps).")
        .positive()
        .of(kRateStep),
    field<&in_shape<RequestTrace>>("trace", "{file: requests.csv}", "Recorded requests (Trace).")
        .of(kTrace),
    field<&in_shape<ClientTraffic>>("clientRates", "{file: m-large.csv, repeat: true}",
                                    "Rates of clients by window of time (Clients).")
        .of(kClientRates),
    field<&in_shape<ClosedLoop>, &ClosedLoop::clients>(
        "clients", "50", "Clients that each wait for an answer before they ask again (ClosedLoop).")
        .between(1, 10'000'000)
        .needed_by_rule(),
    field<&in_shape<ClosedLoop>, &ClosedLoop::think_time>(
        "thinkTime", "5s",
        "Mean time from an answer to the client's next request, exponential (ClosedLoop)."),
    field<&Traffic::provenance>("provenance", "Assumed",
                                "Where the traffic comes from; reports count it where it is said.")
        .one_of(kProvenances)
        .otherwise("not counted"),
};

}  // namespace

constinit const FieldList kTraffic = block<Traffic, &finish_traffic>(kTrafficFields);

}  // namespace slicewise::scenarios
