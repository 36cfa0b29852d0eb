"""Where a field's default hangs on other things, runs show that it is what the documentation says: without the
field a run gives the same figures as with that value written out, and others with another value."""

import collections
import copy
import json
import pathlib
import re
import subprocess
import tempfile
import unittest

from program import ROOT, main, run, skip_without

try:
    import yaml
except ImportError:
    yaml = None

# GPUs shared in turns, by MPS, by a claim and not at all, beside each other; one workload of each kind.
BASE = """
apiVersion: slicewise.dev/v1alpha1
kind: Scenario
metadata: {name: defaults}
spec:
  duration: 4m
  warmup: 0s
  replications: 1
  nodePools:
  - name: turns
    instanceType: g4dn.xlarge
    nodes: 1
    taints: [{key: kind, value: turns, effect: NoSchedule}]
    devicePlugin: {sharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 4}]}}}
  - name: mps
    instanceType: g5.xlarge
    nodes: 1
    taints: [{key: kind, value: mps, effect: NoSchedule}]
    devicePlugin: {sharing: {mps: {resources: [{name: nvidia.com/gpu, replicas: 4}]}}}
  - name: claims
    instanceType: g5.xlarge
    nodes: 1
    taints: [{key: kind, value: claims, effect: NoSchedule}]
    dra: true
  - name: chat
    instanceType: g5.xlarge
    nodes: 1
    taints: [{key: kind, value: chat, effect: NoSchedule}]
  - name: lab
    instanceType: g4dn.xlarge
    nodes: {max: 3}
    taints: [{key: kind, value: lab, effect: NoSchedule}]
    devicePlugin: {sharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 4}]}}}
  provisioner: {kind: Karpenter}
  resourceClaims:
  - name: shared
    kind: ResourceClaim
    sharing: {strategy: MPS, mpsConfig: {}}
  workloads:
  - name: train
    kind: Job
    count: 2
    podTemplate: &turns
      resources: {limits: {nvidia.com/gpu: 1}}
      tolerations: [{key: kind, value: turns}]
    gpuMemory: {resident: 4Gi}
    startup: {imagePull: 30s, modelLoad: 5s}
    work: {units: 20, unitName: step}
    measured: {unitTime: 2s, gpuBusy: 60%, smActive: 30%, device: T4}
  - name: api
    kind: Service
    replicas: 2
    podTemplate: *turns
    gpuMemory: {resident: 1Gi}
    measured: {requestGpuTime: 40ms, smActive: 30%}
    traffic: {mean: 10/s}
    serving: {batching: {maxBatch: 4, maxDelay: 20ms}}
    slo: {latencyP95: 10s}
  - name: capped
    kind: Job
    count: 3
    podTemplate:
      resources: {limits: {nvidia.com/gpu: 1}}
      tolerations: [{key: kind, value: mps}]
    gpuMemory: {resident: 2Gi}
    work: {units: 20, unitName: step}
    measured: {unitTime: 2s, gpuBusy: 90%, smActive: 80%}
  - name: claiming
    kind: Job
    count: 2
    podTemplate:
      resourceClaim: shared
      tolerations: [{key: kind, value: claims}]
    gpuMemory: {resident: 2Gi}
    work: {units: 20, unitName: step}
    measured: {unitTime: 2s, gpuBusy: 90%, smActive: 80%}
  - name: chat
    kind: Service
    podTemplate:
      resources: {limits: {nvidia.com/gpu: 1}}
      tolerations: [{key: kind, value: chat}]
    llm:
      model: llama-3-8b-fp16/a10g
      tokens: {input: {mean: 300, distribution: Exponential}, output: 100}
    traffic: {mean: 2/s}
  - name: lab
    kind: Notebook
    podTemplate:
      resources: {limits: {nvidia.com/gpu: 1}}
      tolerations: [{key: kind, value: lab}]
    gpuMemory: {resident: 2Gi}
    notebooks: {users: 12, sessionsPerDay: 8, length: 2h, peaksAt: ["00:10"], interval: 45s, gpuTime: 2s}
"""
# Requests and jobs from files; Services behind each other; GPUs that the hypervisor divides; spot nodes.
OTHERS = """
apiVersion: slicewise.dev/v1alpha1
kind: Scenario
metadata: {name: others}
spec:
  duration: 4m
  warmup: 0s
  replications: 1
  nodePools:
  - name: whole
    instanceType: g5.12xlarge
    nodes: 2
    taints: [{key: kind, value: whole, effect: NoSchedule}]
  - name: divided
    instanceType: g6f.2xlarge
    nodes: 1
    taints: [{key: kind, value: divided, effect: NoSchedule}]
    vgpu: {}
  - name: host
    instanceType: g6.xlarge
    nodes: 1
    taints: [{key: kind, value: host, effect: NoSchedule}]
    vgpu: {perGpu: 2}
  - name: claims
    instanceType: p4d.24xlarge
    nodes: 1
    taints: [{key: kind, value: claims, effect: NoSchedule}]
    mig: {strategy: mixed, config: all-3g.20gb}
    dra: true
  resourceClaims:
  - {name: any, kind: ResourceClaim}
  workloads:
  - name: traced
    kind: Service
    podTemplate: &whole
      resources: {limits: {nvidia.com/gpu: 1}}
      tolerations: [{key: kind, value: whole}]
    llm: {model: llama-3-8b-fp16/a10g}
    traffic: {shape: Trace, trace: {file: requests.csv, blockTokens: 100}}
  - name: behind
    kind: Service
    podTemplate: *whole
    measured: {requestGpuTime: 20ms}
  - name: next
    kind: Service
    podTemplate: *whole
    measured: {requestGpuTime: 20ms}
  - name: recorded
    kind: TraceJobs
    podTemplate: {tolerations: [{key: kind, value: whole}]}
    measured: {gpuUtil: 60%}
    trace: {file: jobs.csv}
  - name: sliced
    kind: Job
    count: 4
    podTemplate:
      resources: {limits: {nvidia.com/gpu: 1}}
      tolerations: [{key: kind, value: divided}]
    work: {units: 20}
    measured: {unitTime: 2s, gpuBusy: 90%}
  - name: halved
    kind: Job
    count: 2
    podTemplate:
      resources: {limits: {nvidia.com/gpu: 1}}
      tolerations: [{key: kind, value: host}]
    work: {units: 20}
    measured: {unitTime: 2s, gpuBusy: 60%}
  - name: claiming
    kind: Job
    count: 2
    podTemplate: {resourceClaim: any, tolerations: [{key: kind, value: claims}]}
    gpuMemory: {resident: 2Gi}
    work: {units: 20}
    measured: {unitTime: 2s, gpuBusy: 90%}
  pipelines:
  - name: chain
    traffic: {mean: 3/s}
    stages: [{workload: behind}, {workload: next}]
"""
# Refused with that code where it stands: what the default is not.
Refused = collections.namedtuple("Refused", "value code")
MANY_SESSIONS = ("workloads.lab.notebooks.users=60",
                 "workloads.lab.notebooks.memory={mean: 2Gi, distribution: Exponential}")
