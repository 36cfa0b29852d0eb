#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "slicewise/sim/device/host_cpu.hpp"
#include "slicewise/sim/kernel/timer_heap.hpp"
#include "slicewise/sim/metrics/cost_ledger.hpp"
#include "slicewise/sim/metrics/replication.hpp"

#include "node_rates.hpp"
#include "node_rooms.hpp"
#include "notebook_user.hpp"
#include "recorder.hpp"
#include "scaler.hpp"
#include "scheduler.hpp"
#include "service_state.hpp"
#include "state.hpp"

namespace slicewise::sim {

// The event loop of one replication and the controllers it drives. Timers, in order of firing at
// the same instant: one per pod, one per domain, one per service, the scheduler, one per pool (MIG
// layout), one per pod for faults if there are any, one per node for the host CPU of requests if
// there is any, one per pipeline, one per autoscaler, two per place for a node and two of the
// provisioner if nodes come and go, the end of the run, the next sample of a recording
// and the next change of a turn that it follows.
//
//   cluster_run.cpp    the loop, the end of the run
//   pod_lifecycle.cpp  submit -> bind -> pull -> start -> work -> end, restarts and back-offs
//   batch_work.cpp     progress of batch pods, in steady state and step by step
//   request_work.cpp   requests of services: arrival, routing, retries, answers
//   serving_work.cpp   requests inside a pod: workers, host CPU, batches
//   llm_work.cpp       requests inside a pod that serves a language model
//   pipeline_work.cpp  requests that pass through several services
//   autoscaling.cpp    replicas of services that come and go
//   gpu_access.cpp     the engines of GPUs that are simulated exactly
//   notebook_work.cpp  sessions and cells of notebook users
//   disruptions.cpp    fatal GPU faults, changes of the MIG layout
//   node_lifecycle.cpp nodes that start, are taken back and end; their bill
//   provisioning.cpp   Karpenter and the Cluster Autoscaler: which nodes start and which end
//   samples.cpp        what a recording, if there is one, sees at the end of each of its buckets
class ClusterRun {
 public:
  // `recorder`: writes the run down; nullptr: nobody does.
  ClusterRun(const World& world, std::uint32_t replication, Recorder* recorder = nullptr);

  Replication run(const std::atomic<bool>* interrupted);

 private:
  // How far the layout changes of a pool have come.
  struct LayoutProgress {
    std::size_t next = 0;  // into PoolModel::layout_changes
    bool changing = false;
  };

  // What the provisioner knows of a pool.
  struct PoolProgress {
    std::uint32_t first_node = 0;
    int nodes = 0;                         // that start or are there, and do not end
    int billed = 0;                        // those that end with them
    std::optional<TimePoint> interrupted;  // the last time
    bool seen = false;                     // a node with all its resources
    bool accelerator_label = false;        // k8s.amazonaws.com/accelerator
    std::int64_t surplus = 0;              // nodes started without need, not yet removed
    std::int64_t needed = 0;               // scratch of start_nodes: nodes to start, as it would
    std::int64_t wanted = 0;               // be right, and as the provisioner counts
  };

  // A request that the host works on, before the GPU or after it.
  struct OnCpu {
    Request request;
    Duration work;  // that the GPU did for it
    bool before = false;
  };

  // cluster_run.cpp
  void add_services();
  void dispatch(std::uint32_t timer);
  void run_scheduler();
  void wake_scheduler() { timers_.set(scheduler_timer_, now_); }
  void end_run();
  void count_jobs();
  void check_all_done();

  // pod_lifecycle.cpp
  void on_pod_timer(std::uint32_t pod);
  void submit(std::uint32_t pod);
  void on_bound(std::uint32_t pod);
  void start_container(std::uint32_t pod);
  bool take_memory(std::uint32_t pod, Bytes needed);
  void begin_work(std::uint32_t pod);
  void end_container(std::uint32_t pod, bool useful);
  void account_busy(const Pod& pod, Domain& domain, double busy_ns, bool useful);
  bool has_equal_shares(const Domain& domain) const;
  void note_neighbours(std::uint32_t pod);
  void crash(std::uint32_t pod);
  void back_off(std::uint32_t pod);
  void job_pod_failed(std::uint32_t pod);
  void leave(std::uint32_t pod, PodPhase final_phase);
  void set_activity(std::uint32_t pod, PodPhase phase);
  void account_cold(Domain& domain);
  void close_memory(const Pod& pod);

  void release_node(std::uint32_t pod);
  void enter_phase(std::uint32_t pod, PodPhase phase);
  void mark(std::uint32_t pod, LaneMark::Kind kind);

  // node_lifecycle.cpp
  void add_nodes();
  void start_node(std::uint32_t node);
  void keep_least_nodes(std::size_t pool);
  void on_node_timer(std::uint32_t node);
  void launch_node(std::uint32_t node);
  void register_node(std::uint32_t node);
  void offer_gpus(std::uint32_t node);
  void on_interruption(std::uint32_t node);
  void remove_node(std::uint32_t node);
  void arm_interruption(std::uint32_t node);
  void drain_node(std::uint32_t node, Duration least, Duration most);
  void end_node(std::uint32_t node);
  void bill_node(std::uint32_t node);
  DomainTime take_time(std::size_t domain);
  void record_start_up(const Pod& pod);

