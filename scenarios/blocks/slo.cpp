#include "blocks.hpp"

namespace slicewise::scenarios {
namespace {

using T = FieldType;

constexpr Word kFigures[] = {
    {"latencyP50", Figure::LatencyP50},
    {"latencyP90", Figure::LatencyP90},
    {"latencyP95", Figure::LatencyP95},
    {"latencyP99", Figure::LatencyP99},
    {"latencyP999", Figure::LatencyP999},
    {"availability", Figure::Availability},
    {"throughput", Figure::Throughput},
    {"ttftP50", Figure::TtftP50},
    {"ttftP95", Figure::TtftP95},
    {"ttftP99", Figure::TtftP99},
    {"tpotP50", Figure::TpotP50},
    {"tpotP95", Figure::TpotP95},
    {"tpotP99", Figure::TpotP99},
    {"completionP95", Figure::CompletionP95},
    {"waitP95", Figure::WaitP95},
    {"deadline", Figure::Deadline},
    {"sessionStartP95", Figure::SessionStartP95},
    {"cellSlowdownP95", Figure::CellSlowdownP95},
    {"oomPerUserMonth", Figure::OomPerUserMonth},
    {"slowdownP95", Figure::SlowdownP95},
    {"deadlinesMet", Figure::DeadlinesMet},
};

using Objectives = std::vector<Objective>;

template <class Value>
std::optional<FigureValue> limit_in(const Field& field, const Node& node) {
  Value value{};
  if (!read_value(field, node, value)) return std::nullopt;
  if (field.type == T::Percent) {
    if constexpr (std::is_same_v<Value, double>) return Share{value};
  }
  return value;
}

void read_objective(Objectives& objectives, const Field& field, const Entry& entry,
                    Reading& /*reading*/) {
  const Node& node = *entry.value;
  const auto limit = field.type == T::Duration ? limit_in<Duration>(field, node)
                     : field.type == T::Rate   ? limit_in<Rate>(field, node)
                                               : limit_in<double>(field, node);
  if (limit) objectives.push_back({*figure_called(field.name), *limit, node.where});
}

constexpr Field objective(FieldType type, std::string_view name, std::string_view example,
                          std::string_view description) {
  return read_by<Objectives, &read_objective>(type, name, example, description);
}

constexpr Field kSloFields[] = {
    objective(T::Duration, "latencyP50", "80ms", "Median latency of a request.").positive(),
    objective(T::Duration, "latencyP90", "200ms", "90th percentile of the latency of a request.")
        .positive(),
    objective(T::Duration, "latencyP95", "300ms", "95th percentile of the latency of a request.")
        .positive(),
    objective(T::Duration, "latencyP99", "500ms", "99th percentile of the latency of a request.")
        .positive(),
    objective(T::Duration, "latencyP999", "1s", "99.9th percentile of the latency of a request.")
        .positive(),
    objective(T::Percent, "availability", "99.9%",
              "Answered requests of all that were asked, at least (Service, pipeline).")
        .positive(),
    objective(T::Rate, "throughput", "50/s",
              "Answered requests per time, at least (Service, pipeline).")
        .positive(),
    objective(T::Duration, "ttftP50", "200ms", "Median time to the first token (Service with llm).")
        .positive(),
    objective(T::Duration, "ttftP95", "500ms",
              "95th percentile of the time to the first token (Service with llm).")
        .positive(),
    objective(T::Duration, "ttftP99", "1s",
              "99th percentile of the time to the first token (Service with llm).")
        .positive(),
    objective(T::Duration, "tpotP50", "40ms",
              "Median time per token after the first (Service with llm).")
        .positive(),
    objective(T::Duration, "tpotP95", "60ms",
              "95th percentile of the time per token after the first (Service with llm).")
        .positive(),
    objective(T::Duration, "tpotP99", "80ms",
              "99th percentile of the time per token after the first (Service with llm).")
        .positive(),
    objective(T::Duration, "completionP95", "2h",
              "95th percentile of the time from submission to completion of a pod.")
        .positive(),
    objective(
        T::Duration, "waitP95", "10m",
        "95th percentile of the time from the submission of a pod to its first running container.")
        .positive(),
    objective(T::Duration, "deadline", "8h", "Every Job is done this long after it was submitted.")
        .positive(),
    objective(T::Duration, "sessionStartP95", "2m",
              "95th percentile of the time from opening a notebook until it is ready (Notebook).")
        .positive(),
    objective(T::Number, "cellSlowdownP95", "3",
              "95th percentile of a cell's time against its time alone (Notebook).")
        .between(1, 1'000'000),
    objective(T::Number, "oomPerUserMonth", "0.5",
              "Out-of-memory kills of a user in a month, on average (Notebook).")
        .up_to(1'000'000),
    objective(T::Number, "slowdownP95", "1.5",
              "95th percentile of the time that a recorded job runs against its recorded duration "
              "(TraceJobs).")
        .between(0, 1'000'000),
    objective(
        T::Percent, "deadlinesMet", "95%",
        "Recorded jobs that end by their deadline, of those that have one, at least (TraceJobs).")
        .positive(),
};

}  // namespace

constinit const FieldList kSlo = block<Objectives>(kSloFields);
// A pipeline has the first of them.
constinit const FieldList kPipelineSlo = {kSloFields, 7, &kTag<Objectives>};

std::optional<Figure> figure_called(std::string_view name) {
  const Word* word = list(kFigures).find(name);
  return word == nullptr ? std::nullopt : std::optional(static_cast<Figure>(word->value));
}

}  // namespace slicewise::scenarios
