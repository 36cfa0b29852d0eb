"""Prefix caching against a few lines of Python, prompt by prompt."""

import collections
import json
import pathlib
import random
import tempfile
import unittest

from program import ROOT, run

SHARED = ROOT.parent / "shared/traces/mooncake/synthetic_trace.jsonl"
HASHED = 512  # tokens of a block of the trace
BLOCK = 16  # tokens of a block of vLLM

# One server that works on one request at a time: then the order is that of the file.
SCENARIO = """
apiVersion: slicewise.dev/v1alpha1
kind: Scenario
metadata: {name: prefixes}
spec:
  duration: 10h
  replications: 1
  nodePools: [{name: gpu, instanceType: g6e.xlarge, nodes: 1}]
  workloads:
  - name: chat
    kind: Service
    podTemplate: {resources: {limits: {nvidia.com/gpu: 1}}}
    llm:
      step: {weightsTime: 10us, tokenTime: 10ns, cacheReadTime: 1ns, overhead: 0}
      weights: 1Gi
      kvBytesPerToken: 1Ki
      kvCache: %dKi
      maxSequences: 1
      maxBatchedTokens: 8192
      prefixCaching: %s
    traffic: {shape: Trace, trace: {file: requests.csv}}
"""


def conversations(seed):
    """Requests of people who ask again after each answer, as Mooncake has them."""
    dice, ids, talks, requests = random.Random(seed), 0, [], []
    for n in range(600):
        if not talks or dice.random() < 0.3:
            talks.append([0, []])
        talk = dice.choice(talks[-20:])
        if talk[0] > 30_000:
            talks.remove(talk)
        talk[0] += dice.randrange(1, 3000)
        while len(talk[1]) * HASHED < talk[0]:
            # The last block grows by what was asked anew: it is another one.
            talk[1] = talk[1][:(talk[0] - 1) // HASHED]
            talk[1] += range(ids, ids + (talk[0] + HASHED - 1) // HASHED - len(talk[1]))
            ids = max(ids, talk[1][-1] + 1)
        requests.append({"timestamp": 1000 * n, "input_length": talk[0],
                         "output_length": dice.randrange(1, 800), "hash_ids": list(talk[1])})
    return requests


def share_found(requests, pool):
    """Of all tokens of prompts, with the least recently used going first out of a pool of tokens."""
    kept, held, found, total = collections.OrderedDict(), 0, 0, 0
    for n, request in enumerate(requests):
        tokens = request["input_length"]
        blocks = request["hash_ids"][:tokens // HASHED]
        there = 0
        for block in blocks:
            there += kept.get(block, 0)
            if kept.get(block, 0) < HASHED:
                break
        found += min(there, tokens - 1) // BLOCK * BLOCK
        total += tokens
        for block in blocks:
            held -= kept.pop(block, 0)
        needed = tokens + request["output_length"] - 1
        while held + needed > pool:
            oldest = next(iter(kept))
            gone = min(kept[oldest], held + needed - pool)
            kept[oldest] -= gone
            held -= gone
            if kept[oldest] == 0:
                del kept[oldest]
        kept["own", n] = needed - HASHED * len(blocks)
        for block in reversed(blocks):
            kept[block] = HASHED
        held += needed
    return found / total


class PrefixCaching(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, requests):
        log = self.folder / "log.jsonl"
        log.write_text("".join(json.dumps(request) + "\n" for request in requests))
        imported = run("import", "mooncake", "-q", "-f", str(log), "-o", "trace", "--out",
                       str(self.folder / "requests.csv"))
        self.assertEqual(imported.returncode, 0, imported.stderr)

    def simulated(self, pool, caching="true"):
        file = self.folder / "scenario.yaml"
        file.write_text(SCENARIO % (pool, caching))
        result = run("run", "-f", str(file), "-o", "json")
        self.assertEqual(result.returncode, 0, result.stderr)
        workload = json.loads(result.stdout)["variants"][0]["workloads"][0]
        self.assertEqual(workload["requests"]["answered"], workload["requests"]["arrived"])
        return workload["tokens"].get("prefixHitRatio", 0)

    def check(self, requests, pools):
        self.write(requests)
        for pool in pools:
            with self.subTest(pool=pool):
                self.assertAlmostEqual(self.simulated(pool), share_found(requests, pool), delta=1e-9)

    def test_conversations_are_found_to_the_token(self):
        requests = conversations(7)
        self.check(requests, (40_000, 100_000, 300_000, 20_000_000))
        self.assertEqual(self.simulated(100_000, "false"), 0)

    # Without a limit to the cache: 65.0 % of all tokens.
    def test_mooncake_is_found_to_the_token(self):
        if not SHARED.is_file():
            self.skipTest(f"{SHARED} is not here")
        requests = [json.loads(line) for line in SHARED.read_text().splitlines()]
        self.check(requests, (250_000, 1_000_000, 30_000_000))


if __name__ == "__main__":
    unittest.main()
