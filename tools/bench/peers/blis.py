#!/usr/bin/env python3
"""Language models served by slicewise and by BLIS, side by side: the same requests, step law and limits.

    tools/bench/peers/blis.py build/release/tools/slicewise/slicewise CHECKOUT TRACES

CHECKOUT is github.com/inference-sim/inference-sim, which Go builds; TRACES a folder with azure_llm/ and
mooncake/. Medians and p99 of every request of ours and of BLIS', and how far ours are off; CPU seconds are
user + system of one run each, reading the requests and writing the figures included.
"""

import argparse
import csv
import datetime
import json
import pathlib
import random
import resource
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
# Llama-3-8B on A100-80GB, in microseconds (slicewise get models): weights, token, cache, overhead.
LAW = (9800, 67.5, 0.09183, 600)
TOKEN_KIB = 128  # of the cache
SCENARIO = """
apiVersion: slicewise.dev/v1alpha1
kind: Scenario
metadata: {{name: peers}}
spec:
  duration: {duration}s
  replications: 1
  nodePools: [{{name: gpu, instanceType: p4de.24xlarge, nodes: 1}}]
  workloads:
  - name: chat
    kind: Service
    podTemplate: {{resources: {{limits: {{nvidia.com/gpu: 1}}}}}}
    llm:
      step: {{weightsTime: {law[0]}us, tokenTime: {law[1]}us, cacheReadTime: {law[2]}us, overhead: {law[3]}us}}
      weights: 15Gi
      kvBytesPerToken: {token_kib}Ki
      kvCache: {cache}Ki
      blockSize: {block}
      maxSequences: {sequences}
      maxBatchedTokens: {tokens}
    traffic: {{shape: Trace, trace: {{file: requests.csv}}}}
"""


def azure(traces):
    """The trace of code completion (Splitwise, Azure 2023)."""
    with (traces / "azure_llm/AzureLLMInferenceTrace_code.csv").open() as file:
        rows = list(csv.DictReader(file))
    at = [datetime.datetime.fromisoformat(row["TIMESTAMP"][:26]) for row in rows]
    return [(round((t - at[0]).total_seconds() * 1e6), int(row["ContextTokens"]), int(row["GeneratedTokens"]), ())
            for t, row in zip(at, rows)]


def mooncake(traces, slower):
    """Its synthetic trace, whose prompts begin alike, with `slower` times as long between requests."""
    with (traces / "mooncake/synthetic_trace.jsonl").open() as file:
        rows = [json.loads(line) for line in file]
    return [(1000 * slower * row["timestamp"], row["input_length"], row["output_length"], row["hash_ids"]) for row in rows]


def poisson(rate, count):
    """Chats at random: prompts and answers log-normal, as long as those of chat-llm.yaml."""
    dice, at, requests = random.Random(1), 0, []
    for _ in range(count):
        at += dice.expovariate(rate / 1e6)
        requests.append((round(at), min(8192, max(1, round(1020 * dice.lognormvariate(0, 0.602)))),
                         min(2048, max(1, round(129 * dice.lognormvariate(0, 0.661)))), ()))
    return requests


def cpu_seconds(command, **options):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = subprocess.run([*map(str, command)], stdout=subprocess.PIPE, text=True, check=True, **options)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, result.stdout


def of_slicewise(program, folder, requests, limits):
    hashes = any(request[3] for request in requests)
    with (folder / "requests.csv").open("w") as file:
        file.write("arrival_s,inputTokens,outputTokens" + (",hash_ids\n" if hashes else "\n"))
        for at, given, answer, blocks in requests:
            file.write(f"{at / 1e6:.6f},{given},{answer}" + ("," + " ".join(map(str, blocks)) if hashes else "") + "\n")
    (folder / "peers.yaml").write_text(SCENARIO.format(
        law=LAW, token_kib=TOKEN_KIB, duration=requests[-1][0] // 1_000_000 + 3600,
        cache=limits["blocks"] * limits["block"] * TOKEN_KIB, **limits))
    seconds, out = cpu_seconds([program, "run", "-q", "-j", "1", "-o", "json", "-f", folder / "peers.yaml"])
    workload = json.loads(out)["variants"][0]["workloads"][0]
    assert workload["requests"]["answered"] == len(requests), workload["requests"]
    tokens = workload["tokens"]
    figures = [summary[name] * 1000 for summary in (tokens["firstTokenSeconds"], tokens["perTokenSeconds"],
                                                    workload["latencySeconds"]) for name in ("p50", "p99")]
    return seconds, figures, tokens["preemptions"]


def quantile(values, q):
    return sorted(values)[min(len(values) - 1, int(q * len(values)))]


def of_blis(peer, requests, limits):
    lines = "".join(f"{at} {given} {answer} {' '.join(map(str, blocks))}\n" for at, given, answer, blocks in requests)
    seconds, out = cpu_seconds([peer, ",".join(map(str, LAW)), limits["sequences"], limits["tokens"], limits["blocks"],
                                limits["block"]], input=lines)
    *rows, preemptions = out.splitlines()
    rows = [[int(value) / 1000 for value in row.split()] for row in rows]
    first, whole = [row[0] for row in rows], [row[1] for row in rows]
    per_token = [(all_ - ttft) / (request[2] - 1) for all_, ttft, request in zip(whole, first, requests) if request[2] > 1]
    return seconds, [quantile(values, q) for values in (first, per_token, whole) for q in (0.5, 0.99)], int(preemptions)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("slicewise", type=pathlib.Path)
    parser.add_argument("checkout", type=pathlib.Path)
    parser.add_argument("traces", type=pathlib.Path)
    given = parser.parse_args()
    roomy = {"sequences": 256, "tokens": 2048, "blocks": 30_000, "block": 16}
    shared = {"tokens": 8192, "blocks": 28_800}
    cases = {
        "Azure's code": (azure(given.traces), roomy),
        "the same, 2,000 blocks": (azure(given.traces), roomy | {"blocks": 2000}),
        "chats at random, 7/s": (poisson(7, 20_000), roomy),
        "the same, 32 sequences": (poisson(7, 20_000), roomy | {"sequences": 32}),
        "6/s, 3,000 blocks": (poisson(6, 20_000), roomy | {"blocks": 3000}),
        "Mooncake, at an 8th": (mooncake(given.traces, 8), roomy | shared),
        "Mooncake, at a 4th": (mooncake(given.traces, 4), roomy | shared),
    }
    print(f"{'':26} {'':9}" + "".join(f"{name:>12}" for name in ("TTFT p50", "p99", "TPOT p50", "p99", "E2E p50", "p99"))
          + "   PREEMPTED  CPU S")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        peer = folder / "blis"
        subprocess.run(["go", "build", "-o", peer, HERE / "blis.go"], cwd=given.checkout, check=True)
        for what, (requests, limits) in cases.items():
            ours = of_slicewise(given.slicewise.resolve(), folder, requests, limits)
            theirs = of_blis(peer, requests, limits)
            for who, (seconds, figures, preempted) in (("slicewise", ours), ("BLIS", theirs)):
                print(f"{what:26} {who:9}" + "".join(f"{figure:9.1f} ms" for figure in figures)
                      + f"{preempted:12} {seconds:6.2f}")
                what = ""
            print(f"{'':36}" + "".join(f"{100 * (a / b - 1):+10.2f} %" for a, b in zip(ours[1], theirs[1])), flush=True)


if __name__ == "__main__":
    main()
