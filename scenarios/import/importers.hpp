#pragma once

#include <span>
#include <string>

#include "slicewise/scenarios/import.hpp"

// One function for each kind of log, and what is written of logs.
namespace slicewise::scenarios {

using Importer = Expected<Imported>(std::span<const SourceText> files,
                                    const ImportOptions& options);

// Azure's and BurstGPT's requests as CSV, Mooncake's as JSONL; ServeGen's rates of clients by
// window.
Importer import_azure, import_burstgpt, import_mooncake, import_servegen;

// Alibaba's pod CSV, any CSV of jobs by a map of columns, Standard Workload Format 2.2, the lines
// of sacct -P.
Importer import_openb, import_job_table, import_swf, import_sacct;

// Traces of the Gavel simulator (7 or 10 fields a line, which need the throughputs of
// simulation_throughputs.json as one of the files) and of Shockwave (12 fields with a duration).
Importer import_gavel;

// kubectl get pods -A -o json; nodes and events, in the same file or others, fill in what the pods
// do not say.
Importer import_pods;

// Answers of range queries of DCGM exporter and kube-state-metrics, in any order and any number of
// files.
Importer import_prometheus;

// Manifests, device-plugin values and NodePools.
Importer import_k8s;

// A `kind: Replay` that runs an imported trace of jobs.
std::string replay_scenario(const Imported& imported, ImportKind kind,
                            const ImportOptions& options);

// A scenario of workloads made from imported pods.
ScenarioText pod_scenario(const Imported& imported, ImportKind kind, const ImportOptions& options);

// A scenario of Services that serve the imported requests or client windows.
std::string request_scenario(const Imported& imported, ImportKind kind,
                             const ImportOptions& options);

// Imported requests as the CSV file that a traffic of shape Trace reads, rates of clients as the
// one of shape Clients; "" for anything else.
std::string request_csv(const Imported& imported);

// Requests in binary, which shape Trace reads as well; "" for anything else.
std::string binary_requests(const Imported& imported);

}  // namespace slicewise::scenarios