# The base, the field, what its documentation says that it is without being written, another value, what else is said.
IN_RUNS = [
    (BASE, "workloads.train.gpuMemory.peak", "4Gi", "12Gi"),
    (BASE, "workloads.api.startup.cold", "false", "true", "workloads.api.startup.modelLoad=20s"),
    (BASE, "workloads.train.restartPolicy", "OnFailure", "Never", "workloads.train.gpuMemory.resident=11Gi"),
    (BASE, "workloads.train.parallelism", "2", "1"),
    (BASE, "workloads.train.faults", "0/h", "300/h"),
    (BASE, "workloads.train.batch", "1", "4"),
    (BASE, "workloads.api.measured.device", "T4", "V100-SXM2-16GB"),
    (BASE, "workloads.train.measured.batch", "1", "4", "workloads.train.batch=4"),
    (BASE, "workloads.api.measured.extraPerItem", "40ms", "5ms", "workloads.api.measured.smActive=100%"),
    (BASE, "workloads.api.measured.normP", "3", "2"),
    (BASE, "workloads.capped.measured.normP", "3", "1"),
    (BASE, "workloads.api.serving.queueLimit", "1000000000", "1"),
    (BASE, "workloads.api.serving.timeout", "100h", "50ms"),
    (BASE, "workloads.api.serving.concurrency", "1000000", "4"),
    (BASE, "workloads.api.traffic.shape", "Poisson", "Constant"),
    (BASE, "workloads.api.traffic.variation", "1", "3",
     'workloads.api.traffic={shape: Diurnal, mean: 10/s, peak: 20/s, peakAt: "00:05"}'),
    (BASE, "startsAt", "Mon 00:00", "Mon 12:00",
     'workloads.api.traffic={shape: Diurnal, mean: 10/s, peak: 20/s, peakAt: "00:05"}'),
    (BASE, "nodePools.turns.devicePlugin.sharing.timeSlicing.failRequestsGreaterThanOne", "false",
     Refused("true", "REQUEST_TOO_LARGE"),
     "workloads.train.podTemplate.resources={limits: {nvidia.com/gpu: 2}}"),
    (BASE, "nodePools.mps.mps.activeThreads", "25%", "60%"),
    (BASE, "nodePools.mps.devicePlugin.sharing.mps.failRequestsGreaterThanOne",
     Refused("true", "REQUEST_TOO_LARGE"), "false",
     "workloads.capped.podTemplate.resources={limits: {nvidia.com/gpu: 2}}"),
    (BASE, "nodePools.mps.mps.clientLimit", "48", Refused("3", "MPS_TOO_MANY_CLIENTS")),
    (BASE, "nodePools.turns.gpu.timeSlice", "1.024ms", "30ms"),
    (BASE, "nodePools.turns.gpu.contextMemory", "100Mi", "3Gi"),
    (BASE, "nodePools.chat.daemonSets",
     "[{name: aws-node, cpu: 50m}, {name: kube-proxy, cpu: 100m}, {name: nvidia-device-plugin}, {name: dcgm-exporter}]",
     "[]", "workloads.chat.podTemplate.resources={requests: {cpu: 3900m}, limits: {nvidia.com/gpu: 1}}"),
    (BASE, "nodePools.chat.allocatable.cpu", "3920m", "2",
     "workloads.chat.podTemplate.resources={requests: {cpu: 3}, limits: {nvidia.com/gpu: 1}}"),
    (BASE, "nodePools.chat.allocatable.memory", "14786Mi", "4Gi",
     "workloads.chat.podTemplate.resources={requests: {memory: 5Gi}, limits: {nvidia.com/gpu: 1}}"),
    (BASE, "nodePools.chat.allocatable.pods", "58", "4"),
    (BASE, "nodePools.chat.allocatable.gpus", "4", "1", "nodePools.chat.instanceType=g5.12xlarge"),
    (BASE, "resourceClaims.shared.sharing.mpsConfig.defaultActiveThreadPercentage", "100", "20"),
    (BASE, "resourceClaims.shared.sharing.mpsConfig.defaultPinnedDeviceMemoryLimit", "64Ti", "1Gi"),
    (BASE, "nodePools.lab.nodes.min", "0", "1"),
    (BASE, "workloads.chat.llm.step.overhead", "0.6ms", "20ms"),
    (BASE, "workloads.train.schedule.startingDeadline", "1000h", "1s",
     "workloads.train.schedule={cron: '* * * * *', concurrencyPolicy: Forbid}"),
    (BASE, "workloads.chat.llm.adapters.loadTime", "1ms", "500ms",
     "workloads.chat.llm.adapters={count: 9, memory: 12M}"),
    (BASE, "workloads.chat.llm.tokens.input.least", "1", "500"),
    (BASE, "workloads.chat.llm.tokens.input.most", "1000000", "50"),
    (BASE, "workloads.lab.notebooks.idleCull", "1000h", "10s"),
    (BASE, "workloads.lab.notebooks.memory", "2Gi", "9Gi"),
    (BASE, "workloads.lab.notebooks.memory.least", "0", "9Gi", *MANY_SESSIONS),
    (BASE, "workloads.lab.notebooks.memory.most", "64Ti", "1Gi", *MANY_SESSIONS),
    (BASE, "controlPlane", "standard", "extended"),
    (OTHERS, "nodePools.divided.vgpu.policy", "fixedShare", "bestEffort"),
    (OTHERS, "nodePools.host.vgpu.policy", "bestEffort", "fixedShare"),
    (OTHERS, "nodePools.divided.vgpu.perGpu", "4", "2"),
    (OTHERS, "nodePools.divided.vgpu.slice", "2ms", "9ms"),
    (OTHERS, "nodePools.host.vgpu.slice", "1ms", "2ms", "nodePools.host.vgpu.perGpu=16"),
    (OTHERS, "pipelines.chain.stages[1].after", "[]", "[behind]"),
    (OTHERS, "workloads.traced.llm.tensorParallelSize", "1", Refused("2", "SETTING_CONFLICT")),
    (OTHERS, "workloads.traced.llm.tokens", "{input: 300, output: 100}", "{input: 300, output: 50}",
     "workloads.traced.traffic={shape: Trace, trace: {file: plain.csv}}"),
    (OTHERS, "workloads.traced.traffic.trace.timeColumn", "timestamp", "later"),
    (OTHERS, "workloads.traced.traffic.trace.inputTokensColumn", "ContextTokens", "more"),
    (OTHERS, "workloads.traced.traffic.trace.outputTokensColumn", "GeneratedTokens", "more"),
    (OTHERS, "workloads.traced.traffic.trace.blocksColumn", "hash_ids", "alike"),
    (OTHERS, "workloads.traced.traffic.trace.length", "100h", "30s"),
    (OTHERS, "workloads.recorded.trace.length", "100h", "30s"),
    (OTHERS, "workloads.recorded.trace.users", "[ana, bo]", "[ana]"),
    (OTHERS, "workloads.recorded.trace.groups", "[vision, speech]", "[vision]"),
    (OTHERS, "workloads.recorded.trace.mostGpus", "1000000", "1"),
    (OTHERS, "workloads.recorded.trace.gpusPerPod", "4", "2"),
    (OTHERS, "resourceClaims.any.sharing", "{strategy: TimeSlicing}",
     "{strategy: MPS}"),
    (OTHERS, "resourceClaims.any.selectors", "['true']",
     Refused("[\"device.attributes['gpu.nvidia.com'].type == 'gpu'\"]", "RESOURCE_NAME_MISMATCH")),
    (BASE, "nodePools.turns.gpu.switchCost", "153841ns", "5ms"),
    (BASE, "nodePools.turns.gpu.coldCache", "100%", "0%"),
]

