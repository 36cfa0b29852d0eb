"""Where a field's default hangs on other things, runs show that it is what the documentation says: without the
field a run gives the same figures as with that value written out, and others with another value."""

import json
import pathlib
import subprocess
import tempfile
import unittest

from program import BINARY, environment, main

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
# The field, what its documentation says that it is without being written, another value, and what else is said.
IN_RUNS = [
    ("workloads.train.gpuMemory.peak", "4Gi", "12Gi"),
    ("workloads.api.startup.cold", "false", "true", "workloads.api.startup.modelLoad=20s"),
    ("workloads.train.restartPolicy", "OnFailure", "Never", "workloads.train.gpuMemory.resident=11Gi"),
    ("workloads.train.parallelism", "2", "1"),
    ("workloads.train.faults", "0/h", "300/h"),
    ("workloads.api.measured.device", "T4", "V100-SXM2-16GB"),
    ("workloads.train.measured.batch", "1", "4", "workloads.train.batch=4"),
    ("workloads.api.measured.extraPerItem", "40ms", "5ms", "workloads.api.measured.smActive=100%"),
    ("workloads.api.measured.normP", "3", "2"),
    ("workloads.capped.measured.normP", "2", "1"),
    ("workloads.api.serving.queueLimit", "1000000000", "1"),
    ("workloads.api.serving.timeout", "100h", "50ms"),
    ("workloads.api.traffic.shape", "Poisson", "Constant"),
    ("nodePools.mps.mps.activeThreads", "25%", "60%"),
    ("nodePools.turns.gpu.timeSlice", "1.024ms", "30ms"),
    ("nodePools.turns.gpu.contextMemory", "100Mi", "3Gi"),
    ("resourceClaims.shared.sharing.mpsConfig.defaultActiveThreadPercentage", "100", "20"),
    ("nodePools.lab.nodes.min", "0", "1"),
    ("workloads.chat.llm.step.overhead", "0.6ms", "20ms"),
    ("workloads.chat.llm.tokens.input.least", "1", "500"),
    ("workloads.chat.llm.tokens.input.most", "1000000", "50"),
    ("workloads.lab.notebooks.idleCull", "1000h", "10s"),
    ("workloads.lab.notebooks.memory", "2Gi", "9Gi"),
    ("controlPlane", "standard", "extended"),
]


def figures(file, *settings):
    """What a run of the scenario finds, without what was said to it; None where it is refused."""
    options = [option for setting in settings for option in ("--set", setting)]
    done = subprocess.run([BINARY, "run", "-f", file, "-o", "json", "--progress", "none", "--jobs", "1", *options],
                          capture_output=True, text=True, check=False, env=environment())
    if not done.stdout:
        return done.stderr
    variant = json.loads(done.stdout)["variants"][0]
    return {key: value for key, value in variant.items() if key not in ("provenance", "findings")}


class Defaults(unittest.TestCase):
    def test_runs_have_what_is_documented(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "defaults.yaml"
            file.write_text(BASE)
            for path, standard, other, *beside in IN_RUNS:
                with self.subTest(field=path):
                    without = figures(file, *beside)
                    self.assertIsInstance(without, dict, without)
                    self.assertEqual(figures(file, *beside, f"{path}={standard}"), without)
                    changed = figures(file, *beside, f"{path}={other}")
                    self.assertIsInstance(changed, dict, changed)
                    self.assertNotEqual(changed, without)


if __name__ == "__main__":
    main()
