#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "slicewise/reports/result_report.hpp"

#include "../screens/policy_rows.hpp"
#include "json_schema.hpp"
#include "result_document.hpp"
#include "serving_schema.hpp"

namespace slicewise::reports {
namespace {

using nlohmann::json;

using json_schema::described;
using json_schema::kOptional;
using json_schema::list_of;
using json_schema::number;
using json_schema::object;
using json_schema::one_of;
using json_schema::ratio;
using json_schema::text;
using json_schema::times;
using json_schema::whole;

json metadata() {
  return object(
      {{"scenario", text("metadata.name of the scenario")},
       {"scenarioFile", text("as it was given"), kOptional},
       {"settings", list_of({{"type", "string"}}, "--set, in order"), kOptional},
       {"fidelity", text("--fidelity, when it was given"), kOptional},
       {"scenarioSha256", text("SHA-256 of the scenario, in hexadecimal")},
       {"seed", whole("seed of the random streams")},
       {"replications", whole("runs per variant that were asked for, each with its own random "
                              "streams")},
       {"version", text("version of slicewise")},
       {"priceDate", text("date of the newest price in force, YYYY-MM-DD"), kOptional},
       {"priceFile", text("--prices file laid over the catalogue's prices"), kOptional},
       {"priceFileSha256", text("SHA-256 of that file, in hexadecimal"), kOptional},
       {"interrupted",
        described({{"const", true}},
                  "some replications were not run; variants without any are absent"),
        kOptional}},
      "what produced the result; the same values produce the same bytes");
}

json node_dynamics_schema() {
  return object({{"provisioner", text("Karpenter, ClusterAutoscaler or ManagedNodeGroup")},
                 {"least", whole("fewest nodes that the scenario allows"), kOptional},
                 {"most", whole("most nodes that the scenario allows"), kOptional},
                 {"nodesMean", number("nodes that EC2 bills, mean over the run")},
                 {"nodesMax", whole("most of them at once, of all replications")},
                 {"launches", number("nodes started in the run")},
                 {"surplusLaunches", number("of those, more than the pods needed")},
                 {"removed", number("nodes taken away as empty or underused")},
                 {"interruptions", number("nodes that EC2 took back")},
                 {"onDemandLaunches", number("nodes bought as on-demand after an interruption")},
                 {"nodeHours", number("node time that EC2 bills, hours")},
                 {"thrashNodeHours", number("of that, of nodes that were started without need")}},
                "nodes that come and go, means per replication; absent where they do not");
}

json node_start_up_schema() {
  return object({{"pods", number("pods that waited for a node, mean per replication")},
                 {"decisionSeconds", number("until the provisioner decides, mean")},
                 {"launchSeconds", number("until EC2 bills the node, mean")},
                 {"readySeconds", number("until the node is Ready, mean")},
                 {"gpuAllocatableSeconds", number("until its GPUs are advertised, mean")},
                 {"schedulingSeconds", number("until the pod is bound, mean")},
                 {"imagePullSeconds", number("until the image is there, mean")},
                 {"modelLoadSeconds", number("until the container works, mean")},
                 {"totalSeconds", times("from Pending to work; the sum of the stages")}},
                "the way of pods that waited for a node; absent when none did");
}

json node_pool() {
  return object(
      {{"name", text("name in the scenario")},
       {"instanceType", text("EC2 instance type")},
       {"gpuModel", text("catalogue name of its GPUs"), kOptional},
       {"region", text("AWS region of the price"), kOptional},
       {"purchaseOption", text("on-demand, spot or reserved"), kOptional},
       {"strategy", text("how its GPUs are shared: exclusive, timeSlicing, mps, mig, mig+mps, "
                         "mig+timeSlicing, vgpu, awsVirtualGpu, nos")},
       {"nodes", whole("number of nodes; the most that it may have, where nodes come and go")},
       {"gpusPerNode", whole("physical GPUs of a node")},
       {"usdPerHour", number("price of one node, US dollars per hour")},
       {"priceSource", text("where the price comes from"), kOptional},
       {"turnSeconds", number("time slice of a context, seconds"), kOptional},
       {"switchCostSeconds", number("cost of one context switch, seconds"), kOptional},
       {"activeThreadsRatio", ratio("share of the SMs that one MPS client may use"), kOptional},
       {"clientMemoryLimitBytes",
        whole("GPU memory that one MPS client may take, bytes; absent when there is no limit or "
              "several"),
        kOptional},
       {"vgpuPolicy",
        text("how vGPUs take turns on a physical GPU: bestEffort, equalShare or fixedShare"),
        kOptional},
       {"vgpusPerGpu", whole("virtual machines on a physical GPU"), kOptional},
       {"migConfig", text("MIG layout in force at the start"), kOptional},
       {"migInstances",
        described(
            {{"type", "object"}, {"additionalProperties", whole("instances, all nodes together")}},
            "MIG instances at the start, by profile"),
        kOptional},
       {"smsUnusedRatio", ratio("share of the SMs that belong to no MIG instance"), kOptional},
       {"advertised", described({{"type", "object"},
                                 {"additionalProperties", whole("units, all nodes together")}},
                                "extended resources that the kubelets advertise")},
       {"dynamics", node_dynamics_schema(), kOptional}},
      "a group of equal nodes");
}

json pods() {
  return object({{"submitted", number("pods created, mean per replication")},
                 {"runningMax", whole("most pods Running at once")},
                 {"pendingMax", whole("most pods Pending at once")},
                 {"succeeded", number("pods Succeeded, mean per replication")},
                 {"failed", number("pods Failed, mean per replication")},
                 {"oomKilled", number("containers that ran out of GPU memory, mean per "
                                      "replication")},
                 {"restarts", number("container restarts, mean per replication")},
                 {"gpuFaults", number("fatal GPU faults, mean per replication")},
                 {"faultVictims", number("containers that died of the fault of a neighbour, mean "
                                         "per replication")},
                 {"evicted", number("pods evicted for a change of the MIG layout or from a "
                                    "node that ends, mean per replication")},
                 {"pendingReasons", list_of(text("message of the kube-scheduler"),
                                            "distinct messages, in order of appearance")}},
                "what became of the pods");
}

json workload() {
  return object(
      {{"name", text("name in the scenario")},
       {"kind", text("Job, Deployment, Service, Notebook or Pipeline")},
       {"unitName", text("unit of throughput: epoch, request, ..."), kOptional},
       {"completed", number("jobs, container runs or requests finished, mean per replication")},
       {"throughputPerSecond", number("units finished per second of the run"), kOptional},
       {"goodputPerSecond", number("units that met every objective on them, per second"),
        kOptional},
       {"requests", json_schema::requests(), kOptional},
       {"tokens", json_schema::tokens(), kOptional},
       {"scaling", json_schema::scaling(), kOptional},
       {"notebooks", json_schema::notebooks(), kOptional},
       {"gang", json_schema::gang(), kOptional},
       {"jobCompletionSeconds", times("from submission to success"), kOptional},
       {"waitSeconds", times("from submission to the first running container"), kOptional},
       {"latencySeconds", times("from arrival to response"), kOptional},
       {"queueingSeconds", times("of that, until the GPU took it up"), kOptional},
       {"objectives", list_of(json_schema::objective(), "empty when the scenario sets none")},
       {"gpuBusyShare", ratio("share of the GPU time of the run that its kernels took"), kOptional},
       {"boundBy", text("what limits it: GPU, host CPU, GPU memory, ..."), kOptional}},
      "results of one workload");
}

json gpu() {
  return object(
      {{"node", text("name of the node")},
       {"index", whole("index of the GPU in its node")},
       {"model", text("catalogue name")},
       {"migProfile", text("of the MIG instance; absent for a whole GPU"), kOptional},
       {"migInstance", whole("counts the instances of the GPU, from 0"), kOptional},
       {"gpuShare", ratio("compute slices of the instance / those of the GPU"), kOptional},
       {"timeBusyRatio", ratio("share of the run in which a kernel ran"), kOptional},
       {"smActiveRatio", ratio("mean share of busy multiprocessors; absent when unknown"),
        kOptional},
       {"contextSwitchRatio", ratio("share of the run spent switching contexts"), kOptional},
       {"memoryPeakBytes", whole("highest memory in use, bytes")},
       {"memoryTotalBytes", whole("memory that processes can use, bytes")}},
      "means over the replications for one GPU or MIG instance");
}

json node() {
  return object({{"name", text("name of the node")},
                 {"pool", text("its node pool")},
                 {"cpuBusyRatio", ratio("busy share of its vCPUs"), kOptional}},
                "means over the replications for one node");
}

json cost() {
  return object(
      {{"totalUsd", number("nodes x time x price; the sum of the parts below, exactly")},
       {"usefulUsd", number("GPU time of work that was finished or still ran at the end")},
       {"idleUsd", number("time in which no kernel ran")},
       {"switchUsd", number("context switches")},
       {"failedUsd", number("work of containers that died")},
       {"coldStartUsd", number("nodes that start; image pull and model load on an otherwise idle "
                               "GPU")},
       {"missedSloUsd", number("requests served too late")},
       {"thrashUsd",
        number("nodes started without need, until they were taken away; absent where nodes do not "
               "come and go"),
        kOptional},
       {"perJobUsd", number("total / jobs finished; absent when none was"), kOptional},
       {"per1kRequestsInSloUsd", number("total / thousands of requests in SLO"), kOptional},
       {"monthlyUsd",
        number("nodes x price x 730 h; where nodes come and go, the bill of the run x "
               "730 h")}},
      "US dollars, mean per replication");
}

json finding() {
  return object({{"code", text("stable code; `slicewise explain CODE` describes it")},
                 {"severity", one_of({"error", "warning", "note"}, "how bad it is")},
                 {"message", text("what was found")},
                 {"help", text("what to do"), kOptional},
                 {"file", text("input file it comes from"), kOptional},
                 {"line", whole("line in that file, from 1"), kOptional},
                 {"column", whole("column in that line, from 1"), kOptional}},
                "something the user should know");
}

json provenance() {
  return object({{"measured", whole("inputs that were measured")},
                 {"catalog", whole("inputs from the catalogue")},
                 {"assumed", whole("inputs that nobody measured")},
                 {"assumedInputs", list_of(text("workload: field"), "which ones")}},
                "where the inputs of the variant come from");
}

json variant() {
  return object(
      {{"name", text("name in the scenario")},
       {"description", text("description in the scenario"), kOptional},
       {"strategy", text("of its pools, joined by a comma and a space when they differ")},
       {"replications", whole("runs that were done")},
       {"makespanSeconds", times("length of the run, one value per replication"), kOptional},
       {"nodePools", list_of(node_pool(), "in the order of the scenario")},
       {"pods", pods()},
       {"workloads", list_of(workload(), "in the order of the scenario, pipelines last")},
       {"gpus",
        list_of(gpu(), "in the order of nodes, MIG layouts of the run, GPUs and instances")},
       {"nodes", list_of(node(), "in the order of the pools")},
       {"cost", cost()},
       {"nodeStartUp", node_start_up_schema(), kOptional},
       {"policies", list_of(policy_schema(), "in the order of the scenario"), kOptional},
       {"findings", list_of(finding(), "in the order found")},
       {"provenance", provenance()}},
      "one variant of the scenario");
}

}  // namespace

std::string result_schema_json() {
  json schema = object({{"apiVersion", {{"const", kResultApiVersion}}},
                        {"kind", {{"const", "Result"}}},
                        {"metadata", metadata()},
                        {"variants", list_of(variant(), "in the order of the scenario")}},
                       "What `slicewise run -o json` prints. SI units in the keys; fields that do "
                       "not apply are absent. Keys are added, never renamed.");
  schema["$schema"] = "http://json-schema.org/draft-07/schema#";
  schema["title"] = "slicewise result";
  return json_text(schema);
}

}  // namespace slicewise::reports
