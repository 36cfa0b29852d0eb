"""The exports that show a simulated run, read by what they are made for."""

import csv
import io
import json
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request
import xml.etree.ElementTree

from program import main, run, skip_without, thorough

SHARED = "scenarios/examples/shared-inference.yaml"
USAGE = 2
START = 1767571200  # Monday 2026-01-05
SHORT = ("--set", "duration=20m")


def export(kind, *more, file=SHARED, variant="shared"):
    return run("export", "-f", file, "--variant", variant, "--to", kind, *more)


def sweep(slices):
    """Pairs of slices of one thread that overlap without one being inside the other."""
    open_until, bad = [], []
    for event in sorted(slices, key=lambda e: (e["ts"], -e["dur"])):
        while open_until and open_until[-1] <= event["ts"] + 1e-6:
            open_until.pop()
        if open_until and event["ts"] + event["dur"] > open_until[-1] + 1e-3:
            bad.append(event)
        open_until.append(event["ts"] + event["dur"])
    return bad


class Perfetto(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        result = export("perfetto", *SHORT)
        assert result.returncode == 0, result.stderr
        cls.trace = json.loads(result.stdout)
        cls.events = cls.trace["traceEvents"]

    def test_every_event_has_what_its_kind_needs(self):
        needed = {"X": {"pid", "tid", "ts", "dur", "name"}, "C": {"pid", "ts", "name", "args"},
                  "M": {"pid", "name", "args"}, "i": {"pid", "tid", "ts", "name", "s"}}
        for event in self.events:
            self.assertLessEqual(needed[event["ph"]], set(event), event)
            self.assertGreaterEqual(event.get("dur", 1), 0)
            self.assertLessEqual(event.get("ts", 0) + event.get("dur", 0), 20 * 60 * 1e6)

    def test_tracks_are_named_and_slices_of_one_nest(self):
        names = {event["pid"]: event["args"]["name"] for event in self.events
                 if event["name"] == "process_name"}
        threads = {(event["pid"], event["tid"]): event["args"]["name"] for event in self.events
                   if event["name"] == "thread_name"}
        self.assertEqual(len({tid for _, tid in threads}), len(threads))
        self.assertIn("cluster", names.values())
        self.assertTrue(any("(g4dn." in name for name in names.values()), names)
        self.assertTrue(any(name.startswith("GPU 0") for name in threads.values()))
        by_thread = {}
        for event in self.events:
            self.assertIn(event["pid"], names)
            if event["ph"] == "X":
                by_thread.setdefault((event["pid"], event["tid"]), []).append(event)
        self.assertLessEqual(set(by_thread), set(threads))
        for thread, slices in by_thread.items():
            self.assertEqual(sweep(slices), [], threads[thread])

    def test_turns_are_those_of_the_time_slice(self):
        turns = [event for event in self.events if event.get("cat") == "turn"]
        self.assertGreater(len(turns), 1000)
        self.assertIn("drawn from", self.trace["otherData"]["turns"])
        switches = {round(turn["dur"], 3) for turn in turns if turn["name"] == "switch"}
        self.assertEqual(len(switches), 1, switches)

    def test_what_is_not_drawn_is_said(self):
        steady = export("perfetto", file="scenarios/examples/aws-cifar10.yaml", variant="after-greedy")
        trace = json.loads(steady.stdout)
        self.assertIn("not drawn", trace["otherData"]["turns"])
        marks = [event["name"] for event in trace["traceEvents"] if event["ph"] == "i"]
        self.assertIn("CUDA out of memory", marks)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def expressions(dashboard):
    """All queries, with Grafana's variables replaced as it would."""
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            yield (target["expr"].replace("$scenario", "shared-inference")
                   .replace("$candidate", "shared").replace("$__rate_interval", "2m")
                   .replace("$__range", "20m"))


class RealPrometheus(unittest.TestCase):
    """promtool back-fills a server, and the server answers the dashboard's queries."""

    @classmethod
    def setUpClass(cls):
        cls.text = export("openmetrics", "--dcgm-compat", *SHORT).stdout
        cls.dashboard = json.loads(export("grafana").stdout)

    def setUp(self):
        for tool in ("prometheus", "promtool"):
            if shutil.which(tool) is None:
                skip_without(tool)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def serve(self):
        (self.folder / "metrics.txt").write_text(self.text, encoding="utf-8")
        (self.folder / "prometheus.yml").write_text("{}\n", encoding="utf-8")
        filled = subprocess.run(
            ["promtool", "tsdb", "create-blocks-from", "openmetrics", self.folder / "metrics.txt",
             self.folder / "data"], check=False, capture_output=True, text=True, timeout=60)
        self.assertEqual(filled.returncode, 0, filled.stderr)
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        server = subprocess.Popen(
            ["prometheus", f"--config.file={self.folder}/prometheus.yml",
             f"--storage.tsdb.path={self.folder}/data", "--storage.tsdb.retention.time=90y",
             f"--web.listen-address=127.0.0.1:{port}"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(server.wait, 30)
        self.addCleanup(server.kill)
        for _ in range(300):
            try:
                with urllib.request.urlopen(self.url + "/-/ready", timeout=5):
                    return
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        self.fail("prometheus does not start")

    def ask(self, query, at=START + 1200):
        address = self.url + "/api/v1/query?" + urllib.parse.urlencode({"query": query, "time": at})
        with urllib.request.urlopen(address, timeout=30) as answer:
            return json.load(answer)["data"]["result"]

    def value(self, query):
        answer = self.ask(query)
        self.assertEqual(len(answer), 1, (query, answer))
        return float(answer[0]["value"][1])

    def test_what_went_in_comes_out(self):
        self.serve()
        result = json.loads(run("run", "-f", SHARED, "--variant", "shared", *SHORT, "--set",
                                "warmup=0s", "--replications", "1", "-o", "json").stdout)
        variant = result["variants"][0]
        for workload in variant["workloads"]:
            if "requests" not in workload:
                continue
            of_it = f'{{workload="{workload["name"]}"}}'
            counted = self.value(f"sum(slicewise_requests_arrived_total{of_it})")
            self.assertEqual(counted, workload["requests"]["arrived"])
        bill = self.value("sum(slicewise_cost_usd_total)")
        fee = variant["cost"]["controlPlaneUsd"]
        self.assertGreater(fee, 0)
        self.assertAlmostEqual(bill + fee, variant["cost"]["totalUsd"], places=6)
        self.assertAlmostEqual(bill + fee, self.value("sum(slicewise_run_cost_usd)"), places=6)
        # GPU time of pods, of workloads and of GPUs is the same time.
        pods = self.value("sum(slicewise_pod_gpu_seconds_total)")
        self.assertAlmostEqual(pods, self.value("sum(slicewise_workload_gpu_seconds_total)"), 3)
        busy = self.value("sum(sum_over_time(slicewise_gpu_time_busy_ratio[20m]))")
        buckets = self.value("max(count_over_time(slicewise_gpu_time_busy_ratio[20m]))")
        self.assertAlmostEqual(pods, busy * 1200 / buckets, delta=0.01 * pods)
        # The histogram and the exact quantile tell the same story.
        count = self.value('sum(slicewise_request_duration_seconds_count)')
        self.assertEqual(count, self.value('sum(slicewise_requests_total{result!="error"})'))
        self.assertEqual(
            self.value("avg(DCGM_FI_DEV_GPU_UTIL{sim=\"true\"})") > 0,
            self.value("avg(slicewise_gpu_time_busy_ratio)") > 0)
        self.check_dashboard()

    def check_dashboard(self):
        unanswered = [query for query in expressions(self.dashboard) if not self.ask(query)]
        self.assertEqual([query for query in unanswered if 'sim=""' not in query], [])

    def test_queries_are_promql_and_ask_for_metrics_that_exist(self):
        written = set(re.findall(r"^# TYPE (\S+)", self.text, re.MULTILINE))
        rules = {"groups": [{"name": "panels", "rules": []}]}
        for number, query in enumerate(expressions(self.dashboard)):
            rules["groups"][0]["rules"].append({"record": f"panel:{number}", "expr": query})
            for name in re.findall(r"\b(?:slicewise|DCGM)_\w+", query):
                family = re.sub(r"_(total|bucket|count|sum)$", "", name)
                self.assertTrue({name, family} & written, name)
        (self.folder / "rules.json").write_text(json.dumps(rules), encoding="utf-8")
        checked = subprocess.run(["promtool", "check", "rules", self.folder / "rules.json"],
                                 check=False, capture_output=True, text=True, timeout=60)
        self.assertEqual(checked.returncode, 0, checked.stderr + checked.stdout)

    def test_ends_as_the_format_wants(self):
        self.assertTrue(self.text.endswith("# EOF\n"))
        self.assertEqual(self.text, export("openmetrics", "--dcgm-compat", *SHORT).stdout)


class Flags(unittest.TestCase):
    def test_the_run_begins_when_it_is_told_to(self):
        result = export("openmetrics", "--start", "2025-01-01T00:00:00Z", *SHORT)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(" 1735689600.000\n", result.stdout)
        self.assertNotIn("DCGM", result.stdout)

    def test_what_does_not_apply_is_refused(self):
        for arguments in (("perfetto", "--dcgm-compat"), ("helm-values", "--start", "0"),
                          ("openmetrics", "--start", "soon"), ("csv",)):
            result = export(*arguments)
            self.assertEqual(result.returncode, USAGE, arguments)
            self.assertEqual(result.stdout, "")


class Tables(unittest.TestCase):
    def test_add_up_to_the_bill_and_the_requests(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "tables"
            result = export("csv", "--out", str(out), *SHORT, "--set", "warmup=0s", "--set",
                            "workloads.classifier.startup.cold=true")
            self.assertEqual(result.returncode, 0, result.stderr)
            tables = {path.stem: list(csv.DictReader(io.StringIO(path.read_text("utf-8"))))
                      for path in out.iterdir()}
        cost = {row["reason"]: float(row["usd"]) for row in tables["cost"]}
        total = cost.pop("total")
        self.assertAlmostEqual(sum(cost.values()), total, places=8)
        billed = sum(float(row["billedUsd"]) for row in tables["nodes"])
        self.assertAlmostEqual(billed + cost["controlPlane"], total, 8)
        for workload in tables["workloads"]:
            if workload["kind"] != "Service":
                continue
            arrived = sum(int(row["value"]) for row in tables["timeline"]
                          if row["name"] == workload["workload"] and row["figure"] == "arrived")
            self.assertEqual(arrived, float(workload["arrived"]))
            answered = [row for row in tables["requests"] if row["latency"] and
                        row["workload"] == workload["workload"] and row["pod"]]
            self.assertEqual(len(answered), float(workload["answered"]))
        self.assertEqual({row["phase"] for row in tables["pods"]} - {"evicted", "done"},
                         {"image pull", "model load", "Running"})


    def test_rows_that_are_left_out_are_said(self):
        def tables(folder, *flags):
            out = pathlib.Path(folder) / "_".join(("tables", *flags))
            result = export("csv", "--out", str(out), *SHORT, *flags)
            self.assertEqual(result.returncode, 0, result.stderr)
            rows = {row["file"]: row for row in csv.DictReader(io.StringIO(
                (out / "manifest.csv").read_text("utf-8")))}
            self.assertEqual({"manifest.csv", *rows}, {path.name for path in out.iterdir()})
            for name, row in rows.items():
                written = list(csv.reader(io.StringIO((out / name).read_text("utf-8"))))
                self.assertEqual(int(row["rows"]), len(written) - 1, name)
            return rows["requests.csv"], result.stderr
        with tempfile.TemporaryDirectory() as folder:
            whole, said = tables(folder)
            self.assertEqual((whole["leftOut"], said), ("0", ""))
            some, said = tables(folder, "--requests", "10")
            self.assertEqual(some["rows"], "10")
            self.assertEqual(int(some["leftOut"]), int(whole["rows"]) - 10)
            self.assertIn(f"requests.csv holds the first 10 rows, {some['leftOut']} are left out; "
                          "--requests N raises the limit", said)
        self.assertEqual(export("perfetto", "--requests", "10").returncode, USAGE)


class Junit(unittest.TestCase):
    """Counts agree with the cases, and cases fail where the exit code says so."""

    MISSED = 99

    def suites(self, text):
        root = xml.etree.ElementTree.fromstring(text)
        self.assertEqual(root.tag, "testsuites")
        for parent in [root, *root]:
            cases = list(parent.iter("testcase"))
            for attribute, tag in (("failures", "failure"), ("skipped", "skipped")):
                self.assertEqual(int(parent.get(attribute)),
                                 sum(case.find(tag) is not None for case in cases))
            self.assertEqual(int(parent.get("tests")), len(cases))
            for case in cases:
                self.assertTrue(case.get("name") and case.get("classname"))
        return root

    def test_run_fails_cases_where_objectives_are_missed(self):
        for rate, code in (("20/s", 0), ("70/s", self.MISSED)):
            result = run("run", "-f", SHARED, "--variant", "shared", "--replications", "1", "--set",
                         "duration=5m", "--set", f"workloads.classifier.traffic.mean={rate}",
                         "-o", "junit")
            self.assertEqual(result.returncode, code, result.stderr)
            root = self.suites(result.stdout)
            self.assertEqual(int(root.get("failures")) > 0, code == self.MISSED)
            names = [case.get("name") for case in root.iter("testcase")]
            self.assertIn("classifier latencyP99 at most 300 ms", names)

    @thorough
    def test_besides_another_format(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "slo.xml"
            result = run("plan", "-f", SHARED, "--variant", "alone", "--instances", "g4dn.xlarge",
                         "--max-nodes", "2", "--no-headroom", "--no-flips", "--replications", "1",
                         "-o", "json", "--junit", str(path))
            self.assertEqual(result.returncode, 0, result.stderr)
            json.loads(result.stdout)
            root = self.suites(path.read_text(encoding="utf-8"))
        self.assertEqual(root[0].get("name"), "plan")
        self.assertEqual(root.get("failures"), "0")

    def test_check_has_a_case_for_each_finding(self):
        folder = "scenarios/examples/cluster"
        for more in ((), ("--strict",)):
            found = json.loads(run("check", "-f", folder, "-o", "json", *more).stdout)
            result = run("check", "-f", folder, "-o", "junit", *more)
            root = self.suites(result.stdout)
            self.assertEqual(int(root.get("failures")) > 0, result.returncode != 0)
            clean = sum(case.get("name") == "no findings" for case in root.iter("testcase"))
            self.assertEqual(int(root.get("tests")) - clean, len(found["findings"]))

    def test_verbs_without_objectives_do_not_take_it(self):
        for verb in ("max-load", "neighbours"):
            self.assertEqual(run(verb, "-f", SHARED, "-o", "junit").returncode, USAGE)


if __name__ == "__main__":
    main()