  // provisioning.cpp
  void ask_for_nodes();
  void on_provisioner_timer();
  void on_removal_timer();
  void arm_removal();
  NodeRooms::Tickets guess_of(std::size_t pool) const;
  void open_rooms(bool as_expected);
  std::optional<std::uint32_t> free_place(std::size_t pool) const;
  void place_pending(bool as_expected, bool start);
  void note_kept_off(std::size_t workload);
  bool start_nodes();
  bool pods_are_new() const;
  bool is_removable(const Node& node) const;
  bool is_empty(const Node& node) const;
  bool fits_elsewhere(std::uint32_t node);
  void consolidate();
  double tickets_in_use(const Node& node) const;
  void remove_unneeded();

  // notebook_work.cpp
  NotebookUser& user_of(std::uint32_t pod);
  NotebookRecord& notebooks_of(std::uint32_t pod);
  void open_session(std::uint32_t pod);
  void wait_for_server(std::uint32_t pod);
  void kernel_ready(std::uint32_t pod);
  void record_session_start(const NotebookUser& user, NotebookRecord& record);
  void repeat_cell(NotebookUser& user, const Cell& next);
  void arm_user(std::uint32_t pod);
  void on_user_timer(std::uint32_t pod);
  void start_cell(std::uint32_t pod);
  void cell_done(std::uint32_t pod);
  void close_session(std::uint32_t pod);

  // disruptions.cpp
  void arm_fault(std::uint32_t pod);
  void on_fault(std::uint32_t pod);
  void on_layout_timer(std::size_t pool);
  void evict(std::uint32_t pod);

  // batch_work.cpp
  void start_batch(std::uint32_t pod);
  void finish_batch(std::uint32_t pod);
  std::int64_t units_finished(const Pod& pod) const;
  void settle_node(NodeId node);
  void settle_pod(Pod& pod, double elapsed_ns);
  void resolve_node(NodeId node);
  void prepare(std::uint32_t pod);
  double think(std::uint32_t pod);
  double stage(const Pod& pod) const;
  double pace_of_host(const Pod& pod) const;
  void step_prepared(std::uint32_t pod);
  void start_step(std::uint32_t pod);
  void step_done(std::uint32_t pod);
  std::int64_t steps_done(const Pod& pod) const;
  Duration step_total(const Pod& pod, std::int64_t step) const;
  Duration step_part(const Pod& pod, Duration unit, std::int64_t step) const;

  // request_work.cpp
  bool is_counted(const Request& request) const;
  RecordedRequest recorded(WorkloadId workload, const Request& request,
                           RecordedRequest::Outcome outcome) const;
  RequestRecord& requests_of(std::size_t service);
  void arm_service(std::size_t service);
  void on_service_timer(std::size_t service);
  void arrive(std::size_t service, Request request);
  void enter(std::size_t service, Request request);
  void lose(std::size_t service, Request request, Loss cause);
  void answer(std::uint32_t pod, const Request& request, Duration work);
  void over(std::size_t service, const Request& request, std::optional<Loss> loss);
  void start_serving(std::uint32_t pod);
  void stop_serving(std::uint32_t pod);

  // serving_work.cpp
  const scenarios::Serving& serving_of(std::uint32_t pod) const;
  bool is_full(std::uint32_t pod) const;
  void admit(std::uint32_t pod, const Request& request);
  void begin_request(std::uint32_t pod, const Request& request);
  void ready_for_gpu(std::uint32_t pod, Request request);
  void fill_batch(std::uint32_t pod);
  void batch_done(std::uint32_t pod);
  void leave_pod(std::uint32_t pod, const Request& request, Duration work);
  void arm_server(std::uint32_t pod);
  void on_server_timer(std::uint32_t pod);
  void start_on_cpu(std::uint32_t pod, const OnCpu& task, Duration work);
  void arm_host(NodeId node);
  void on_host_timer(std::size_t node);
  void share_host_cpu(NodeId node);

  // llm_work.cpp
  void draw_tokens(std::size_t service, Request& request);
  bool has_room_for(std::uint32_t pod, const Request& request) const;
  void start_llm(std::uint32_t pod);
  void join_steps(std::uint32_t pod, const Request& request);
  void begin_piece(std::uint32_t pod);
  void piece_done(std::uint32_t pod);
  void time_tokens(std::size_t workload, Request& request, const LlmAnswer& answer);
  void count_steps(std::size_t workload, const ContinuousBatching::Piece& piece, LlmServer& llm);
  void time_out_llm(std::uint32_t pod, Duration timeout);

  // pipeline_work.cpp
  void arm_pipeline(std::size_t pipeline);
  void on_pipeline_timer(std::size_t pipeline);
  void send_stage(std::size_t pipeline, std::uint32_t flow, std::size_t stage, const Request& of);
  void stage_over(const Request& request, std::optional<Loss> loss);
  void record_flow(std::size_t pipeline, std::uint32_t flow);
  void end_flow(std::size_t pipeline, std::uint32_t flow);

