#pragma once

#include <array>
#include <cstdint>
#include <string_view>

// Every error, warning and note that slicewise can print, in one place. The name of a code is
// stable: scripts match on it and `slicewise explain CODE` tells what it means. Add codes, never
// rename or reuse one; reports/explain/codes.md holds the long explanation of each, in this order,
// and a test misses the one that is not there.
namespace slicewise {

enum class Severity : std::uint8_t { Error, Warning, Note };

// X(identifier, printed name, usual severity, one line of meaning)
#define SLICEWISE_CODES(X)                                                                        \
  X(FileUnreadable, "FILE_UNREADABLE", Error, "a file cannot be read")                            \
  X(YamlSyntax, "YAML_SYNTAX", Error, "the file is not YAML 1.2 or JSON")                         \
  X(FieldUnknown, "FIELD_UNKNOWN", Error, "a key that the format does not have")                  \
  X(FieldMissing, "FIELD_MISSING", Error, "a required key is absent")                             \
  X(FieldDuplicate, "FIELD_DUPLICATE", Error, "the same key twice in one mapping")                \
  X(FieldType, "FIELD_TYPE", Error, "a value of the wrong type")                                  \
  X(UnitUnknown, "UNIT_UNKNOWN", Error, "a unit that Kubernetes does not know")                   \
  X(UnitMissing, "UNIT_MISSING", Error, "a bare number where a unit is needed")                   \
  X(EnumUnknown, "ENUM_UNKNOWN", Error, "a word that is not one of the allowed values")           \
  X(ValueRange, "VALUE_RANGE", Error, "a value outside the allowed range")                        \
  X(ApiVersionUnknown, "API_VERSION_UNKNOWN", Error, "an apiVersion or kind not read here")       \
  X(NameInvalid, "NAME_INVALID", Error, "a name that Kubernetes would refuse")                    \
  X(NameDuplicate, "NAME_DUPLICATE", Error, "two list entries with the same name")                \
  X(SettingConflict, "SETTING_CONFLICT", Error, "two settings that contradict each other")        \
  X(PathUnknown, "PATH_UNKNOWN", Error, "a sweep, patch or --set path that leads nowhere")        \
  X(PolicySyntax, "POLICY_SYNTAX", Error, "an assertion that cannot be read")                     \
  X(ReplicasTooFew, "REPLICAS_TOO_FEW", Error, "sharing with fewer than 2 replicas")              \
  X(MpsWithTimeSlicing, "MPS_WITH_TIME_SLICING", Error, "both sharing modes on one node pool")    \
  X(PluginFieldIgnored, "PLUGIN_FIELD_IGNORED", Error, "the device plugin ignores this key")      \
  X(MigUnsupported, "MIG_UNSUPPORTED", Error, "MIG on a GPU that has no MIG")                     \
  X(MigConfigUnknown, "MIG_CONFIG_UNKNOWN", Error, "a MIG layout this GPU cannot have")           \
  X(MigLayoutImpossible, "MIG_LAYOUT_IMPOSSIBLE", Error, "instances that do not fit a GPU")       \
  X(MigNotUniform, "MIG_NOT_UNIFORM", Error, "strategy single with several MIG profiles")         \
  X(MigNotAdvertised, "MIG_NOT_ADVERTISED", Warning, "MIG instances that no pod can ask for")     \
  X(MpsTooManyClients, "MPS_TOO_MANY_CLIENTS", Error, "more MPS clients than a GPU takes")        \
  X(MpsOnMig, "MPS_ON_MIG", Error, "MPS on MIG devices, which the device plugin refuses")         \
  X(GpuExclusiveProcess, "GPU_EXCLUSIVE_PROCESS", Error, "a process that bypasses MPS")           \
  X(ExportUnfit, "EXPORT_UNFIT", Error, "a file that cannot say what the scenario says")          \
  X(StrategyNotModelled, "STRATEGY_NOT_MODELLED", Error, "read, but not simulated yet")           \
  X(InstanceUnknown, "INSTANCE_UNKNOWN", Error, "an instance type not in the catalogue")          \
  X(GpuUnknown, "GPU_UNKNOWN", Error, "a GPU model not in the catalogue")                         \
  X(ProfileUnknown, "PROFILE_UNKNOWN", Error, "a workload profile not in the catalogue")          \
  X(RegionUnknown, "REGION_UNKNOWN", Error, "a region without prices in the catalogue")           \
  X(PriceUnknown, "PRICE_UNKNOWN", Error, "no price for this type, region and purchase option")   \
  X(ResourceNameMismatch, "RESOURCE_NAME_MISMATCH", Error, "no node pool offers that resource")   \
  X(ImageArchitecture, "IMAGE_ARCHITECTURE", Error, "an image that the CPUs of nodes cannot run") \
  X(RequestTooLarge, "REQUEST_TOO_LARGE", Error, "more than one shared replica in a container")   \
  X(RequestNoEffect, "REQUEST_NO_EFFECT", Warning, "several replicas do not give more GPU")       \
  X(ExtendedResourceInteger, "EXTENDED_RESOURCE_INTEGER", Error, "a fraction of a GPU")           \
  X(InputMissing, "INPUT_MISSING", Error, "a figure that the simulation needs is absent")         \
  X(RunNeverEnds, "RUN_NEVER_ENDS", Error, "no end is given and the workloads never finish")      \
  X(RunTooLarge, "RUN_TOO_LARGE", Error, "an estimate of the run is beyond a limit")              \
  X(GpuMemGreedy, "GPU_MEM_GREEDY", Warning, "one process maps the whole GPU at start")           \
  X(GpuNotRequested, "GPU_NOT_REQUESTED", Warning, "pods use a GPU that they did not ask for")    \
  X(MpsPerProcessLimits, "MPS_PER_PROCESS_LIMITS", Warning, "limits count per process, not pod")  \
  X(GpuOom, "GPU_OOM", Warning, "processes that share a GPU ran out of its memory")               \
  X(CrashLoopBackOff, "CRASH_LOOP_BACK_OFF", Warning, "containers waited to be restarted")        \
  X(PodPending, "POD_PENDING", Warning, "pods waited because no node could hold them")            \
  X(FaultShared, "FAULT_SHARED", Warning, "a fault of one pod killed its neighbours")             \
  X(HostCpuOversubscribed, "HOST_CPU_OVERSUBSCRIBED", Warning, "the node's vCPUs bind")           \
  X(CpuLimitThrottles, "CPU_LIMIT_THROTTLES", Warning, "a CPU limit below what the pod uses")     \
  X(ObjectiveMissed, "OBJECTIVE_MISSED", Warning, "an objective of a workload was not met")       \
  X(TailNearLimit, "TAIL_NEAR_LIMIT", Note, "a p99 nearer to its limit than such answers are")    \
  X(QueueUnstable, "QUEUE_UNSTABLE", Warning, "requests arrive faster than they are served")      \
  X(RequestsRefused, "REQUESTS_REFUSED", Warning, "requests found no ready replica")              \
  X(RequestsDropped, "REQUESTS_DROPPED", Warning, "requests met a full queue or timed out")       \
  X(SampleTooSmall, "SAMPLE_TOO_SMALL", Warning, "judged by too few requests")                    \
  X(PeakNotInRun, "PEAK_NOT_IN_RUN", Warning, "the run sees less than the peak of its traffic")   \
  X(DomainUnknown, "DOMAIN_UNKNOWN", Warning, "a label of nodes that no node pool names")         \
  X(ScheduleNotInRun, "SCHEDULE_NOT_IN_RUN", Warning, "the run is no part of its CronJobs' week") \
  X(StartsAtPeak, "STARTS_AT_PEAK", Note, "a study of the busiest time of its traffic")           \
  X(AutoscalerAtMax, "AUTOSCALER_AT_MAX", Warning, "a Service got all replicas it may have")      \
  X(ScaleFromZero, "SCALE_FROM_ZERO", Warning, "a Service that its own metric cannot wake")       \
  X(SleepHostMemory, "SLEEP_HOST_MEMORY", Warning, "sleeping weights that no memory is kept for") \
  X(KvCachePreempted, "KV_CACHE_PREEMPTED", Warning, "sequences lost their KV cache")             \
  X(CronRunsMissed, "CRON_RUNS_MISSED", Warning, "runs of a CronJob that were not made or done")  \
  X(KernelPreempted, "KERNEL_PREEMPTED", Note, "a long kernel that delays nobody here")           \
  X(InstanceRetired, "INSTANCE_RETIRED", Note, "an instance type that AWS has retired")           \
  X(InputAssumed, "INPUT_ASSUMED", Note, "an input that nobody measured")                         \
  X(GpuBusyUnknown, "GPU_BUSY_UNKNOWN", Note, "how long kernels run is not known")                \
  X(KernelTimeUnknown, "KERNEL_TIME_UNKNOWN", Note, "how long kernels last is not known")         \
  X(ProfileScaled, "PROFILE_SCALED", Note, "a figure carried over from another GPU model")        \
  X(LlmShared, "LLM_SHARED", Note, "a language model that several GPUs share")                    \
  X(LlmSleeps, "LLM_SLEEPS", Note, "what an engine holds asleep, and how it wakes up")            \
  X(PriceDerived, "PRICE_DERIVED", Note, "a price derived from a sibling size")                   \
  X(MpsUnevenSplit, "MPS_UNEVEN_SPLIT", Note, "replicas that do not divide 100")                  \
  X(MigSlicesUnused, "MIG_SLICES_UNUSED", Note, "a MIG layout that leaves slices idle")           \
  X(VgpuNotOnEks, "VGPU_NOT_ON_EKS", Note, "vGPU scheduling that EC2 does not offer")             \
  X(SweepSkipped, "SWEEP_SKIPPED", Note, "a sweep path that a variant does not have")             \
  X(TraceRow, "TRACE_ROW", Error, "a row of a trace that cannot be read")                         \
  X(TraceColumnMissing, "TRACE_COLUMN", Error, "a trace without a column that it needs")          \
  X(TraceFormat, "TRACE_FORMAT", Error, "a file that is not the trace it should be")              \
  X(QueueUnknown, "QUEUE_UNKNOWN", Error, "a queue or flavor that is not there")                  \
  X(JobNeverFits, "JOB_NEVER_FITS", Warning, "jobs that ask for more than the cluster has")       \
  X(PolicyFailed, "POLICY_FAILED", Warning, "a policy of the scenario does not hold")             \
  X(PolicyNotJudged, "POLICY_NOT_JUDGED", Warning, "a policy that no figure of the run decides")  \
  X(IsolationTooWeak, "ISOLATION_TOO_WEAK", Error, "sharing that isolates less than required")    \
  X(PlanStale, "PLAN_STALE", Error, "the plan was made from another scenario file")               \
  X(ResultStale, "RESULT_STALE", Error, "the result is not what its scenario gives now")          \
  X(PodStartsElsewhere, "POD_STARTS_ELSEWHERE", Warning, "pods that fit not where they are")      \
  X(NodeLimitReached, "NODE_LIMIT_REACHED", Warning, "the pool got all nodes it may have")        \
  X(KarpenterOverprovisions, "KARPENTER_OVERPROVISIONS", Warning, "one node per pending pod")     \
  X(NodesNeverLaunched, "NODES_NEVER_LAUNCHED", Warning, "no instance type with that resource")   \
  X(SpotInterrupted, "SPOT_INTERRUPTED", Note, "nodes were reclaimed during the run")             \
  X(JobsDisrupted, "JOBS_DISRUPTED", Warning, "jobs started over: their node was removed")        \
  X(GangAcrossSlowLinks, "GANG_ACROSS_SLOW_LINKS", Warning, "GPUs of a pod without NVLink")       \
  X(VllmLacksGpus, "VLLM_LACKS_GPUS", Error, "more parallel parts than the pod has GPUs")         \
  X(VllmLeavesGpus, "VLLM_LEAVES_GPUS", Warning, "GPUs of a pod that vLLM does not use")          \
  X(MpsWithMixed, "MPS_WITH_MIXED", Error, "MPS with migStrategy mixed or for a MIG resource")    \
  X(MpsRootMissing, "MPS_ROOT_MISSING", Error, "MPS without the directory of its daemon")         \
  X(MpsContextTight, "MPS_CONTEXT_TIGHT", Warning, "an MPS share that barely holds a context")    \
  X(GpuMemUnlimited, "GPU_MEM_UNLIMITED", Note, "time-slicing sets no memory limit")              \
  X(FailRequestsUnset, "FAIL_REQUESTS_UNSET", Warning, "a pod may take several shared replicas")  \
  X(PluginTooOld, "PLUGIN_TOO_OLD", Error, "this plugin version does not know the setting")       \
  X(SharedResourceAbsent, "SHARED_RESOURCE_ABSENT", Error, "sharing of a name that no node has")  \
  X(PluginConfigUnknown, "PLUGIN_CONFIG_UNKNOWN", Error, "no plugin config of that name")         \
  X(PluginConfigAmbiguous, "PLUGIN_CONFIG_AMBIGUOUS", Error, "several configs and no default")    \
  X(OperatorDefaultMissing, "OPERATOR_DEFAULT_MISSING", Error, "no default: nothing is shared")   \
  X(ConfigMapMissing, "CONFIG_MAP_MISSING", Error, "a ConfigMap of another name or namespace")    \
  X(ChartConfigInvalid, "CHART_CONFIG_INVALID", Error, "values that the Helm chart refuses")      \
  X(ConfigNotReloaded, "CONFIG_NOT_RELOADED", Note, "a changed ConfigMap restarts nothing")       \
  X(TwoDevicePlugins, "TWO_DEVICE_PLUGINS", Error, "two device plugins on one node")              \
  X(PluginNotScheduled, "PLUGIN_NOT_SCHEDULED", Error, "no node label selects the DaemonSet")     \
  X(MpsNotCapable, "MPS_NOT_CAPABLE", Error, "no node is labelled for the MPS daemon")            \
  X(MpsOnSelinux, "MPS_ON_SELINUX", Error, "the plugin's MPS on Bottlerocket")                    \
  X(ProductLabelShared, "PRODUCT_LABEL_SHARED", Warning, "a product label that sharing changes")  \
  X(NodeLabelWrong, "NODE_LABEL_WRONG", Error, "a label that nothing reads")                      \
  X(ChartNamespace, "CHART_NAMESPACE", Error, "a namespace that the chart refuses")               \
  X(MigMonitorMissing, "MIG_MONITOR_MISSING", Error, "a plugin that may not see MIG devices")     \
  X(MigFileInvalid, "MIG_FILE_INVALID", Error, "an entry that makes mig-parted refuse the file")  \
  X(MigManagerConfig, "MIG_MANAGER_CONFIG", Error, "a key or default that mig-manager ignores")   \
  X(MigDrainFirst, "MIG_DRAIN_FIRST", Note, "a MIG change does not evict user pods")              \
  X(MigNeedsReboot, "MIG_NEEDS_REBOOT", Warning, "an A100 in EC2 may need a reboot for MIG")      \
  X(MigGpuInUse, "MIG_GPU_IN_USE", Warning, "a host service that holds the GPU")                  \
  X(MigComputeInstance, "MIG_COMPUTE_INSTANCE", Error, "a compute instance inside an instance")   \
  X(BottlerocketMig, "BOTTLEROCKET_MIG", Error, "a MIG setting that Bottlerocket lacks")          \
  X(MigTwoDevices, "MIG_TWO_DEVICES", Error, "a container with two MIG resources")                \
  X(MigNameDrift, "MIG_NAME_DRIFT", Warning, "a profile name of another driver")                  \
  X(MigDevicesUnlisted, "MIG_DEVICES_UNLISTED", Warning, "GPUs that no entry of a config names")  \
  X(TwoGpuContainers, "TWO_GPU_CONTAINERS", Warning, "each container takes a unit of its own")    \
  X(TaintNotTolerated, "TAINT_NOT_TOLERATED", Error, "a taint that the pod does not tolerate")    \
  X(NodeSelectorUnmet, "NODE_SELECTOR_UNMET", Error, "no node pool has these labels")             \
  X(PodTooLarge, "POD_TOO_LARGE", Error, "no node is as large as the request")                    \
  X(OverlayNotPinned, "OVERLAY_NOT_PINNED", Error, "one capacity for several GPU counts")         \
  X(NodePoolsTie, "NODE_POOLS_TIE", Warning, "NodePools of one weight: the name decides")         \
  X(NodePoolLimitUnits, "NODE_POOL_LIMIT_UNITS", Warning, "limits count advertised units")        \
  X(AutoscalerBurst, "AUTOSCALER_BURST", Note, "one node for each pending pod at first")          \
  X(ScalerTargetUnknown, "SCALER_TARGET_UNKNOWN", Warning, "an autoscaler of what is not there")  \
  X(BudgetAllowsNone, "BUDGET_ALLOWS_NONE", Warning, "pods that no drain ever gets rid of")       \
  X(CpuPodsOnGpuNodes, "CPU_PODS_ON_GPU_NODES", Note, "CPU pods that keep nodes with GPUs")       \
  X(GpuCountZero, "GPU_COUNT_ZERO", Warning, "EC2 reports no GPU for this type")                  \
  X(ReplicasOneGpu, "REPLICAS_ONE_GPU", Warning, "replicas of a model on one GPU")                \
  X(HostIpcNotNeeded, "HOST_IPC_NOT_NEEDED", Note, "hostIPC is not needed for MPS")               \
  X(MpsUsersDiffer, "MPS_USERS_DIFFER", Warning, "MPS clients of different users")                \
  X(VisibleDevicesSet, "VISIBLE_DEVICES_SET", Error, "the pod chooses its GPUs itself")           \
  X(DcgmWholeGpu, "DCGM_WHOLE_GPU", Warning, "per-pod metrics hold the whole GPU's value")        \
  X(DcgmResourceNames, "DCGM_RESOURCE_NAMES", Error, "the exporter skips renamed resources")      \
  X(MetricNotExported, "METRIC_NOT_EXPORTED", Error, "a metric that is off by default")           \
  X(MetricAbsentOnMig, "METRIC_ABSENT_ON_MIG", Error, "GPU_UTIL does not exist on MIG")           \
  X(ReplicasReadAsGpus, "REPLICAS_READ_AS_GPUS", Warning, "labels that do not count GPUs")        \
  X(DraGateOff, "DRA_GATE_OFF", Error, "sharing whose feature gate is off")                       \
  X(DraOverrideMissing, "DRA_OVERRIDE_MISSING", Error, "the DRA chart refuses to install")        \
  X(DraSelector, "DRA_SELECTOR", Error, "a selector of DRA devices that is not understood")       \
  X(DraClaimUnknown, "DRA_CLAIM_UNKNOWN", Error, "a claim that is not there")                     \
  X(DraNoDevice, "DRA_NO_DEVICE", Error, "a claim that no device meets")                          \
  X(DraClaimUnused, "DRA_CLAIM_UNUSED", Warning, "a claim that no container uses")                \
  X(DraTemplateNotShared, "DRA_TEMPLATE_NOT_SHARED", Warning, "one claim per pod: no sharing")    \
  X(DraWithDevicePlugin, "DRA_WITH_DEVICE_PLUGIN", Error, "both hand out the same GPUs")          \
  X(DraGatesExclude, "DRA_GATES_EXCLUDE", Error, "feature gates that exclude each other")         \
  X(DraParameterUnknown, "DRA_PARAMETER_UNKNOWN", Error, "a field that the driver refuses")       \
  X(KindNotChecked, "KIND_NOT_CHECKED", Note, "a document that check does not read")

enum class Code : std::uint8_t {
#define X(id, name, severity, meaning) id,
  SLICEWISE_CODES(X)
#undef X
};

struct CodeInfo {
  Code code;
  std::string_view name;
  Severity severity;
  std::string_view meaning;
};

inline constexpr std::array kCodes = {
#define X(id, name, severity, meaning) CodeInfo{Code::id, name, Severity::severity, meaning},
    SLICEWISE_CODES(X)
#undef X
};

constexpr const CodeInfo& info(Code code) { return kCodes[static_cast<std::size_t>(code)]; }

}  // namespace slicewise
