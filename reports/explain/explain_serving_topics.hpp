#pragma once

// Topics of `slicewise explain` about work that people wait for. Layout: explain_topics.hpp.
namespace slicewise::reports {

inline constexpr const char* kServing = R"(
Every request of a Service is simulated on its own, so that p99 is counted and not estimated.
Arrivals are an open loop unless a closed one is asked for: requests come when the trace or the random process says so, however late the answers are. Latency counts from the moment that the request was due, not from the moment that something was free to send it. A load generator that waits for one answer before it sends the next (wrk, ab, a loop around curl) leaves out just the requests that would have met the queue; this "coordinated omission" makes p99 look many times too good.
  arrival -> replica -> host CPU before -> queue -> batch -> GPU -> host CPU after -> answer
Routing picks the replica: at random (kube-proxy with iptables), in turn, the one with the fewest requests outstanding, or the better one of two random ones. Only ready pods get requests.
Queue: each pod has one, first come first served. A request that finds it full, or waits longer than its time-out, is dropped; its client may try again after a back-off that doubles, and latency still counts from the first attempt. A request that meets no ready replica, or loses its pod, is refused. None of these has a latency: an objective on a quantile fails when more are lost than the quantile leaves out.
Batching: the GPU takes up to the largest batch that is allowed when it has nothing else of this pod to do; a batch that is not full waits for more until its first request has waited the allowed delay.
  T(b) = T(1) + (b - 1) e      e: GPU time of one more request in the batch
The GPU's time is shared with the neighbours as the strategy says: exact turns with time-slicing, side by side under MPS, alone in a MIG instance.
Pipelines: a request passes through several Services; a stage starts when all stages before it have answered. Latency is end to end. The row of each Service shows the part of its stage.
  IN SLO        requests within every limit that a single request can be held to, of those whose
                fate is known when the run ends
  availability  answered / (answered + refused + dropped + timed out)
  goodput       requests in SLO per second
Statistics: what arrives before the end of the warm-up is not counted. Quantiles are of all replications together, exact to 0.4 %; their 95 % intervals come from the replications' own quantiles (Student's t). p99.9 is absent below 1,000 requests and marked "~" below 10,000.
Little's law ties the figures together: mean requests in the system = rate of arrivals x mean time in it.
Sources: Schroeder, Wierman, Harchol-Balter: Open versus closed, a cautionary tale (NSDI 2006) ; https://github.com/giltene/wrk2#acknowledgements (coordinated omission) ; https://kubernetes.io/docs/reference/networking/virtual-ips/ ; Mitzenmacher: The power of two choices (IEEE TPDS 2001) ; https://github.com/triton-inference-server/server/blob/main/docs/user_guide/batcher.md ; Little: A proof for the queuing formula L = lambda W (Operations Research 1961))";

inline constexpr const char* kLlm = R"(
A language model is served with continuous batching, as vLLM and TensorRT-LLM do: the server works in steps; in each, every running sequence gets one token, and what is left of the step's token budget goes to the prompts of new ones (prefill). A sequence leaves when it has all its tokens, and the next step takes another in.
  T = sqrt(T_w^2 + (N t)^2) + r C + o
  T_w  reading the weights once from GPU memory     N  tokens computed in the step
  t    computing one token                          C  tokens in the caches of the running sequences
  r    reading the cache of one token               o  host and framework, per step
While N t is small beside T_w a step costs the same for one sequence as for many: decoding is bound by memory bandwidth, and more sequences are nearly free. A long prompt makes N large: the step takes longer, and every sequence in it waits for its next token.
KV cache: each token of a running sequence holds memory until the sequence ends. The pool has the size that is given, or what the GPU (or the memory limit of the pod) has left beside the weights. A new sequence waits until the cache of its prompt fits; when running sequences outgrow the pool, the youngest is thrown out and computed again later (preemption by recomputation).
  TTFT   arrival -> first token: queue, then prefill
  TPOT   time per output token after the first, of each request its mean
  TOK/S  output tokens of finished requests per second
  $/M TOK  cost of the nodes for the run / million output tokens
The pool is taken at start and held while nobody asks: pods that share a GPU are limited by memory first. Prefix reuse is a share of the prompt tokens that need no prefill; which prompts are alike is not simulated.
Sources: Yu et al.: Orca (OSDI 2022) ; Kwon et al.: PagedAttention (SOSP 2023) ; Agrawal et al.: Sarathi-Serve (OSDI 2024) ; https://github.com/microsoft/vidur (measured steps behind T_w and t) ; https://docs.vllm.ai/en/latest/configuration/optimization.html)";

inline constexpr const char* kAutoscaling = R"(
An autoscaled Service has as many pods as its metric asks for. Every sync period (15 s) the autoscaler compares the metric, averaged over its window, with the target:
  wish = ceil(ready pods x metric per pod / target)      unchanged within the tolerance of 10 %
  metric  waiting requests | requests in the pod | requests per second | GPU utilisation (%)
Before it scales down, it takes the largest wish of the last 300 s (stabilization), so a short lull costs nothing but also saves nothing. Scaling up has no such delay unless one is set.
A new pod is of no use until it is ready: scheduled (GPUs have to be free: there is no node autoscaler), its image pulled on a node that has not had it, its model loaded. START-UP is that time, from the wish to ready; until then the old pods have the load alone. For models of many gigabytes it decides whether autoscaling can follow at all.
With a minimum of 0 (KEDA) the last pod goes when no request came for the cool-down time. A request that finds no pod is held until one is ready, and its latency counts that.
  REPLICAS  mean and largest number wanted over the run
GPU utilisation is a poor metric for shared GPUs: it is that of the whole GPU, neighbours included, and near 100 % already when one request at a time is served.
Sources: https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/ ; https://keda.sh/docs/latest/concepts/scaling-deployments/ ; https://kubernetes.io/docs/reference/command-line-tools-reference/kube-controller-manager/ (sync period, tolerance, downscale stabilization))";

inline constexpr const char* kNotebooks = R"(
A notebook is mostly idle and holds its memory all the time. Each user opens so many sessions a day, most of them around the peaks of the day; a session is one pod. In it a cell runs now and then: a burst on the GPU, then reading and typing.
A session ends when its user closes it, or when no cell ran for the time after which idle ones are culled. Culling frees GPU memory and the replica for the next user.
  SESSIONS       opened in the run
  GAVE UP        of those, without a kernel by the time their user would have left
  START P95      asked for -> kernel ready: waits for a free replica, image, kernel start; of one
                 that was given up, as long as its user would have stayed
  SLOWDOWN P95   wall time of a cell / its time alone on the GPU
  OOM/USER-MONTH CUDA out-of-memory kills: sessions of one GPU that grew beyond its memory together
  $/USER         nodes for a month / users who had a kernel in the run
A month has 730 h: figures per user and month are those of the run x 730 h / its length / users. A run of a working day overstates a month with weekends; a run of a week does not.
With several Notebook workloads the nodes' price is divided among the active users of all; whatever else runs on the nodes is paid by them, too.
A greedy allocator (TensorFlow's default) takes the whole GPU in the first cell and leaves nothing for the neighbours: slicewise explain GPU_MEM_GREEDY.
Sources: https://github.com/jupyterhub/jupyterhub-idle-culler ; https://github.com/jupyterhub/jupyterhub/issues/3491 ; how often people run cells and how long these take is published nowhere: give what you measured)";

}  // namespace slicewise::reports