# Nodes for one Service, and what `slicewise plan` and `sensitivity` try of them.
STUDIED = """
apiVersion: slicewise.dev/v1alpha1
kind: Scenario
metadata: {name: studied}
spec:
  duration: 30s
  warmup: 0s
  replications: 1
  nodePools:
  - {name: gpu, instanceType: g4dn.xlarge, nodes: 1}
  workloads:
  - name: api
    kind: Service
    replicas: 5
    podTemplate: {resources: {limits: {nvidia.com/gpu: 1}}}
    gpuMemory: {resident: 1Gi}
    measured: {requestGpuTime: 10ms, smActive: 30%}
    traffic: {mean: 60/s}
    serving: {concurrency: 4, batching: {maxBatch: 4, maxDelay: 20ms}}
    slo: {latencyP95: 10s}
  pricing: {plans: {g4dn.xlarge: {type: agreed, discount: 10%}}}
  planning: {instanceTypes: [g4dn.xlarge], strategies: [timeSlicing], replicas: [2]}
"""
# As above, by the verb.
IN_STUDIES = [
    ("plan", "planning.instanceTypes",
     "[g4dn.xlarge, g4dn.2xlarge, g4dn.12xlarge, g5.xlarge, g5.2xlarge, g5.12xlarge, g6.xlarge, g6.2xlarge, "
     "g6.12xlarge, g6e.xlarge, g6f.xlarge, p4d.24xlarge]", "[g5.xlarge]"),
    ("plan", "planning.instanceTypes",
     "[g4dn.xlarge, g4dn.2xlarge, g4dn.12xlarge, g5.xlarge, g5.2xlarge, g5.12xlarge, g6.xlarge, g6.2xlarge, "
     "g6.12xlarge, g6e.xlarge, g6f.xlarge, p4d.24xlarge, g5.48xlarge, g6.48xlarge, g6e.12xlarge, g6e.48xlarge, "
     "p4de.24xlarge, p5.48xlarge]", "[g5.12xlarge]",
     "workloads.api.podTemplate.resources={limits: {nvidia.com/gpu: 2}}", "planning.strategies=[exclusive]"),
    ("plan", "planning.strategies", "[exclusive, timeSlicing, mps, mig, mig+timeSlicing, vgpu]", "[mps]"),
    ("plan", "planning.purchaseOptions", "[on-demand, agreed]", "[on-demand]"),
    ("plan", "planning.replicas", "[2, 3, 4, 5]", "[3]"),
    ("plan", "planning.maxBatches", "[4]", "[1]"),
    ("plan", "planning.maxDelays", "[20ms]", "[1ms]"),
    ("plan", "planning.concurrencies", "[4]", "[8]", "workloads.api.traffic.mean=400/s"),
    ("sensitivity", "sensitivity.vary", "[traffic, requestGpuTime, gpuMemory.resident, price]", "[traffic]"),
]