  // autoscaling.cpp
  void add_scalers();
  Scaler* scaler_of_service(std::size_t service);
  void arm_scaler(std::size_t scaler);
  void on_scaler_timer(std::size_t scaler);
  void sample(Scaler& scaler);
  double sample_gpus(Scaler& scaler);
  void look(Scaler& scaler);
  void hold(Scaler& scaler, Request request);
  void scale(Scaler& scaler);
  void account_wish(Scaler& scaler);
  void dismiss(Scaler& scaler);
  void leave_if_finished(std::uint32_t pod);
  void replica_gone(std::uint32_t pod);
  void remove_replica(std::uint32_t pod);
  void replica_ready(Scaler& scaler, std::uint32_t pod);

  // gpu_access.cpp
  void on_domain_timer(std::size_t domain);
  void start_on_gpu(Pod& pod, Duration work);
  Duration left_on_gpu(const Pod& pod);
  void shorten_on_gpu(const Pod& pod, Duration less);
  void cancel_on_gpu(Pod& pod);
  Duration busy_on_gpu(DomainId domain, std::uint32_t context);
  void note_gpus(Pod& pod);
  void open_on_gpu(const Pod& pod);
  void close_on_gpu(const Pod& pod);
  void arm_domain(std::size_t domain);

  // samples.cpp
  void arm_samples();
  void on_sample_timer();
  void take_samples();
  void sample_pools();
  void on_turn_timer();
  Recorder::GpuTotals ended_totals(std::size_t domain);
  double unsettled_ns(const Node& node) const;
  double steady_busy(const Pod& pod) const;
  double sm_so_far(std::uint32_t pod);

  const World& world_;
  std::uint32_t replication_;
  Recorder* recorder_;
  ClusterState cluster_;
  Scheduler scheduler_;
  NodeRates node_rates_;
  TimerHeap timers_;
  Replication record_;

  std::vector<RandomStream> host_jitter_;  // by pod, exact batch work
  std::vector<ServiceState> services_;
  std::vector<std::uint32_t> service_of_;  // by workload: its service
  std::vector<PodServer> servers_;         // by pod; unused for batch pods
  std::vector<PipelineState> pipelines_;
  std::vector<Scaler> scalers_;
  std::vector<std::uint32_t> scaler_of_;  // by service; kNoScaler
  std::vector<HostCpu> host_cpu_;         // by node; empty when no request needs the host
  std::vector<OnCpu> on_cpu_;             // requests that the hosts work on, by slot
  std::vector<std::uint32_t> free_cpu_slots_;
  std::vector<Request> finished_;           // scratch of batch_done
  std::vector<std::uint32_t> next_stages_;  // scratch of stage_over
  std::vector<NotebookUser> users_;         // of all Notebooks
  std::vector<std::uint32_t> user_of_;      // by pod: its user
  std::vector<RandomStream> faults_;        // by pod; empty when no workload has faults
  std::vector<LayoutProgress> layout_;      // by pool
  std::vector<std::uint32_t> bound_;        // scratch of run_scheduler

  // Nodes that come and go.
  std::vector<PoolProgress> pools_;          // by pool
  std::vector<RandomStream> node_starts_;    // by node; empty when none comes or goes
  std::vector<RandomStream> interruptions_;  // likewise
  std::vector<GpuShareOfTime> shares_;       // scratch of bill_node
  NodeRooms rooms_;
  std::vector<std::size_t> packing_order_;  // workloads, those that ask for most CPU first
  std::vector<std::int64_t> pods_to_move_;  // by workload; scratch of fits_elsewhere
  bool grows_ = false;                      // the provisioner adds nodes to some pool
  bool nodes_wanted_ = false;               // pods or nodes came or went since it was asked
  std::optional<TimePoint> batch_began_;    // Karpenter's batching window
  TimePoint last_pod_change_;               // on any node
  std::optional<TimePoint> last_scale_up_;  // Cluster Autoscaler

  std::uint32_t first_domain_timer_ = 0;
  std::uint32_t first_service_timer_ = 0;
  std::uint32_t scheduler_timer_ = 0;
  std::uint32_t first_pool_timer_ = 0;
  std::uint32_t first_fault_timer_ = 0;
  std::uint32_t first_host_timer_ = 0;
  std::uint32_t first_pipeline_timer_ = 0;
  std::uint32_t first_scaler_timer_ = 0;
  std::uint32_t first_node_timer_ = 0;
  std::uint32_t first_interruption_timer_ = 0;
  std::uint32_t provisioner_timer_ = 0;
  std::uint32_t removal_timer_ = 0;
  std::uint32_t end_timer_ = 0;
  std::uint32_t sample_timer_ = 0;
  std::uint32_t turn_timer_ = 0;
  std::int64_t jobs_left_ = 0;
  std::int64_t running_ = 0;  // containers
  TimePoint now_;
  bool ended_ = false;
};

}  // namespace slicewise::sim
