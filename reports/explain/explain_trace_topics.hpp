#pragma once

// Topics of `slicewise explain` about traces and logs. Layout: explain_topics.hpp.
namespace slicewise::reports {

inline constexpr const char* kImport = R"(
`slicewise import KIND` reads what a cluster or another system has recorded and writes a trace, or with -o scenario a file that runs as it is.
  openb jobs swf sacct pods prometheus   -> a trace of jobs, for slicewise replay
  azure mooncake burstgpt servegen       -> requests or rates of clients, for traffic of slicewise run
  k8s                                    -> a scenario from manifests, plugin values and NodePools
What it leaves out, guesses or puts right is said on standard error with a count and the first place. A row that cannot be read stops it; --skip-bad counts such rows instead. In a scenario every figure that the source does not have is marked Assumed, with a TODO beside it.
Times without a zone are taken as UTC: give --utc-offset. A list of pods from the API lacks those that were deleted, so long jobs are over-represented. Run times that were measured while jobs shared a GPU are lifetimes, longer than the work. Where DCGM repeats the figure of a whole GPU for each pod on it, the figure is split evenly among them.
A trace is CSV, or with -o binary a file that is mapped into memory; both hold the same, and gzip and zstd are read as they are.
Sources: https://github.com/NVIDIA/dcgm-exporter ; https://github.com/kubernetes/kube-state-metrics ; https://slurm.schedmd.com/sacct.html ; Feitelson: Standard Workload Format 2.2)";

inline constexpr const char* kReplay = R"(
`slicewise replay` runs the jobs of a trace on a cluster: a job waits, gets its GPUs, holds them for its run time and gives them back. Ends at an instant come before starts. Several queues and placements are compared in one table.
  fifo      the oldest job blocks all behind it until it fits
  backfill  the oldest job that fits, as kube-scheduler does
  easy      later jobs may start where they do not delay the oldest, by their time limits
  priority  higher first; takes the GPUs of lower ones, the fewest and lowest that will do
  srtf srsf least remaining run time, or run time x GPUs, first: an ideal without costs
  WAIT  from arrival to end less the run time       COMPLETION  from arrival to end
The placement decides which node: first-fit, least-allocated and most-allocated (kube-scheduler), random, best-fit, dot-product (Tetris), fgd (least fragments), clustering, packing. Jobs larger than a node take whole nodes and a part of one. Rows with the same gang start together or not at all.
  --gpus 2000  --nodes 250x8  --nodes FILE  --instances p3.16xlarge=250 (with its cost)
--inflate 130% lets jobs arrive and stay until they ask for that share of all GPUs, and says how much could be handed out.
Not modelled: start-up of pods and nodes, failures, slowdown by neighbours on a shared GPU or by distance between GPUs.
Sources: Lifka: The ANL/IBM SP scheduling system (JSSPP 1995) ; Weng et al.: Beware of Fragmentation (USENIX ATC 2023) ; Grandl et al.: Multi-resource packing for cluster schedulers (SIGCOMM 2014) ; https://kubernetes.io/docs/concepts/scheduling-eviction/pod-priority-preemption/)";

}  // namespace slicewise::reports
