#!/usr/bin/env python3
"""Plans of ParvaGPU's published problems, beside the GPUs that its allocator takes for them.

    tools/bench/plan_oracle/parvagpu.py build/release/tools/slicewise/slicewise CHECKOUT --sets 1,2,3

CHECKOUT is one of github.com/MunQ-Lee/ParvaGPU_SC24 (SC24, doi 10.1109/SC41406.2024.00048): times of 11 models
on slices of an A100 80GB with one to five processes (prof_data), six sets of rates and limits (SLO), and
what its allocator makes of them (deployment). `slicewise calibrate` fits the times, and each set is planned on nodes of
one A100: with MIG alone and MPS in its slices, as ParvaGPU has them, and by all ways of sharing.

ParvaGPU asks of a slice that it answers as many requests as arrive, and of a batch that it takes less than the
limit; a plan's pods answer requests that arrive at random, 99 of 100 within the limit. Memory is not published: 2 GiB
a process are Assumed.
"""

import argparse
import csv
import json
import math
import pathlib
import subprocess
import tempfile

SLICES = {1: "1g.10gb", 2: "2g.20gb", 3: "3g.40gb", 4: "4g.40gb", 7: "7g.80gb"}
GPU = "A100-SXM4-80GB"
HOURS_A_MONTH = 730
NODES = {
    "apiVersion": "slicewise.dev/v1alpha1", "kind": "Catalogue", "regions": ["lab"],
    "instances": [{"name": "lab.a100", "vcpus": 64, "memoryMib": 524288, "gpu": {"model": GPU, "count": 1}}],
    "prices": [{"instanceType": "lab.a100", "region": "lab", "usdPerHour": 1}],
}


def tables(checkout):
    """Of each model: (slice, batch, processes) and the ms of a batch; without what ran out of memory."""
    found = {}
    for file in sorted(checkout.glob("prof_data/*.csv")):
        rows = found[file.stem] = {}
        for width, batch, processes, rate, _ in list(csv.reader(file.open(encoding="utf-8")))[1:]:
            if float(rate) > 0:
                rows[int(width), int(batch), int(processes)] = 1000 * int(batch) / float(rate)
    return found


def profiles(program, times, folder):
    """The file of profiles that calibrate makes of all tables."""
    measured, fitted = folder / "measured.csv", folder / "profiles.yaml"
    with measured.open("w", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("workload", "gpu", "slice", "sharing", "clients", "batch", "latency_ms"))
        for model, rows in times.items():
            for (width, batch, processes), ms in rows.items():
                writer.writerow((model, GPU, SLICES[width], "mps" if processes > 1 else "alone", processes, batch, ms))
    subprocess.run([program, "calibrate", "-f", measured, "--out", fitted, "-q"], check=True, stdout=subprocess.DEVNULL)
    return fitted


def service(name, model, rate, limit, batch, pods, resource="nvidia.com/gpu"):
    return {
        "name": name, "kind": "Service", "replicas": pods, "profile": f"{model}/{GPU.lower()}/b1",
        "podTemplate": {"resources": {"requests": {"cpu": "100m", "memory": "1Gi"}, "limits": {resource: 1}}},
        "gpuMemory": {"resident": "2Gi"}, "serving": {"batching": {"maxBatch": batch}},
        "traffic": {"shape": "Poisson", "mean": f"{rate}/s"}, "slo": {"latencyP99": f"{limit}ms"},
    }


def scenario(number, pools, services, files):
    return {
        "apiVersion": "slicewise.dev/v1alpha1", "kind": "Scenario", "metadata": {"name": f"parvagpu-{number}"},
        "spec": {"region": "lab", "controlPlane": "none", "duration": "30s", "warmup": "5s", "profileFiles": files,
                 "nodePools": pools, "workloads": services, "planning": {"instanceTypes": ["lab.a100"]}},
    }


def objectives(checkout, number, models):
    """Model, requests per second and limit in ms of a set; models that it leaves out are N/A."""
    rates, limits = ((checkout / "SLO" / name).read_text(encoding="utf-8").splitlines()[number - 1].split(",")
                     for name in ("SLO_req_rate.csv", "SLO_latency.csv"))
    return [(model, float(rate), float(limit)) for model, rate, limit in zip(models, rates, limits)
            if rate.strip() != "N/A"]


