#include <nlohmann/json.hpp>

#include "document_values.hpp"
#include "json_schema.hpp"
#include "serving_document.hpp"
#include "serving_schema.hpp"

namespace slicewise::reports {

nlohmann::json document::gang(const sim::GangFigures& g) {
  const auto gpu_set = [](const sim::GpuSetFigures& s) {
    return present({{"pool", s.pool},
                    {"gpus", s.gpus},
                    {"pods", number(s.pods)},
                    {"allLinked", s.all_linked},
                    {"allReduceSeconds",
                     s.all_reduce.ns > 0 ? in_seconds(s.all_reduce) : nlohmann::json(nullptr)}});
  };
  return {{"gpusPerPod", g.gpus},
          {"allReduceRatio", number(g.all_reduce_share)},
          {"gpuSets", list(g.sets, gpu_set)}};
}

nlohmann::json json_schema::gang() {
  return object(
      {{"gpusPerPod", whole("GPUs of each pod")},
       {"allReduceRatio",
        ratio("share of the working time of its containers that all-reduces took")},
       {"gpuSets", list_of(object({{"pool", text("node pool")},
                                   {"gpus", list_of(whole("index on the node"), "GPUs of the pod")},
                                   {"pods", number("placed on them, mean per replication")},
                                   {"allLinked", truth("every two of them are joined by NVLink")},
                                   {"allReduceSeconds", number("of one step"), kOptional}},
                                  "a set of GPUs that pods were given"),
                           "sets of GPUs that its pods were given")}},
      "pods with several whole GPUs");
}

}  // namespace slicewise::reports
