#!/usr/bin/env python3
"""Measures steps of your own on this GPU: alone, as copies and in pairs, in turns and under MPS.

  measure_steps.py my_steps.py --out mine.csv      # a second for each company, then anywhere:
  slicewise calibrate mine.csv --out profiles.yaml
  slicewise validate measurements --measurements mine.csv

my_steps.py has a dict STEPS of names and functions. Each builds a workload and returns its step: a function
that does one batch and comes back when the GPU is done, as `lambda: (graph.replay(), torch.cuda.synchronize())`.
Every process of a company is one of the operating system's, as pods are. Under MPS is measured where a daemon
listens (CUDA_MPS_PIPE_DIRECTORY, else /tmp/nvidia-mps); processes in turns do not see it. Shares of SMs and
memory need nvidia-ml-py and a GPU from Hopper on. Exit codes: 0 measured; 1 a process failed; 2 wrong use.
"""

import argparse
import csv
import datetime
import itertools
import json
import os
import runpy
import subprocess
import sys
import time

GPM_SHARES = {"gpu_util_percent": 1, "sm_active_percent": 2, "dram_active_percent": 10}  # nvmlGpmMetricId_t
COLUMNS = ["workload", "gpu", "latency_ms", "sharing", "clients", "beside", *GPM_SHARES, "driver", "date"]
NO_MPS = "/nonexistent/mps"


def serve(file):
    """A process of a company: builds what it is told, and runs it from a moment on for some seconds."""
    steps, built = runpy.run_path(file)["STEPS"], {}
    for line in sys.stdin:
        order = json.loads(line)
        name = order["workload"]
        if name not in built:
            built[name] = steps[name]()
            for _ in range(5):  # what the first ones load is not measured
                built[name]()
        done = 0
        if "start" in order:
            time.sleep(max(0.0, order["start"] - time.monotonic()))
            begin = time.monotonic()
            while time.monotonic() < order["start"] + order["seconds"]:
                built[name]()
                done += 1
            print(json.dumps((time.monotonic() - begin) / max(1, done)), flush=True)
        else:
            print("null", flush=True)


class Process:
    def __init__(self, file, pipes):
        self.built = set()
        self.process = subprocess.Popen(
            [sys.executable, __file__, file, "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "CUDA_MPS_PIPE_DIRECTORY": pipes})

    def tell(self, **order):
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit("error: a process died; its last words are above")
        return json.loads(line)


class Gpu:
    """Name, driver and activity by NVML; what it does not tell stays empty."""
    def __init__(self):
        self.name = self.driver = ""
        self.samples = []
        try:
            import pynvml
            pynvml.nvmlInit()
            self.nvml, self.device = pynvml, pynvml.nvmlDeviceGetHandleByIndex(0)
            self.name = pynvml.nvmlDeviceGetName(self.device).replace(" ", "-")
            self.driver = pynvml.nvmlSystemGetDriverVersion()
            self.samples = [pynvml.nvmlGpmSampleAlloc() for _ in range(2)]
            self.look(0)
        except Exception as why:  # no package, no GPU, or one before Hopper
            self.samples = []
            print(f"without shares of the GPU: {why}", file=sys.stderr)

    def look(self, sample):
        if self.samples:
            self.nvml.nvmlGpmSampleGet(self.device, self.samples[sample])

    def shares(self):
        """Between both looks, percent."""
        if not self.samples:
            return {}
        query = self.nvml.c_nvmlGpmMetricsGet_t()
        query.version, query.numMetrics = self.nvml.NVML_GPM_METRICS_GET_VERSION, len(GPM_SHARES)
        query.sample1, query.sample2 = self.samples
        for i, metric in enumerate(GPM_SHARES.values()):
            query.metrics[i].metricId = metric
        self.nvml.nvmlGpmMetricsGet(query)
        return {name: f"{query.metrics[i].value:.4g}" for i, name in enumerate(GPM_SHARES)}


def run(processes, names, seconds, gpu):
    """Mean seconds of a step of each, and the shares of the GPU meanwhile."""
    lead, margin = 0.2, 0.05 * seconds
    for process, name in zip(processes, names):
        if name not in process.built:
            process.tell(workload=name)
            process.answer()
            process.built.add(name)
    start = time.monotonic() + lead
    for process, name in zip(processes, names):
        process.tell(workload=name, start=start, seconds=seconds)
    time.sleep(lead + margin)
    gpu.look(0)
    time.sleep(seconds - 2 * margin)
    gpu.look(1)
    return [process.answer() for process in processes[:len(names)]], gpu.shares()


def measure(options, names, write):
    gpu = Gpu()
    common = {"gpu": options.gpu or gpu.name, "driver": gpu.driver, "date": datetime.date.today().isoformat()}
    pipes = os.environ.get("CUDA_MPS_PIPE_DIRECTORY", "/tmp/nvidia-mps")
    ways = {"time-slicing": NO_MPS, **({"mps": pipes} if os.path.exists(os.path.join(pipes, "control")) else {})}
    for sharing, directory in ways.items():
        processes = [Process(options.steps, directory) for _ in range(max(2, *options.copies))]
        for name in names if sharing == "time-slicing" else ():
            (alone,), shares = run(processes, [name], options.seconds, gpu)
            write({**common, "workload": name, "latency_ms": f"{1e3 * alone:.4g}", **shares})
        companies = [[name] * n for name in names for n in options.copies] + list(itertools.combinations(names, 2))
        for company in companies:
            times, _ = run(processes, company, options.seconds, gpu)
            if len(set(company)) == 1:
                write({**common, "workload": company[0], "sharing": sharing, "clients": len(company),
                       "latency_ms": f"{1e3 * sum(times) / len(times):.4g}"})
                continue
            for name, beside, seconds in zip(company, company[::-1], times):
                write({**common, "workload": name, "sharing": sharing, "beside": beside,
                       "latency_ms": f"{1e3 * seconds:.4g}"})
        for process in processes:
            process.process.stdin.close()
            process.process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("steps", help="Python file with the dict STEPS")
    parser.add_argument("--out", default="-", help="write the rows here (default: standard output)")
    parser.add_argument("--seconds", type=float, default=1, help="of each company (default 1)")
    parser.add_argument("--copies", type=int, nargs="*", default=[2, 4], help="of one workload (default 2 4)")
    parser.add_argument("--gpu", help="the GPU's name, where NVML does not tell")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        return serve(options.steps)
    try:
        names = list(runpy.run_path(options.steps)["STEPS"])
    except (OSError, KeyError) as why:
        parser.error(f"{options.steps} has no STEPS: {why}")
    with open(options.out, "w", newline="", encoding="utf-8") if options.out != "-" else sys.stdout as out:
        table = csv.DictWriter(out, COLUMNS, lineterminator="\n")
        table.writeheader()
        measure(options, names, lambda row: (table.writerow(row), out.flush()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
