"""Scenarios that replay a trace file, as people run them."""

import json
import pathlib
import tempfile
import unittest

from program import ROOT, run

FILE_UNREADABLE = 5
INPUT_INVALID = 3
SHARED = ROOT.parent / "shared/traces/azure_llm/AzureLLMInferenceTrace_code.csv"

SCENARIO = """
apiVersion: slicewise.dev/v1alpha1
kind: Scenario
metadata: {name: replay}
spec:
  duration: 1h
  replications: 1
  nodePools: [{name: gpu, instanceType: g6e.xlarge, nodes: 6}]
  workloads:
  - name: code
    kind: Service
    replicas: 6
    podTemplate: {resources: {limits: {nvidia.com/gpu: 1}}}
    llm: {model: llama-3-8b-fp16/a100-80gb}
    serving: {routing: LeastOutstanding}
    traffic: {shape: Trace, trace: %s}
"""

# Ten requests, a second apart, from 10:00:01 on; the n-th has 100 n + 1 tokens in and n out.
ROWS = "".join(f"2023-11-16 10:00:{n:02}.0000000,{100 * n + 1},{n}\r\n" for n in range(1, 11))
TRACE = "TIMESTAMP,ContextTokens,GeneratedTokens\r\n" + ROWS


class RequestTraces(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def replay(self, choice, trace=TRACE, code=0):
        (self.folder / "requests.csv").write_bytes(trace.encode())
        file = self.folder / "scenario.yaml"
        file.write_text(SCENARIO % choice, encoding="utf-8")
        result = run("run", "-f", str(file), "-o", "json")
        self.assertEqual(result.returncode, code, result.stderr)
        if code != 0:
            return result.stderr
        return json.loads(result.stdout)["variants"][0]["workloads"][0]

    def test_every_row_is_a_request_with_its_tokens(self):
        workload = self.replay("{file: requests.csv}")
        self.assertEqual(workload["requests"]["arrived"], 10)
        # The first comes with the pods: they are warm before their traffic.
        self.assertEqual(workload["requests"]["refused"], 0)
        self.assertEqual(workload["tokens"]["output"], sum(range(1, 11)))
        self.assertEqual(workload["tokens"]["input"], sum(100 * n + 1 for n in range(1, 11)))

    def test_a_window_takes_part_of_it_and_repeating_fills_the_run(self):
        self.assertEqual(self.replay("{file: requests.csv, from: 2s, length: 3s}")
                         ["requests"]["arrived"], 3)
        # Ten a second apart, and a gap of one second before it starts again: one a second, the
        # last as the hour ends.
        repeated = self.replay("{file: requests.csv, repeat: true}")["requests"]["arrived"]
        self.assertEqual(repeated, 3601)
        twice = self.replay("{file: requests.csv, repeat: true, scale: 2}")["requests"]["arrived"]
        self.assertEqual(twice, 7201)

    def test_mistakes_are_shown_in_the_trace_itself(self):
        bad = TRACE.replace(",301,3", ",many,3")
        message = self.replay("{file: requests.csv}", bad, INPUT_INVALID)
        self.assertIn("requests.csv:4:", message)
        self.replay("{file: elsewhere.csv}", code=FILE_UNREADABLE)

    def test_the_azure_code_trace_to_the_token(self):
        if not SHARED.is_file():
            self.skipTest(f"{SHARED} is not here")
        workload = self.replay("{file: requests.csv}", SHARED.read_bytes().decode())
        requests = workload["requests"]
        self.assertEqual((requests["arrived"], requests["answered"], requests["refused"]),
                         (8819, 8819, 0))
        # Sums of the file (awk).
        self.assertEqual(workload["tokens"]["input"], 18059974)
        self.assertEqual(workload["tokens"]["output"], 245896)


if __name__ == "__main__":
    unittest.main()