# Defaults that are rules, or that no value stands for, and the tests that hold them.
RULES = {
    "workloads.startsOn": "tests/sim/cluster/scheduling_test.cpp: Scheduler, PodsStartOnTheNodesWhereTheyAre",
    "workloads.autoscaling.target": "tests/scenarios/schedule_test.cpp: ReplicaWindows, AreReadWithAMetricOrWithout",
    "workloads.autoscaling.schedule.timeZone": "tests/scenarios/schedule_test.cpp: ReplicaWindows, HoldFromEachStartToTheNextEnd",
    "workloads.manifest.kind": "tests/export/pod_patch_test.cpp: PodPatch, IsOfWhatTheWorkloadIsWhereNobodySays",
    "workloads.manifest.name": "tests/export/pod_patch_test.cpp: PodPatch, IsOfWhatTheWorkloadIsWhereNobodySays",
    "workloads.manifest.containers": "tests/export/pod_patch_test.cpp: PodPatch, IsOfWhatTheWorkloadIsWhereNobodySays",
    "workloads.llm.kvCache": "tests/sim/world/llm_test.cpp: LlmWorld, TheServerTakesItsShareOfTheMemoryAsVllmDoes",
    "workloads.llm.maxModelLen": "tests/sim/world/llm_test.cpp: LlmWorld, ACacheThatHoldsNotOneOfTheLongestRequestsStartsNoServer",
    "workloads.llm.maxSequences": "tests/sim/cluster/llm_test.cpp: LlmCluster, StepsHoldWhatVllmHasForTheGpu",
    "workloads.llm.maxBatchedTokens": "tests/sim/cluster/llm_test.cpp: LlmCluster, StepsHoldWhatVllmHasForTheGpu",
    "workloads.llm.quantization": "tests/models/llm_shared_test.cpp: Quantised, LayersWeighAndReadLess",
    "workloads.llm.kvCacheDtype": "tests/models/llm_shared_test.cpp: Quantised, LayersWeighAndReadLess",
    "workloads.llm.sleep.wakeTime": "tests/sim/world/llm_test.cpp: LlmWorld, SleepIsAsMeasuredOnAnA100",
    "workloads.llm.sleep.sleepTime": "tests/sim/world/llm_test.cpp: LlmWorld, SleepIsAsMeasuredOnAnA100",
    "workloads.measured.kernelTime": "tests/sim/cluster/strategies_test.cpp: Mps, LongKernelsOfANeighbourDelayShortOnes",
    "workloads.measured.turnUse": "tests/sim/cluster/engines_test.cpp: BatchEngines, SteadyStateAgreesWithStepByStepForSerialWork",
    "workloads.traffic.provenance": "tests/sim/world/build_world_test.cpp: BuildWorld, TrafficIsCountedWhereItSaysWhereItComesFrom",
    "planning.tensorParallelSizes": "tests/sim/planner/tensor_parallel_test.cpp: PlanOfTensorParallelSizes, TakesAsManyGpusAsHoldTheModel",
    "pipelines.stages.kvBandwidth": "tests/sim/cluster/llm_test.cpp: LlmCluster, PrefillAndDecodeOnTwoGpusTheClosedForm",
    "nodePools.consolidationPolicy": "tests/sim/cluster/provisioning_test.cpp: Karpenter, MovesThePodsOfUnderutilizedNodes",
    "nodePools.consolidateAfter": "tests/sim/cluster/provisioning_test.cpp: Karpenter, MovesThePodsOfUnderutilizedNodes",
    "nodePools.expireAfter": "tests/sim/cluster/provisioning_test.cpp: Karpenter, EndsNodesWhoseLifeIsOver",
    "nodePools.spot": "tests/sim/cluster/bill_test.cpp: Spot, WithoutARateIsAsRiskyAsTheSpotAdvisorSays",
    "nodePools.spot.interruptionsPerHour": "tests/sim/cluster/bill_test.cpp: Spot, WithoutARateIsAsRiskyAsTheSpotAdvisorSays",
    "workloads.schedule.timeZone": "tests/scenarios/schedule_test.cpp: Cron, ZonesAreAsFarFromUtcAsInTheWeekOfTheRun",
    "provisioner.limits.nodes": "tests/sim/cluster/provisioning_test.cpp: Karpenter, PoolsMayHaveSoMuchTogether",
    "provisioner.limits.gpus": "tests/sim/cluster/provisioning_test.cpp: Karpenter, PoolsMayHaveSoMuchTogether",
    "provisioner.limits.cpu": "tests/sim/cluster/provisioning_test.cpp: Karpenter, PoolsMayHaveSoMuchTogether",
    "provisioner.limits.memory": "tests/sim/cluster/provisioning_test.cpp: Karpenter, PoolsMayHaveSoMuchTogether",
    "resourceFlavors.nodeLabels": "tests/sim/cluster/quotas_test.cpp: Quotas, JobsHaveNoPodsUntilTheirQueueHasRoom",
    "workloads.queue": "tests/sim/cluster/quotas_test.cpp: Quotas, JobsHaveNoPodsUntilTheirQueueHasRoom",
    "workloads.partOf": "tests/sim/cluster/pod_sets_test.cpp: PodSets, AJobIsAdmittedAsAWhole",
    "workloads.minParallelism": "tests/sim/cluster/pod_sets_test.cpp: PodSets, AJobHasQuotaForThoseThatAreThereAtATime",
    "kaiQueues.parentQueue": "tests/sim/cluster/kai_queues_test.cpp: KaiQueues, ShareByWeightWhatIsBeyondTheirQuotas",
    "clusterQueues.cohortName": "tests/sim/cluster/quotas_test.cpp: Quotas, QueuesOfACohortLendWhatTheyDoNotUse",
    "clusterQueues.resourceGroups.flavors.resources.borrowingLimit":
        "tests/sim/cluster/quotas_test.cpp: Quotas, QueuesOfACohortLendWhatTheyDoNotUse",
    "clusterQueues.resourceGroups.flavors.resources.lendingLimit":
        "tests/sim/cluster/quotas_test.cpp: Quotas, QueuesOfACohortLendWhatTheyDoNotUse",
    "clusterQueues.preemption.borrowWithinCohort.maxPriorityThreshold":
        "tests/sim/cluster/quotas_test.cpp: Quotas, WhoBorrowsStopsOthersOnlyWhereItMay",
    "scheduler.placement": "tests/sim/cluster/scheduling_test.cpp: Scheduler, LeastAllocatedSpreadsAndMostAllocatedPacks",
}
# Of NVIDIA's programs, which read these and slicewise carries: the flags whose defaults they are.
DEVICE_PLUGIN = {
    "version": None,
    "flags.failOnInitError": "fail-on-init-error",
    "flags.nvidiaDriverRoot": "driver-root",
    "flags.gdrcopyEnabled": "gdrcopy-enabled",
    "flags.gdsEnabled": "gds-enabled",
    "flags.mofedEnabled": "mofed-enabled",
    "flags.useNodeFeatureAPI": "use-node-feature-api",
    "flags.deviceDiscoveryStrategy": "device-discovery-strategy",
    "flags.plugin.passDeviceSpecs": "pass-device-specs",
    "flags.plugin.deviceListStrategy": "device-list-strategy",
    "flags.plugin.deviceIDStrategy": "device-id-strategy",
    "flags.plugin.cdiAnnotationPrefix": "cdi-annotation-prefix",
    "flags.plugin.nvidiaCTKPath": "nvidia-cdi-hook-path",
    "flags.plugin.containerDriverRoot": "driver-root-ctr-path",
    "flags.gfd.oneshot": "oneshot",
    "flags.gfd.noTimestamp": "no-timestamp",
    "flags.gfd.sleepInterval": "sleep-interval",
    "flags.gfd.outputFile": "output-file",
    "flags.gfd.machineTypeFile": "machine-type-file",
    "imex.required": "imex-required",
}


