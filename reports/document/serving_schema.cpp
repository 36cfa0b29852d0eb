#include "serving_schema.hpp"

namespace slicewise::reports::json_schema {
namespace {

json numbers(std::string_view description) {
  return object({{"count", whole("values observed, over all replications")},
                 {"mean", number("mean")},
                 {"p50", number("median")},
                 {"p95", number("95th percentile")},
                 {"p99", number("99th percentile")}},
                description);
}

Property half_width(const char* name, std::string_view of) {
  return {name,
          number("half width of the 95 % interval of " + std::string(of) +
                 ", seconds; absent with one replication or too few values"),
          kOptional};
}

}  // namespace

json times(std::string_view description) {
  return object({{"count", whole("values observed, over all replications")},
                 {"mean", number("seconds")},
                 {"p50", number("seconds")},
                 {"p95", number("seconds")},
                 {"p99", number("seconds")},
                 {"p999", number("seconds; absent below 1,000 values"), kOptional},
                 half_width("ci95", "the mean"),
                 half_width("p50Ci95", "p50"),
                 half_width("p95Ci95", "p95"),
                 half_width("p99Ci95", "p99"),
                 half_width("p999Ci95", "p999"),
                 {"p999IsRough",
                  described({{"const", true}},
                            "p999 is one of the ten largest values: fewer than 10,000 were seen"),
                  kOptional}},
                description);
}

json objective() {
  return object(
      {{"name", text("objective, as in the scenario")},
       {"unit", one_of({"seconds", "ratio", "perSecond", "number"}, "of limit, value and ci95")},
       {"atLeast", described({{"const", true}}, "the limit is a lower one"), kOptional},
       {"limit", number("at most, or at least")},
       {"value", number("what was found; 0 when nothing was observed")},
       {"ci95", number("half width of its 95 % interval"), kOptional},
       {"pass", truth("value <= limit (>= with atLeast), and of a quantile no more "
                      "requests lost than it leaves out")}},
      "one objective of the workload");
}

json requests() {
  return object(
      {{"arrived", number("requests that came after the warm-up")},
       {"answered", number("of those, answered before the run ended")},
       {"inObjectives", number("answered, and within every limit on a single request")},
       {"refused", number("found no ready replica, or died with it")},
       {"dropped", number("met a full queue, and so did their retries")},
       {"timedOut", number("waited longer than the time-out")},
       {"retried", number("attempts after the first")},
       {"meanInSystem", number("requests between arrival and answer, mean over time")},
       {"meanBatch",
        number("requests of a batch on the GPU, sequences of a step of a language model; absent "
               "when there was none"),
        kOptional},
       {"availability", ratio("answered / (answered + refused + dropped + timedOut)")}},
      "requests of a Service or pipeline, means per replication");
}

json tokens() {
  return object(
      {{"input", number("prompt tokens of answered requests")},
       {"output", number("tokens of their answers")},
       {"outputPerSecond", number("answer tokens per second")},
       {"firstTokenSeconds", times("arrival to first token (TTFT)"), kOptional},
       {"perTokenSeconds", times("time per token after the first, mean of each request (TPOT)"),
        kOptional},
       {"kvCachePeakRatio", ratio("highest share of the KV cache in use, of the fullest pod")},
       {"kvCacheBytes", whole("KV cache of one pod, bytes")},
       {"preemptions", number("sequences that lost their cache and were computed again")},
       {"perMillionOutputUsd", number("US dollars per million output tokens"), kOptional}},
      "a language model, means per replication");
}

json scaling() {
  return object({{"replicasMean", number("replicas wanted, mean over the run")},
                 {"replicasMax", whole("most replicas wanted at once")},
                 {"scaleUps", number("times that more were wanted")},
                 {"scaleDowns", number("times that fewer were wanted")},
                 {"startUpSeconds", times("from wanted to ready"), kOptional}},
                "an autoscaled Service, means per replication");
}

json gang() {
  json gpu_set = object({{"pool", text("node pool")},
                         {"gpus", list_of(whole("index on the node"), "GPUs of the pod")},
                         {"pods", number("placed on them, mean per replication")},
                         {"allLinked", truth("every two of them are joined by NVLink")},
                         {"allReduceSeconds", number("of one step"), kOptional}},
                        "a set of GPUs that pods were given");
  return object({{"gpusPerPod", whole("GPUs of each pod")},
                 {"allReduceRatio",
                  ratio("share of the working time of its containers that all-reduces took")},
                 {"gpuSets", list_of(std::move(gpu_set), "sets of GPUs that its pods were given")}},
                "pods with several whole GPUs");
}

json notebooks() {
  return object(
      {{"users", whole("people")},
       {"sessions", number("sessions opened")},
       {"cells", number("cells run")},
       {"culled", number("sessions ended for idleness")},
       {"gaveUp", number("sessions that had no kernel by the time they were to end")},
       {"sessionStartSeconds", times("asked for to ready"), kOptional},
       {"cellSlowdown", numbers("time of a cell / its time alone on the GPU"), kOptional},
       {"oomPerUserMonth", number("out-of-memory kills per user and month of 730 h")},
       {"waitingPerUserMonthSeconds",
        number("waiting for sessions and slowed cells per user and month, seconds")},
       {"perActiveUserMonthUsd",
        number("nodes for a month / users with a session in the run, US dollars"), kOptional}},
      "notebooks, means per replication");
}

}  // namespace slicewise::reports::json_schema
