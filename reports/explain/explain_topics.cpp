#include "explain_topics.hpp"

#include <array>

#include <fmt/format.h>

#include "slicewise/exit_code.hpp"

#include "../screens/result_notes.hpp"
#include "explain_check_topic.hpp"
#include "explain_export_topic.hpp"
#include "explain_node_topics.hpp"
#include "explain_serving_topics.hpp"
#include "explain_trace_topics.hpp"

namespace slicewise::reports {
namespace {

std::string exit_codes_topic() {
  std::string text = "\n  EXIT  MEANING";
  for (const ExitCodeInfo& info : kExitCodes) {
    text += fmt::format("\n  {:<4}  {}", static_cast<int>(info.code), info.meaning);
  }
  return text +
         "\nOf several that apply, the first in this order is returned: 130, 4, 99. A word that a "
         "flag does not take is 2; a --set path or value that is wrong in the scenario is 3."
         "\nResults go to standard output; progress, notes, warnings and errors to standard error.";
}

constexpr const char* kSharing = R"(
A replica is a ticket, never a fraction. replicas: 4 lets four pods be scheduled to one GPU; with time-slicing it gives none of them a quarter of its time or memory. A pod that is alone on the GPU has all of it; of k pods whose kernels are ready, each gets about one k-th of the time.
  STRATEGY      MEMORY                  COMPUTE                     FAULT
  exclusive     own GPU                 own GPU                     own GPU
  time-slicing  no limit: who comes     turns; a busy neighbour     separate processes, but
                first takes it          costs a share of the time   one GPU to reset
  MPS           cap per CUDA process    side by side; cap on the    a fatal fault can end
                (total / replicas)      threads (100 / replicas %)  every client of the GPU
  MIG           own slice               own multiprocessors         own instance
  vGPU          own frame buffer        turns of the hypervisor     own virtual machine
  no request    no limit, and nobody    turns, all on the GPU that  separate processes
  ("manual")    counts the pods         the pods open
With MPS the caps hold for each CUDA process, not for the pod: a pod with two processes gets two shares. The device plugin's thread cap also holds while the neighbours are idle: of 7 replicas a lone pod runs on 14 % of the multiprocessors. mps.uncapped shows what raising it would give; the plugin has no setting for it.
MPS by other means: AWS's virtual GPU plugin (virtualGpu, k8s.amazonaws.com/vgpu) sets no limits at all; nos sizes its slices by memory (nvidia.com/gpu-10gb) and does not limit threads. All clients of a GPU share one server and its fate.
MIG exists on p4d, p4de, p5, p5e, p5en and p6-b200; of p6-b300 the catalogue knows one profile, of g7e none (slicewise explain mig). An A100 with MIG on uses 98 of its 108 multiprocessors. Inside an instance pods can be shared again: time-slicing by the device plugin; MPS by the hardware and NVIDIA's DRA driver, but the device plugin refuses it (mps.force simulates it). Such pods are separated from other instances, not from each other.
vGPU divides a GPU between virtual machines; EC2 has it as g6f and gr6f only.
Sources: https://github.com/NVIDIA/k8s-device-plugin#shared-access-to-gpus ; https://docs.nvidia.com/deploy/mps/ ; https://docs.nvidia.com/datacenter/tesla/mig-user-guide/ ; https://github.com/NVIDIA/k8s-device-plugin/issues/720 ; https://github.com/awslabs/aws-virtual-gpu-device-plugin ; https://github.com/nebuly-ai/nos)";

constexpr const char* kMig = R"(
MIG cuts a GPU into instances with multiprocessors, memory, L2 cache and faults of their own; mig.config of a node pool names the layout (slicewise explain spec.nodePools.mig). slicewise get mig-profiles lists the profiles of each GPU.
A100, H100, H200 and B200 have it: p4d, p4de, p5, p5e, p5en and p6-b200. p6-b300 (B300) has it too, but only the size of its 1g.34gb instances is published: layouts with its other profiles are refused. g7e (RTX PRO 6000) has it as well; the catalogue has no g7e.
Some multiprocessors belong to no instance: an A100 with MIG on uses 98 of its 108. Inside an instance pods can be shared again by time-slicing; MPS inside an instance is refused by the device plugin (mps.force simulates it).
What each way of sharing separates: slicewise explain sharing.
Sources: https://docs.nvidia.com/datacenter/tesla/mig-user-guide/ ; https://github.com/NVIDIA/mig-parted)";

constexpr const char* kMps = R"(
MPS lets the kernels of several processes run side by side on one GPU. The device plugin sets it up (devicePlugin.sharing.mps) and gives every process an equal part: memory / replicas, and 100 / replicas % of the threads.
Both limits hold for a process, not for a pod, and the limit on threads holds while the neighbours are idle. The plugin has no setting for the percentage: mps.uncapped and mps.activeThreads simulate others, but slicewise export refuses them and slicewise compare never recommends them.
All clients of a GPU share one server: a fatal fault of one can end them all.
AWS's virtual GPU plugin and nos start MPS as well, without a limit on threads: slicewise explain sharing.
Sources: https://docs.nvidia.com/deploy/mps/ ; https://github.com/NVIDIA/k8s-device-plugin#shared-access-to-gpus)";

constexpr const char* kVgpu = R"(
NVIDIA vGPU divides a GPU between virtual machines: each has its own frame buffer, and the hypervisor gives them turns. EC2 has it as g6f and gr6f only, where a node has 1/8, 1/4 or 1/2 of an L4.
  POLICY       A BUSY MACHINE GETS                   IDLE TURNS
  best effort  an equal part among the busy ones     go to the others
  equal share  an equal part among those that run    are lost
  fixed share  1 / (vGPUs that the GPU can hold)     are lost
AWS does not say which policy its hosts use; a fixed share is assumed, because that is what is sold. vgpu.policy changes it (slicewise explain spec.nodePools.vgpu).
What each way of sharing separates: slicewise explain sharing.
Sources: https://docs.nvidia.com/vgpu/ ; https://aws.amazon.com/ec2/instance-types/g6/)";

constexpr const char* kTimeSlicing = R"(
The GPU runs one context (one process) at a time and takes turns among those that have work. A turn lasts q; when a context runs out of work, its turn ends at once, so idle pods cost nothing but memory. Switching costs c, which is not part of the turn. A context alone on the GPU never switches.
  share of each of n busy contexts    1 / (n (1 + c/q))     n >= 2
  GPU time lost to switching          c / (q + c)           n >= 2
  mean response of a request of GPU time s beside n-1 busy contexts
                                      (n-1)(q+c)(ceil(s/q) - 1/2) + s + ceil(s/q) c
The hardware's initial turn is 128 << 3 units of 1024 ns, 1.05 ms. The device plugin does not change it, and NVIDIA does not publish the lengths behind nvidia-smi's SHORT, MEDIUM and LONG.
  c = c0 + 2 S/B + kappa L2/B
  S   registers and shared memory of all multiprocessors, saved and restored
  B   0.71 of the peak memory bandwidth
  c0  20 us;  kappa  0 to 1: how much of the L2 cache has to be filled again
For the A100 this agrees with the measured 100 us; for other GPUs it is an estimate. Both q and c can be set in the scenario (slicewise explain spec.nodePools.gpu).
Sources: NVIDIA/open-gpu-doc manuals/ampere/ga100/dev_ram.ref.txt and dev_pbdma.ref.txt ; GPreempt (USENIX ATC 2025) ; nebuly-ai/nos demos/gpu-sharing-comparison ; https://github.com/NVIDIA/k8s-device-plugin/issues/354)";

constexpr const char* kCost = R"(
The bill of a run is nodes x time x price, and every nano-dollar of it goes to one of seven parts, so that they always add up to the total.
  useful      GPU time of work that was finished, or still ran at the end
  idle        no kernel ran
  switching   context switches
  failed      work of containers that died
  cold start  nodes that start; image pull and model load while the GPU had nothing else to do
  missed SLO  requests that were served too late
  thrash      nodes that were started without need (slicewise explain autoscaling-nodes)
The price per finished job is the whole bill divided by the jobs that succeeded: idle time and failed work are paid by the jobs that were done. The price per 1,000 requests counts the requests that met every objective. The monthly figure is nodes x price x 730 h; where nodes come and go, the bill of the run taken to 730 h. EC2 bills a node from its launch to its end, 60 s at least. Prices are those of the catalogue, or of --prices FILE; no discount, tax, storage or traffic is included.)";

constexpr const char* kProfile = R"(
A profile says what one step of a published workload needs. slicewise explain profile NAME shows its figures with their provenance and what follows from them; slicewise get profiles lists the names.
  T(f, n) = || T0, n W ((1 - beta)/f_c + beta/f_m) ||_p      ||a, b||_p = (a^p + b^p)^(1/p)
  T1    time of a step alone on the whole GPU
  T0    the part that a smaller share of the GPU does not lengthen: launches, host, waiting
  W     GPU work, in time of the whole GPU;  u = W/T1
  beta  the part of W that memory bandwidth limits
  p     how both overlap: 1 one after the other, 2 training, 3 inference, more when launch-bound
  d     share of the time in which the GPU holds work of the process, alone
  f_c, f_m  share of the multiprocessors and of the memory bandwidth;  n  copies side by side
d decides what time-slicing costs, u what MPS and MIG cost; d is never below u. Figures that nobody published are defaults and count as Assumed, as does everything that is carried over to another GPU model.
slicewise validate says how far the law is from measurements that it was not fitted on.)";

