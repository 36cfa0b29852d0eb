"""What is said where the program breaks, what a report of that holds, and input without an end."""

import hashlib
import json
import pathlib
import signal
import subprocess
import tempfile
import unittest

from program import BINARY, EXAMPLE, ROOT, TIMEOUT_S, environment, interrupt_at_work, run


class Crashes(unittest.TestCase):
    def test_a_signal_says_what_to_report_and_ends_the_program_as_ever(self):
        digest = hashlib.sha256((ROOT / EXAMPLE).read_bytes()).hexdigest()
        for number in (signal.SIGSEGV, signal.SIGABRT, signal.SIGFPE, signal.SIGBUS, signal.SIGILL):
            process = subprocess.Popen([BINARY, "run", "-f", EXAMPLE, "--replications", "100000", "-q"], cwd=ROOT,
                                       env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            interrupt_at_work(process, 0, number)
            output, errors = process.communicate(timeout=TIMEOUT_S)
            self.assertEqual((process.returncode, output), (-number, ""))
            self.assertIn(f"slicewise: crashed ({number.name}:", errors)
            for words in ("This is a bug", "version: 0", "commit: ", f"run -f {EXAMPLE} --replications 100000",
                          f"scenario: {digest}, seed 42"):
                self.assertIn(words, errors)

    def test_a_stack_that_overflows_does_too(self):
        for kib in (64, 56, 48, 40, 32, 24, 16):
            process = subprocess.run(["bash", "-c", f"ulimit -s {kib}; exec {BINARY} run -f {EXAMPLE} -q"], cwd=ROOT,
                                     env=environment(), capture_output=True, text=True, timeout=TIMEOUT_S,
                                     check=False)
            if process.returncode < 0:  # else that was enough
                return self.assertIn("slicewise: crashed (SIGSEGV", process.stderr)
        return self.fail("no stack was too small")


def figures(text, *arguments):
    """The document of a run without what names say."""
    document = json.loads(run("run", "-f", "-", "-o", "json", "--replications", "1", *arguments, stdin=text).stdout)
    numbers = []

    def walk(value):
        for inside in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            walk(inside)
        if isinstance(value, (int, float)):
            numbers.append(value)
    walk([[variant[key] for key in ("workloads", "gpus", "cost", "pods", "nodePools")]
          for variant in document["variants"]])
    return numbers


class BugReport(unittest.TestCase):
    def test_it_holds_no_name_and_has_the_same_figures(self):
        for name in ("aws-cifar10", "shared-inference", "mig-multi-tenant"):
            file = ROOT / f"scenarios/examples/{name}.yaml"
            with self.subTest(name=name):
                packed = run("bugreport", "-f", str(file))
                self.assertEqual(packed.returncode, 0, packed.stderr)
                self.assertEqual(figures(packed.stdout), figures(file.read_text(encoding="utf-8")))
        packed = run("bugreport", "-f", "scenarios/examples/shared-inference.yaml", "--command",
                     "run --variant shared --set workloads.classifier.replicas=3").stdout
        for word in ("classifier", "trainer", "shared-inference", "description", "It reads"):
            self.assertNotIn(word, packed)
        with_trace = run("bugreport", "-f", "scenarios/examples/recorded-autoscaled.yaml").stdout
        self.assertEqual(with_trace.count("# It reads "), 1)
        self.assertRegex(packed, r"# version: \d+\.\d+\.\d+, commit ")
        self.assertRegex(packed, r"# command: run --variant n\w{12} --set workloads\.n\w{12}\.replicas=3\n")

    def test_every_example_is_packed_and_what_cannot_be_says_so(self):
        for file in sorted((ROOT / "scenarios/examples").glob("*.yaml")):
            packed = run("bugreport", "-f", str(file))
            self.assertEqual(packed.returncode, 0, f"{file}: {packed.stderr}")
        for file, mistake in (("tests/scenarios/ten_mistakes.yaml", r"ten_mistakes\.yaml:4:9: error\[NAME_INVALID\]"),
                              ("scenarios/examples/cluster/nodes.yaml", r"nodes\.yaml:3:7: .*NodePool")):
            refused = run("bugreport", "-f", file)
            self.assertEqual((refused.returncode, refused.stdout), (3, ""))
            self.assertRegex(refused.stderr, mistake)
            self.assertIn("error: this cannot be packed: ", refused.stderr)

    def test_words_of_the_format_stay_and_variables_go(self):
        scenario = (ROOT / EXAMPLE).read_text(encoding="utf-8").replace("cifar10", "count")
        packed = run("bugreport", "-f", "-", stdin=scenario)
        self.assertEqual(packed.returncode, 0, packed.stderr)
        self.assertIn("name: count", packed.stdout)
        secret = scenario.replace("podTemplate:", "podTemplate:\n      env: {PASSWORD: hunter2, "
                                  "TF_FORCE_GPU_ALLOW_GROWTH: 'true'}", 1)
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder, "report.yaml")
            self.assertEqual(run("bugreport", "-f", "-", "-o", str(out), stdin=secret).returncode, 0)
            self.assertNotIn("hunter2", out.read_text(encoding="utf-8"))
            self.assertIn("TF_FORCE_GPU_ALLOW_GROWTH", out.read_text(encoding="utf-8"))

    def test_domains_taints_and_lone_variables_go(self):
        public = "nvidia.com/gpu.present: 'true'"
        scenario = (ROOT / "scenarios/examples/shared-inference.yaml").read_text(encoding="utf-8")
        scenario = scenario.replace("instanceType:", f"""labels: {{secretco.com/team: apollo, {public}}}
    taints: [{{key: secretco-only, value: hera, effect: NoSchedule}}]
    instanceType:""")
        for variables in ("{DB_PASSWORD: hunter2}", "[{name: DB_PASSWORD, value: hunter2}]"):
            named = scenario.replace("podTemplate:", f"""podTemplate:
      env: {variables}
      nodeSelector: {{secretco.com/team: apollo}}
      tolerations: [{{key: secretco-only, operator: Equal, value: hera, effect: NoSchedule}}]""")
            packed = run("bugreport", "-f", "-", "--command", "run --group-by label:secretco.com/team",
                         stdin=named)
            self.assertEqual(packed.returncode, 0, packed.stderr)
            for word in ("secretco", "apollo", "hera", "PASSWORD", "hunter2", "env:"):
                self.assertNotIn(word, packed.stdout)
            for word in (public.split(":", 1)[0], "NoSchedule", "Equal"):
                self.assertIn(word, packed.stdout)
            self.assertIn(run("check", "-f", "-", stdin=packed.stdout).returncode, (0, 99), packed.stdout)

    def test_names_that_stay_for_the_sake_of_a_trace_are_said(self):
        trace = ROOT / "scenarios/examples/logs/team-trace.csv"
        packed = run("bugreport", "-f", "-", stdin=f"""apiVersion: slicewise.dev/v1alpha1
kind: Scenario
metadata: {{name: teamx}}
spec:
  nodePools: [{{name: g5, instanceType: g5.xlarge, nodes: 4}}]
  workloads:
  - name: team
    kind: TraceJobs
    trace: {{file: {trace}, mostGpus: 1, users: [ana]}}
    podTemplate: {{resources: {{requests: {{cpu: 1, memory: 4Gi}}}}}}
    gpuMemory: {{resident: 8Gi}}
    measured: {{gpuBusy: 45%, smActive: 30%, provenance: Assumed}}
""")
        self.assertEqual(packed.returncode, 0, packed.stderr)
        self.assertIn("# Names that its trace has are still in here: users.\n", packed.stdout)


