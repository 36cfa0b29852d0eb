"""Requests at random beside others on a real H200 (models/measurements), and the same ones simulated."""

import csv
import json
import pathlib
import random
import statistics
import tempfile
import unittest

from program import ROOT, main, run

CATALOGUE = """apiVersion: slicewise.dev/v1alpha1
kind: Catalogue
date: 2026-11-26
regions: [lab]
instances:
- {name: lab.h200, vcpus: 16, memoryMib: 131072, gpu: {model: H200, count: 1}}
prices:
- {instanceType: lab.h200, region: lab, usdPerHour: 4}
"""
SCENARIO = """apiVersion: slicewise.dev/v1alpha1
kind: Scenario
metadata: {{name: h200}}
spec:
  region: lab
  duration: 2.5s
  warmup: 250ms
  nodePools:
  - name: h200
    instanceType: lab.h200
    {limits}devicePlugin:
      version: v1
      sharing: {{{way}: {{resources: [{{name: nvidia.com/gpu, replicas: 4}}]}}}}
  workloads:
"""
WORKLOAD = """  - name: w{number}
    kind: Service
    replicas: 1
    podTemplate:
      resources:
        requests: {{cpu: 500m, memory: 2Gi}}
        limits: {{nvidia.com/gpu: 1}}
    gpuMemory: {{allocator: OnDemand, resident: 4Gi}}
    measured: {{device: H200, requestGpuTime: {kernels:.5f}ms, smActive: {active:.1f}%,
               kernelTime: {kernel:.3f}us, cpu: 1, provenance: Measured}}
    serving: {{copies: false, cpuAfter: {host:.5f}ms}}
    traffic: {traffic}
"""


def measurements(name):
    with open(ROOT / "models" / name, encoding="utf-8") as file:
        return list(csv.DictReader(file))


class Workload:
    """A request alone, as measured: its time in ms, the share of it in which kernels run, and SMs meanwhile."""
    def __init__(self, name):
        alone = [row for row in measurements("validation/h200.csv")
                 if row["workload"] == name and not row["sharing"]]
        self.time = statistics.mean(float(row["latency_ms"]) for row in alone)
        busy = statistics.mean(float(row["gpu_util_percent"]) for row in alone) / 100
        self.kernels, self.host = self.time * busy, self.time * (1 - busy)
        self.active = statistics.mean(float(row["sm_active_percent"]) for row in alone) / busy
        self.kernel = statistics.mean(float(row["kernel_us"]) for row in alone)


def arrivals(row, first):
    draw, due = random.Random(int(row["seed"])), first
    while (due := due + draw.expovariate(float(row["rate_per_s"]))) < first + float(row["seconds"]):
        yield due


class OnAnH200(unittest.TestCase):
    def simulated(self, company):
        """The latencies of each row's requests, beside the row's neighbour or the other rows."""
        with tempfile.TemporaryDirectory() as folder:
            under_mps = company[0]["sharing"] == "mps"
            text = SCENARIO.format(way="mps" if under_mps else "timeSlicing",
                                   limits="mps: {uncapped: true}\n    " if under_mps else "")
            names = [row["workload"] for row in company]
            if company[0]["beside"] != "copies":
                names.append(company[0]["beside"])
            for number, name in enumerate(names):
                traffic = "{shape: ClosedLoop, clients: 1, thinkTime: 0s}"
                if number < len(company):
                    # A trace begins with its first request: one before the warm-up is over, at the same time for all.
                    pathlib.Path(folder, f"{number}.csv").write_text(
                        "time\n0\n" + "".join(f"{due:.6f}\n" for due in arrivals(company[number], 0.5)),
                        encoding="utf-8")
                    traffic = f"{{shape: Trace, trace: {{file: {number}.csv, timeColumn: time}}}}"
                workload = Workload(name)
                text += WORKLOAD.format(number=number, traffic=traffic, **vars(workload))
            pathlib.Path(folder, "catalogue.yaml").write_text(CATALOGUE, encoding="utf-8")
            scenario = pathlib.Path(folder, "h200.yaml")
            scenario.write_text(text, encoding="utf-8")
            result = run("run", "-f", str(scenario), "--catalogue", str(scenario.with_name("catalogue.yaml")),
                         "--replications", "2", "-o", "json")
            self.assertIn(result.returncode, (0, 99), result.stderr)  # some asked for more than there was
            workloads = json.loads(result.stdout)["variants"][0]["workloads"]
            return [workload["latencySeconds"] for workload in workloads[:len(company)]]

    def median_errors(self, sharing):
        rows = [row for row in measurements("validation/h200-requests.csv")
                if row["sharing"] == sharing]
        self.assertEqual(len(rows), 25)
        companies = []
        for row in rows:
            if row["beside"] == "copies" and row["seed"] != "17":
                companies[-1].append(row)
            else:
                companies.append([row])
        errors = {"mean": [], "p50": [], "p99": []}
        for company in companies:
            for row, latency in zip(company, self.simulated(company)):
                for figure, found in errors.items():
                    found.append(abs(1e3 * latency[figure] / float(row[figure + "_ms"]) - 1))
        return {figure: statistics.median(found) for figure, found in errors.items()}

    def test_latencies_in_turns_are_as_measured(self):
        medians = self.median_errors("time-slicing")
        self.assertLess(medians["mean"], 0.04, medians)
        self.assertLess(medians["p50"], 0.07, medians)
        self.assertLess(medians["p99"], 0.08, medians)

    def test_latencies_under_mps_are_near_to_those_measured(self):
        medians = self.median_errors("mps")
        self.assertLess(medians["mean"], 0.09, medians)
        self.assertLess(medians["p50"], 0.09, medians)
        self.assertLess(medians["p99"], 0.12, medians)


if __name__ == "__main__":
    main()