std::string not_modelled_topic() {
  std::string text = "\nThe simulation leaves these out; each line says what that means.";
  for (const NotModelled& item : not_modelled()) {
    text += fmt::format("\n{}: {}.", item.what, item.consequence);
  }
  return text;
}

}  // namespace

std::span<const Topic> topics() {
  static const std::array all = {
      Topic{"autoscaling", "How many pods an autoscaled Service has, and when", kAutoscaling},
      Topic{"autoscaling-nodes", "How nodes come and go, and what that costs", kAutoscalingNodes},
      Topic{"check", "What check reads, and what it cannot see", kCheckTopic},
      Topic{"cost", "Where the money goes", kCost},
      Topic{"exit-codes", "What the exit code of slicewise says", exit_codes_topic()},
      Topic{"export", "Which export is for which nodes", export_topic()},
      Topic{"import", "How logs become traces and scenarios", kImport},
      Topic{"llm", "How a language model is served", kLlm},
      Topic{"mig", "What MIG is, and which instance types have it", kMig},
      Topic{"mps", "What MPS does and what the device plugin sets", kMps},
      Topic{"notebooks", "What notebooks ask of a GPU, and what their users see", kNotebooks},
      Topic{"not-modelled", "What the simulation cannot tell", not_modelled_topic()},
      Topic{"profile", "What a workload profile holds", kProfile},
      Topic{"replay", "How a trace of jobs is replayed", kReplay},
      Topic{"serving", "What happens to a request, and how latency is counted", kServing},
      Topic{"sharing", "What each way of sharing a GPU separates", kSharing},
      Topic{"time-slicing", "How time-slicing works and what it costs", kTimeSlicing},
      Topic{"vgpu", "What a vGPU is and how vGPUs take turns", kVgpu},
  };
  return all;
}

}  // namespace slicewise::reports