class ManyReplications(unittest.TestCase):
    def test_what_they_are_kept_in_is_small(self):
        scenario = """apiVersion: slicewise.dev/v1alpha1
kind: Scenario
metadata: {name: a}
spec:
  duration: 10s
  replications: 3000
  nodePools: [{name: t4, instanceType: g4dn.xlarge}]
  workloads:
  - {name: s, kind: Service, podTemplate: {resources: {limits: {nvidia.com/gpu: 1}}},
     traffic: {shape: Constant, mean: 5/s}, measured: {requestGpuTime: 20ms}}
"""
        done = subprocess.run(["bash", "-c", f"ulimit -v 300000; exec {BINARY} run -f - -q --jobs 1"], cwd=ROOT,
                              env=environment(), input=scenario, capture_output=True, text=True, timeout=TIMEOUT_S,
                              check=False)
        self.assertIn(done.returncode, (0, 99), done.stderr)  # ten seconds end amid a request


class EndlessInput(unittest.TestCase):
    def test_it_is_refused_with_the_size_that_is_read(self):
        for verb in (["run"], ["import", "openb"]):
            result = run(*verb, "-f", "/dev/zero")
            self.assertIn(result.returncode, (3, 5))
            self.assertRegex(result.stderr, "1 GiB|16 MiB")


if __name__ == "__main__":
    unittest.main()
