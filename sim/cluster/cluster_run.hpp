#pragma once

#include <atomic>
#include <cstdint>

#include "slicewise/sim/cluster/cluster.hpp"
#include "slicewise/sim/metrics/replication.hpp"

#include "batch/batch_steps.hpp"
#include "batch/steady_batch.hpp"
#include "control/container_work.hpp"
#include "control/layout_changes.hpp"
#include "control/open_jobs.hpp"
#include "control/pod_life.hpp"
#include "control/preemption.hpp"
#include "control/scheduler.hpp"
#include "give_up.hpp"
#include "nodes/gpu_access.hpp"
#include "nodes/node_lives.hpp"
#include "nodes/node_provisioner.hpp"
#include "nodes/usage.hpp"
#include "notebooks/notebooks.hpp"
#include "record/sampler.hpp"
#include "run_state.hpp"
#include "service/autoscalers.hpp"
#include "service/host_cpus.hpp"
#include "service/pipelines.hpp"
#include "service/replicas.hpp"
#include "service/services.hpp"

namespace slicewise::sim {

// The event loop of one replication, and the parts that it drives. A part owns its state and sees
// the others through the references that it was given; all share RunState. TimerKind says which
// timers there are and in which order they fire, dispatch() whose they are.
//
//   control/    Scheduler       kube-scheduler and the device plugins
//               PodLife         submit -> bind -> pull -> start -> work -> end, restarts, back-offs
//               ContainerWork   what a container works on, by the kind of its workload
//               Preemption      pods that are stopped for others
//               Terminations    which of them have their time to end
//               OpenJobs        the Jobs that keep a run without a duration going
//               Faults          when containers meet a fatal GPU fault, and who dies of it
//               LayoutChanges   changes of the MIG layouts of pools
//               NosPartitioner  GPUs that nos cuts anew for Pending pods
//   nodes/      GpuAccess       the work of pods on GPUs that are simulated exactly
//               Usage           what the time of GPUs and hosts went into
//               Holdings        what pods hold of their nodes, by which bills are split
//               NodeLives       nodes that start, are taken back and end; their bill
//               NodeProvisioner Karpenter and the Cluster Autoscaler: which nodes start
//               NodeDisruption  which of them they take away; PodPacking: where pods would go
//   batch/      SteadyBatch     batch pods whose work flows at the pace that NodeRates finds
//               BatchSteps      batch pods step by step
//   service/    Services        requests: arrival, routing, retries, answers
//               Replicas        requests inside a pod: workers, batches, language models
//               HostCpus        the vCPUs that requests need before the GPU or after it
//               Pipelines       requests that pass through several services
//               Autoscalers     replicas of services that come and go
//               EngineTurns     language models that take turns in the memory of a GPU
//   notebooks/  Notebooks       sessions and cells of notebook users
//   record/     Recorder        writes a recording down, if there is one
//               Sampler         what it sees at the end of each of its buckets
class ClusterRun {
 public:
  // `recorder`: writes the run down; nullptr: nobody does.
  ClusterRun(const World& world, std::uint32_t replication, Recorder* recorder = nullptr);

  // Its parts refer to each other.
  ClusterRun(const ClusterRun&) = delete;
  ClusterRun& operator=(const ClusterRun&) = delete;

  Replication run(const std::atomic<bool>* interrupted, const LookIn& look_in,
                  const GiveUp& give_up);

 private:
  void dispatch(Timers::Fired timer);
  void look_at_queue();
  void start_where_pods_are();
  void end();

  RunState run_;
  Scheduler scheduler_;
  OpenJobs jobs_;
  GpuAccess gpus_;
  Usage usage_;
  HostCpus hosts_;
  SteadyBatch batch_;
  BatchSteps steps_;
  Replicas replicas_;
  Services services_;
  Pipelines pipelines_;
  Autoscalers scalers_;
  Notebooks notebooks_;
  ContainerWork work_;
  PodLife pods_;
  Preemption preemption_;
  LayoutChanges layouts_;
  NodeLives nodes_;
  NodeProvisioner provisioner_;
  Sampler sampler_;
};

// One replication, packed, that may be given up before its end.
Replication run_until(const World& world, std::uint32_t replication,
                      const std::atomic<bool>* interrupted, const GiveUp& give_up);

}  // namespace slicewise::sim
