#pragma once

#include <array>
#include <cstdint>
#include <string_view>

// Every error, warning and note that slicewise can print, in one place. The name of a code is
// stable: scripts match on it and `slicewise explain CODE` tells what it means. Add codes, never
// rename or reuse one; reports/explain.cpp holds the long explanation of each and does not compile
// when one is missing.
namespace slicewise {

enum class Severity : std::uint8_t { Error, Warning, Note };

// X(identifier, printed name, usual severity, one line of meaning)
#define SLICEWISE_CODES(X)                                                                       \
  X(FileUnreadable, "FILE_UNREADABLE", Error, "a file cannot be read")                           \
  X(YamlSyntax, "YAML_SYNTAX", Error, "the file is not YAML 1.2 or JSON")                        \
  X(FieldUnknown, "FIELD_UNKNOWN", Error, "a key that the format does not have")                 \
  X(FieldMissing, "FIELD_MISSING", Error, "a required key is absent")                            \
  X(FieldDuplicate, "FIELD_DUPLICATE", Error, "the same key twice in one mapping")               \
  X(FieldType, "FIELD_TYPE", Error, "a value of the wrong type")                                 \
  X(UnitUnknown, "UNIT_UNKNOWN", Error, "a unit that Kubernetes does not know")                  \
  X(UnitMissing, "UNIT_MISSING", Error, "a bare number where a unit is needed")                  \
  X(EnumUnknown, "ENUM_UNKNOWN", Error, "a word that is not one of the allowed values")          \
  X(ValueRange, "VALUE_RANGE", Error, "a value outside the allowed range")                       \
  X(ApiVersionUnknown, "API_VERSION_UNKNOWN", Error, "an apiVersion or kind not read here")      \
  X(NameInvalid, "NAME_INVALID", Error, "a name that Kubernetes would refuse")                   \
  X(NameDuplicate, "NAME_DUPLICATE", Error, "two list entries with the same name")               \
  X(SettingConflict, "SETTING_CONFLICT", Error, "two settings that contradict each other")       \
  X(PathUnknown, "PATH_UNKNOWN", Error, "a sweep, patch or --set path that leads nowhere")       \
  X(PolicySyntax, "POLICY_SYNTAX", Error, "an assertion that cannot be read")                    \
  X(VariantUnknown, "VARIANT_UNKNOWN", Error, "no variant of that name")                         \
  X(ReplicasTooFew, "REPLICAS_TOO_FEW", Error, "sharing with fewer than 2 replicas")             \
  X(MpsWithTimeSlicing, "MPS_WITH_TIME_SLICING", Error, "both sharing modes on one node pool")   \
  X(PluginFieldIgnored, "PLUGIN_FIELD_IGNORED", Error, "the device plugin ignores this key")     \
  X(MigUnsupported, "MIG_UNSUPPORTED", Error, "MIG on a GPU that has no MIG")                    \
  X(MigConfigUnknown, "MIG_CONFIG_UNKNOWN", Error, "a MIG layout this GPU cannot have")          \
  X(MigLayoutImpossible, "MIG_LAYOUT_IMPOSSIBLE", Error, "instances that do not fit a GPU")      \
  X(MigNotUniform, "MIG_NOT_UNIFORM", Error, "strategy single with several MIG profiles")        \
  X(MigNotAdvertised, "MIG_NOT_ADVERTISED", Warning, "MIG instances that no pod can ask for")    \
  X(MpsTooManyClients, "MPS_TOO_MANY_CLIENTS", Error, "more MPS clients than a GPU takes")       \
  X(MpsOnMig, "MPS_ON_MIG", Error, "MPS on MIG devices, which the device plugin refuses")        \
  X(GpuExclusiveProcess, "GPU_EXCLUSIVE_PROCESS", Error, "a process that bypasses MPS")          \
  X(ExportUnfit, "EXPORT_UNFIT", Error, "a file that cannot say what the scenario says")         \
  X(StrategyNotModelled, "STRATEGY_NOT_MODELLED", Error, "read, but not simulated yet")          \
  X(InstanceUnknown, "INSTANCE_UNKNOWN", Error, "an instance type not in the catalogue")         \
  X(GpuUnknown, "GPU_UNKNOWN", Error, "a GPU model not in the catalogue")                        \
  X(ProfileUnknown, "PROFILE_UNKNOWN", Error, "a workload profile not in the catalogue")         \
  X(RegionUnknown, "REGION_UNKNOWN", Error, "a region without prices in the catalogue")          \
  X(PriceUnknown, "PRICE_UNKNOWN", Error, "no price for this type, region and purchase option")  \
  X(ResourceNameMismatch, "RESOURCE_NAME_MISMATCH", Error, "no node pool offers that resource")  \
  X(RequestTooLarge, "REQUEST_TOO_LARGE", Error, "more than one shared replica in a container")  \
  X(RequestNoEffect, "REQUEST_NO_EFFECT", Warning, "several replicas do not give more GPU")      \
  X(ExtendedResourceInteger, "EXTENDED_RESOURCE_INTEGER", Error, "a fraction of a GPU")          \
  X(InputMissing, "INPUT_MISSING", Error, "a figure that the simulation needs is absent")        \
  X(RunNeverEnds, "RUN_NEVER_ENDS", Error, "no end is given and the workloads never finish")     \
  X(GpuMemGreedy, "GPU_MEM_GREEDY", Warning, "one process maps the whole GPU at start")          \
  X(GpuNotRequested, "GPU_NOT_REQUESTED", Warning, "pods use a GPU that they did not ask for")   \
  X(MpsPerProcessLimits, "MPS_PER_PROCESS_LIMITS", Warning, "limits count per process, not pod") \
  X(GpuOom, "GPU_OOM", Warning, "processes that share a GPU ran out of its memory")              \
  X(CrashLoopBackOff, "CRASH_LOOP_BACK_OFF", Warning, "containers waited to be restarted")       \
  X(PodPending, "POD_PENDING", Warning, "pods waited because no node could hold them")           \
  X(FaultShared, "FAULT_SHARED", Warning, "a fault of one pod killed its neighbours")            \
  X(HostCpuOversubscribed, "HOST_CPU_OVERSUBSCRIBED", Warning, "the node's vCPUs bind")          \
  X(CpuLimitThrottles, "CPU_LIMIT_THROTTLES", Warning, "a CPU limit below what the pod uses")    \
  X(ObjectiveMissed, "OBJECTIVE_MISSED", Warning, "an objective of a workload was not met")      \
  X(QueueUnstable, "QUEUE_UNSTABLE", Warning, "requests arrive faster than they are served")     \
  X(RequestsRefused, "REQUESTS_REFUSED", Warning, "requests found no ready replica")             \
  X(RequestsDropped, "REQUESTS_DROPPED", Warning, "requests met a full queue or timed out")      \
  X(SampleTooSmall, "SAMPLE_TOO_SMALL", Warning, "a tail judged by too few requests")            \
  X(AutoscalerAtMax, "AUTOSCALER_AT_MAX", Warning, "a Service got all replicas it may have")     \
  X(KvCachePreempted, "KV_CACHE_PREEMPTED", Warning, "sequences lost their KV cache")            \
  X(KernelPreempted, "KERNEL_PREEMPTED", Note, "a long kernel that delays nobody here")          \
  X(InstanceRetired, "INSTANCE_RETIRED", Note, "an instance type that AWS has retired")          \
  X(InputAssumed, "INPUT_ASSUMED", Note, "an input that nobody measured")                        \
  X(ProfileScaled, "PROFILE_SCALED", Note, "a figure carried over from another GPU model")       \
  X(PriceDerived, "PRICE_DERIVED", Note, "a price derived from a sibling size")                  \
  X(MpsUnevenSplit, "MPS_UNEVEN_SPLIT", Note, "replicas that do not divide 100")                 \
  X(MigSlicesUnused, "MIG_SLICES_UNUSED", Note, "a MIG layout that leaves slices idle")          \
  X(VgpuNotOnEks, "VGPU_NOT_ON_EKS", Note, "vGPU scheduling that EC2 does not offer")            \
  X(SweepSkipped, "SWEEP_SKIPPED", Note, "a sweep path that a variant does not have")            \
  X(TraceRow, "TRACE_ROW", Error, "a row of a trace that cannot be read")                        \
  X(TraceColumnMissing, "TRACE_COLUMN", Error, "a trace without a column that it needs")         \
  X(TraceFormat, "TRACE_FORMAT", Error, "a file that is not the trace it should be")             \
  X(JobNeverFits, "JOB_NEVER_FITS", Warning, "jobs that ask for more than the cluster has")

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