def problem(number, asked, times, files):
    """With as many pods as keep two seventh of a GPU 60 % busy, each."""
    services = []
    for model, rate, limit in asked:
        batches = {batch: ms for (width, batch, processes), ms in times[model].items()
                   if width == 2 and processes == 1 and (ms <= limit / 2 or batch == 1)}
        pods = math.ceil(rate * min(ms / batch for batch, ms in batches.items()) / 1000 / 0.6)
        services.append(service(model, model, rate, limit, max(batches), pods))
    nodes = sum(each["replicas"] for each in services)
    return scenario(number, [{"name": "gpu", "instanceType": "lab.a100", "nodes": nodes}], services, files)


def as_published(number, asked, times, segments, files):
    """ParvaGPU's slices, each as if alone on a GPU, with its part of the requests by what it can do."""
    pools, services = [], []
    can_do = [int(each["Num proc"]) * 1000 * int(each["Batch size"]) /
              times[each["Model"]][tuple(int(each[key]) for key in ("Instance size", "Batch size", "Num proc"))]
              for each in segments]
    for model, rate, limit in asked:
        whole = sum(c for c, each in zip(can_do, segments) if each["Model"] == model)
        for s, each in enumerate(segments):
            if each["Model"] != model:
                continue
            processes, resource = int(each["Num proc"]), f"nvidia.com/mig-{SLICES[int(each['Instance size'])]}"
            devices = {"devices": "all", "mig-enabled": True, "mig-devices": {resource.split("mig-")[1]: 1}}
            pool = {"name": f"p{s}", "instanceType": "lab.a100", "nodes": 1, "labels": {"parvagpu/slice": f"p{s}"},
                    "mig": {"strategy": "mixed", "config": "own", "configs": {"own": [devices]}}}
            if processes > 1:
                pool |= {"mps": {"force": True}, "devicePlugin": {"version": "v1", "sharing": {"mps": {
                    "resources": [{"name": resource, "replicas": processes}]}}}}
            made = service(f"{model}-{s}", model, rate * can_do[s] / whole, limit, int(each["Batch size"]), processes,
                           resource)
            made["podTemplate"]["nodeSelector"] = {"parvagpu/slice": f"p{s}"}
            pools.append(pool)
            services.append(made)
    return scenario(number, pools, services, files)


def ask(program, verb, made, folder, *more):
    file = folder / "scenario.json"
    file.write_text(json.dumps(made), encoding="utf-8")
    said = subprocess.run([program, verb, "-f", file, "-q", "-o", "json", *more], capture_output=True, text=True,
                          check=False)
    return json.loads(said.stdout) if said.stdout.strip() else None


def planned(program, made, folder, *more):
    """GPUs of the best option; none where nothing stands."""
    plan = ask(program, "plan", made, folder, "--vary-pods", "4", "--no-headroom", "--no-flips", "--no-risk", *more)
    return round(plan["options"][0]["monthlyUsd"] / HOURS_A_MONTH) if plan and plan["options"] else None


def late(program, made, folder):
    """Of how many services more than one request in a hundred is late."""
    result = ask(program, "run", made, folder)["variants"][0]
    return sum(not all(o["pass"] for o in each["objectives"]) for each in result["workloads"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("checkout", type=pathlib.Path)
    parser.add_argument("--sets", default="1,2,3,4", help="which of the six (default 1,2,3,4)")
    arguments = parser.parse_args()
    times = tables(arguments.checkout)
    print("SET  SERVICES  REQUESTS/S  PARVAGPU  SLICES  LATE  MIG, MIG + MPS  ALL WAYS")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        nodes = folder / "nodes.json"
        nodes.write_text(json.dumps(NODES), encoding="utf-8")
        files = [str(profiles(arguments.program, times, folder)), str(nodes)]
        for number in map(int, arguments.sets.split(",")):
            asked = objectives(arguments.checkout, number, times)
            deployment = arguments.checkout / f"deployment/SLO{number}/SLO{number}_ParvaGPU_deploy.csv"
            with deployment.open(encoding="utf-8") as file:
                segments = list(csv.DictReader(file))
            gpus = len({(each["Num instance"], each["Num GPU"]) for each in segments})
            missed = late(arguments.program, as_published(number, asked, times, segments, files), folder)
            made = problem(number, asked, times, files)
            alike = planned(arguments.program, made, folder, "--strategies", "mig,mig+mps")
            best = planned(arguments.program, made, folder, "--dra")
            print(f"{number:3}  {len(asked):8}  {sum(rate for _, rate, _ in asked):10.0f}  {gpus:8}  {len(segments):6}  "
                  f"{missed:4}  {alike or 'none':>14}  {best or 'none':>8}", flush=True)


if __name__ == "__main__":
    main()