def defaults_in_words(schema, path=""):
    """(field, words, what the field means) of each default of a scenario that is no value of its member:
    ThoroughDefaults proves the others."""
    for option in [schema, *schema.get("anyOf", [])]:
        for name, field in option.get("properties", {}).items():
            said = re.search(r" Without it: (.*?)\.(?: Example: |$)", field.get("description", ""))
            if said:
                yield f"{path}.{name}".lstrip("."), said[1], field["description"]
            yield from defaults_in_words(field, f"{path}.{name}")
        for inside in ("items", "additionalProperties"):
            if isinstance(option.get(inside), dict):
                yield from defaults_in_words(option[inside], path)


def without_names(path):
    """"workloads.train.batch" -> "workloads.batch"."""
    path = re.sub(r"\[\d+\]", "", path)
    return re.sub(r"^(nodePools|resourceClaims|workloads|pipelines)\.[^.]+", r"\1", path)


def put(node, path, value):
    """As --set writes a value into a scenario."""
    head, *rest = path
    item = re.fullmatch(r"(\w+)\[(\d+)\]", head)
    if item:
        node, head = node[item[1]], int(item[2])
    if not rest:
        node[head] = value
        return
    if isinstance(node, list) and not isinstance(head, int):
        put(next(entry for entry in node if entry["name"] == head), rest, value)
        return
    if isinstance(node, dict):
        node.setdefault(head, {})
    put(node[head], rest, value)


def patch(base, settings):
    """The parts of spec that the settings change, as they change them."""
    spec = copy.deepcopy(base["spec"])
    for path, value in settings:
        put(spec, path.split("."), yaml.safe_load(value))
    return {key: spec[key] for key in {path.split(".")[0] for path, _ in settings}}


def figures(variant):
    """What a run finds, without what was said to it."""
    found = {key: value for key, value in variant.items() if key not in ("name", "provenance", "findings")}
    # "no limit" is a figure that is not there.
    found["nodePools"] = [{key: value for key, value in pool.items() if key != "clientMemoryLimitBytes"}
                          for pool in found["nodePools"]]
    return found


def answer(verb, document):
    """What a study finds, without what it was asked."""
    if verb == "plan":
        options = [[option.get(key) for key in ("monthlyUsd", "latencyP99Seconds", "gpuBusyRatio")]
                   for option in document["options"]]
        return options, document["counts"]
    return document["inputs"]


def written_traces(folder):
    """A trace of requests that says all, one without blocks, and one of jobs."""
    rows = [f"{2 * n},{3 * n},300,100,7 {n % 3} {n},400,1 2 3" for n in range(60)]
    (folder / "requests.csv").write_text("\n".join(
        ["timestamp,later,ContextTokens,GeneratedTokens,hash_ids,more,alike", *rows, ""]))
    (folder / "plain.csv").write_text("\n".join(
        ["timestamp,ContextTokens,GeneratedTokens", *(f"{2 * n},300,100" for n in range(60)), ""]))
    (folder / "jobs.csv").write_text("arrival_s,run_s,gpus,user,group\n0,60,1,ana,vision\n5,60,1,bo,speech\n"
                                     "9,60,4,bo,vision\n100,30,1,ana,vision\n")


class Defaults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if yaml is None:
            skip_without("python3-yaml")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        written_traces(cls.folder)

    def answered(self, verb, document, *options):
        file = self.folder / "scenario.yaml"
        file.write_text(json.dumps(document))
        return run(verb, "-f", str(file), "-o", "json", "--progress", "none", "--jobs", "1", *options)

    def variants(self, base, patches):
        """The figures of the base under each patch, from one run."""
        document = copy.deepcopy(base)
        document["spec"]["variants"] = [{"name": f"v{n}", "patch": change} for n, change in enumerate(patches)]
        done = self.answered("run", document)
        self.assertTrue(done.stdout, done.stderr)
        return [figures(variant) for variant in json.loads(done.stdout)["variants"]]

    def test_runs_have_what_is_documented(self):
        for text in (BASE, OTHERS):
            base = yaml.safe_load(text)
            rows = [row[1:] for row in IN_RUNS if row[0] == text]
            patches = [patch(base, settings) for row in rows for settings in self.cases(*row).values()]
            found = iter(self.variants(base, patches))
            for field, standard, other, *beside in rows:
                with self.subTest(field=field):
                    ran = {name: next(found) for name in self.cases(field, standard, other, *beside)}
                    if "without" in ran and "written" in ran:
                        self.assertEqual(ran["without"], ran["written"])
                    if "without" in ran and "changed" in ran:
                        self.assertNotEqual(ran["without"], ran["changed"])
                    refused = []
                    if isinstance(standard, Refused):
                        refused += [(beside, standard), ([*beside, f"{field}={standard.value}"], standard)]
                    if isinstance(other, Refused):
                        refused.append(([*beside, f"{field}={other.value}"], other))
                    for settings, why in refused:
                        done = self.answered("run", base, *(part for one in settings for part in ("--set", one)))
                        self.assertEqual(done.returncode, 3)
                        self.assertIn(f"error[{why.code}]", done.stderr)

    @staticmethod
    def cases(field, standard, other, *beside):
        """The settings of those runs of a row that are not refused."""
        settings = [setting.split("=", 1) for setting in beside]
        cases = {"without": settings, "written": [*settings, (field, standard)], "changed": [*settings, (field, other)]}
        if isinstance(standard, Refused):
            del cases["without"], cases["written"]
        if isinstance(other, Refused):
            del cases["changed"]
        return cases

    def test_studies_try_what_is_documented(self):
        for verb, field, standard, other, *beside in IN_STUDIES:
            with self.subTest(field=field):
                found = []
                for value in (None, standard, other):
                    document = yaml.safe_load(STUDIED)
                    for path, said in (setting.split("=", 1) for setting in beside):
                        put(document["spec"], path.split("."), yaml.safe_load(said))
                    part, key = field.split(".")
                    document["spec"].setdefault(part, {}).pop(key, None)
                    if value:
                        document["spec"][part][key] = yaml.safe_load(value)
                    if not document["spec"][part]:
                        del document["spec"][part]
                    done = self.answered(verb, document)
                    self.assertTrue(done.stdout, done.stderr)
                    found.append(answer(verb, json.loads(done.stdout)))
                self.assertEqual(found[0], found[1])
                self.assertNotEqual(found[0], found[2])

    def test_a_run_without_duration_ends_with_its_jobs(self):
        base = {**yaml.safe_load(BASE)}
        base["spec"] = {key: value for key, value in base["spec"].items() if key not in ("duration", "resourceClaims")}
        base["spec"]["workloads"] = [one for one in base["spec"]["workloads"] if one["name"] in ("train", "capped")]
        without, until, longer = self.variants(base, [{}, {"until": "AllJobsDone"}, {"duration": "1h"}])
        self.assertEqual(without, until)
        self.assertNotEqual(without, longer)

    def test_a_replay_has_what_is_documented(self):
        """The fields of a file of `kind: Replay` whose defaults are words: tests/scenarios/defaults_test.cpp says which."""
        base = {"apiVersion": "slicewise.dev/v1alpha1", "kind": "Replay", "metadata": {"name": "jobs"},
                "spec": {"trace": {"file": "jobs.csv"},
                         "cluster": {"instances": [{"instanceType": "g5.12xlarge", "count": 2}]}}}
        shared = {**base, "spec": {**base["spec"], "sharing": ["time-slicing:2"]}}
        for document, field, standard, other in [
                (base, "queue", "fifo", "backfill"), (shared, "queue", "backfill", "fifo"),
                (base, "placement", "best-fit", "random"), (shared, "placement", "least-allocated", "best-fit")]:
            with self.subTest(field=field, sharing=document is shared):
                found = []
                for value in (None, standard, other):
                    spec = {**document["spec"], **({field: value} if value else {})}
                    done = self.answered("replay", {**document, "spec": spec})
                    self.assertTrue(done.stdout, done.stderr)
                    found.append({key: value for key, value in json.loads(done.stdout).items() if key != "metadata"})
                self.assertEqual(found[0], found[1])
                self.assertNotEqual(found[0], found[2])

    def test_every_default_in_words_is_proved(self):
        schema = json.loads(run("schema", "scenario").stdout)
        documented = {}  # of each declaration, where it stands
        for field, _, meaning in defaults_in_words(schema["properties"]["spec"]):
            documented.setdefault((field.rsplit(".", 1)[-1], meaning), set()).add(field)
        self.assertGreater(len(documented), 70)
        proved = {without_names(row[1]) for row in (*IN_RUNS, *IN_STUDIES)} | set(RULES) | {"until"} | {
            f"nodePools.devicePlugin.{field}" for field in DEVICE_PLUGIN}
        self.assertEqual([places for places in documented.values() if not places & proved], [], "proved by nothing")
        self.assertEqual(proved - set.union(*documented.values()), set(), "proved, and not documented in words")
        for field, test in RULES.items():
            file, name = test.split(": ")
            self.assertIn(f"TEST({name}", (ROOT / file).read_text("utf-8"), field)

    def test_defaults_of_nvidias_programs_are_theirs(self):
        go_mod = (ROOT / "tests/export/go_validators/go.mod").read_text("utf-8")
        version = re.search(r"NVIDIA/k8s-device-plugin (v[\d.]+)", go_mod)[1]
        try:
            cache = subprocess.run(["go", "env", "GOMODCACHE"], capture_output=True, text=True, check=True).stdout.strip()
        except (OSError, subprocess.CalledProcessError):
            skip_without("go")
        plugin = pathlib.Path(cache, "github.com/!n!v!i!d!i!a", f"k8s-device-plugin@{version}")
        if not plugin.is_dir():
            skip_without(str(plugin))
        sources = "".join((plugin / "cmd" / program / "main.go").read_text("utf-8")
                          for program in ("nvidia-device-plugin", "gpu-feature-discovery"))
        constants = "".join(file.read_text("utf-8") for file in (
            plugin / "api/config/v1/consts.go", *pathlib.Path(cache).glob("tags.cncf.io/*@*/pkg/cdi/annotations.go")))
        schema = json.loads(run("schema", "scenario").stdout)
        documented = {field: words for field, words, _ in defaults_in_words(schema["properties"]["spec"])}

        def value_of(flag):
            said = re.search(rf'Name: +"{flag}",(?:(?!Name:).)*?Value: +([^\n]*),\n', sources, re.DOTALL)
            value = said[1] if said else "false"  # a flag of Go without a value
            value = re.sub(r"^cli\.NewStringSlice\(string\((.*)\)\)$", r"\1", value)
            value = re.sub(r"^spec\.NewDurationValue\((\d+) \* time\.Second\)$", r"\1s", value)
            while "." in value and not value.startswith('"'):
                value = re.search(rf"\b{value.split('.')[1]}\b[^=\n]*= *(.*)", constants)[1]
            return value.strip('"')
        for field, flag in DEVICE_PLUGIN.items():
            if flag is not None:
                with self.subTest(field=field):
                    self.assertEqual(documented[f"nodePools.devicePlugin.{field}"], value_of(flag))


if __name__ == "__main__":
    main()
