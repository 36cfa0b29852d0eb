"""`import prometheus` asks a real server, and servers that refuse."""

import contextlib
import csv
import http.server
import io
import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request
import zlib

from program import main, run, skip_without, thorough

FILE_UNREADABLE = 5
INPUT_INVALID = 3
USAGE = 2
START = 1718000000
HOURS = 3600
SCRAPE = 30
SPAN = 7 * HOURS // 2  # 12,601 points a second apart: two answers


def samples(metric, labels, value, first=0, last=SPAN):
    text = ",".join(f'{name}="{content}"' for name, content in labels.items())
    return [f"{metric}{{{text}}} {value} {START + at}" for at in range(first, last + 1, SCRAPE)]


def pod_series(name, uid, resource, first, last, completion=None):
    """What kube-state-metrics shows of a pod from `first` to `last`."""
    pod = {"namespace": "ml", "pod": name, "uid": uid}
    seen = (first, last)
    families = {
        "kube_pod_created": samples("kube_pod_created", pod, START + first, *seen),
        "kube_pod_status_scheduled_time":
            samples("kube_pod_status_scheduled_time", pod, START + first + 12, *seen),
        "kube_pod_info": samples("kube_pod_info", {**pod, "created_by_kind": "Job",
                                                   "created_by_name": "j-" + name}, 1, *seen),
        "kube_pod_container_resource_requests":
            samples("kube_pod_container_resource_requests",
                    {**pod, "container": "main", "resource": resource}, 1, *seen),
    }
    if completion is not None:
        families["kube_pod_completion_time"] = samples(
            "kube_pod_completion_time", pod, START + completion, completion, last)
    return families


def gpu_series(device, pod, value, first, last):
    labels = {"UUID": device, "exported_pod": pod, "exported_namespace": "ml",
              "pod": "dcgm-exporter-x1", "namespace": "gpu-operator"}
    return {"DCGM_FI_DEV_GPU_UTIL": samples("DCGM_FI_DEV_GPU_UTIL", labels, value, first, last)}


def openmetrics():
    families = {}
    for part in (
            pod_series("whole", "u1", "nvidia_com_gpu", 0, SPAN, completion=HOURS),
            gpu_series("GPU-1", "whole", 40, 30, HOURS),
            # Two pods share a GPU for an hour, and each carries the value of all of it.
            pod_series("early", "u2", "nvidia_com_gpu_shared", 0, SPAN, completion=2 * HOURS),
            pod_series("late", "u3", "nvidia_com_gpu_shared", HOURS, 3 * HOURS),
            gpu_series("GPU-2", "early", 80, 30, 2 * HOURS),
            gpu_series("GPU-2", "late", 80, HOURS + 30, 3 * HOURS)):
        for family, lines in part.items():
            families.setdefault(family, []).extend(lines)
    text = ""
    for family, lines in families.items():
        text += f"# TYPE {family} gauge\n" + "\n".join(lines) + "\n"
    return text + "# EOF\n"


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Server(unittest.TestCase):
    """A real one, with the samples of `recorded()`."""

    def recorded(self):
        return openmetrics()

    def setUp(self):
        for tool in ("prometheus", "promtool"):
            if shutil.which(tool) is None:
                skip_without(tool)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        folder = pathlib.Path(folder.name)
        (folder / "data.txt").write_text(self.recorded(), encoding="utf-8")
        (folder / "prometheus.yml").write_text("{}\n", encoding="utf-8")
        subprocess.run(["promtool", "tsdb", "create-blocks-from", "openmetrics",
                        folder / "data.txt", folder / "data"],
                       check=True, capture_output=True, timeout=60)
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        server = subprocess.Popen(
            ["prometheus", f"--config.file={folder}/prometheus.yml",
             f"--storage.tsdb.path={folder}/data", "--storage.tsdb.retention.time=90y",
             f"--web.listen-address=127.0.0.1:{port}"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(server.wait, 30)
        self.addCleanup(server.kill)
        self.wait_until_ready()

    def wait_until_ready(self):
        for _ in range(300):
            try:
                with urllib.request.urlopen(self.url + "/-/ready", timeout=5):
                    return
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        self.fail("prometheus does not start")


class RealServer(Server):
    def test_what_went_in_comes_out(self):
        result = run("import", "prometheus", "--url", self.url, "--start", str(START),
                     "--end", str(START + SPAN), "--step", "1s", "--replicas", "4")
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = [line for line in result.stdout.splitlines() if not line.startswith("#")]
        jobs = {row["id"]: row for row in csv.DictReader(io.StringIO("\n".join(lines)))}
        self.assertEqual(sorted(jobs), ["ml/early", "ml/late", "ml/whole"])
        whole, early, late = jobs["ml/whole"], jobs["ml/early"], jobs["ml/late"]
        self.assertEqual((whole["arrival_s"], whole["observed_wait_s"], whole["run_s"]),
                         ("0", "12", str(HOURS - 12)))
        self.assertEqual((whole["gpus"], whole["gpu_milli"], whole["work"]), ("1", "1000", "Job/j-whole"))
        self.assertEqual(whole["gpu_permille"], "400")
        self.assertEqual((early["run_s"], early["gpu_milli"]), (str(2 * HOURS - 12), "250"))
        self.assertEqual(late["arrival_s"], str(HOURS))
        # It was deleted: the server shows its series for five minutes more.
        self.assertAlmostEqual(float(late["run_s"]), 2 * HOURS - 12, delta=301)
        # An hour alone at 80 %, an hour with half of it; the borders blur by the five minutes.
        for row in (early, late):
            self.assertAlmostEqual(int(row["gpu_permille"]), 600, delta=20)
        self.assertIn("split evenly between them", result.stderr)
        self.assertIn("pods that were deleted", result.stderr)


class Advice(Server):
    """What is compared with a simulation: pods of asr in scenarios/examples/logs/kubectl.json."""

    def recorded(self):
        hour = range(0, HOURS + 1, SCRAPE)
        families = {}

        def add(metric, labels, value, kind="gauge"):
            text = ",".join(f'{name}="{content}"' for name, content in labels.items())
            families.setdefault((metric, kind), []).extend(
                f"{metric}{{{text}}} {value(at) if callable(value) else value} {START + at}" for at in hour)

        for number, end in enumerate("bcd"):
            pod = {"namespace": "voice", "pod": f"asr-6d5f7c8b9f-{end}x2zq", "uid": end}
            add("kube_pod_created", pod, START - 1000)
            add("kube_pod_status_scheduled_time", pod, START - 985)
            add("kube_pod_container_state_started", {**pod, "container": "main"}, START - 955)
            add("kube_pod_info", {**pod, "created_by_kind": "ReplicaSet", "created_by_name": "asr-6d5f7c8b9f"}, 1)
            add("kube_pod_container_resource_requests", {**pod, "container": "main", "resource": "nvidia_com_gpu"}, 1)
            add("DCGM_FI_DEV_GPU_UTIL", {"UUID": f"GPU-{number}", "exported_namespace": "voice",
                                         "exported_pod": pod["pod"]}, 40)
            add("vllm:request_success_total", pod, lambda at: 10 * at)
            for bound, part in (("0.05", 5), ("0.1", 10), ("+Inf", 10)):
                add("asr_seconds_bucket", {**pod, "le": bound}, lambda at, part=part: part * at)
        text = "".join(f"# TYPE {metric} {kind}\n" + "\n".join(lines) + "\n"
                       for (metric, kind), lines in families.items())
        return text + "# EOF\n"

    @thorough
    def test_advise_compares_with_what_it_recorded(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder, "advice")
            done = run("advise", "-f", "scenarios/examples/logs/kubectl.json", "--prometheus", self.url, "--start",
                       str(START), "--end", str(START + HOURS), "--latency", "asr_seconds", "--instances",
                       "g4dn.xlarge,g5.xlarge", "--no-headroom", "--no-flips", "--max-nodes", "4", "--replications", "1", "--set", "duration=5m",
                       "--out", str(out))
            self.assertEqual(done.returncode, 0, done.stderr)
            text = (out / "README.md").read_text()
            scenario = (out / "scenario.yaml").read_text()
            result = json.loads((out / "today.json").read_text())["variants"][0]
        self.assertIn(f"Recorded: {self.url}, 2024-06-10T06:13:20Z to 2024-06-10T07:13:20Z.", text)
        self.assertIn("mean: 30.0000/s}  # mean of vllm:request_success_total", scenario)
        rows = {cells[1]: cells[2:] for line in text.splitlines() if line.startswith("| voice/asr ")
                for cells in [line.strip("| ").split(" | ")]}
        # Two digits: 40 % of a GPU were read into the scenario, and come out of the simulation.
        self.assertEqual(rows["GPU in use by a pod"][0], "40%")
        self.assertAlmostEqual(float(rows["GPU in use by a pod"][1].rstrip("%")), 40, delta=3)
        # Its pods ran all the time: of 45 s from their creation the 30 on their node are in the scenario.
        self.assertNotIn("creation of a pod to its container's start, mean", rows)
        self.assertIn("startup: {imagePull: 30000ms}", scenario)
        # Half of the requests took at most 0.05 s, the others are taken to lie evenly below 0.1 s.
        self.assertEqual(rows["latency p50"][0], "50.0 ms")
        self.assertEqual(rows["latency p95"][0], "95.0 ms")
        asr = next(one for one in result["workloads"] if one["name"] == "asr")
        self.assertIn(f"{asr['latencySeconds']['p95'] * 1000:.3g}"[:3], rows["latency p95"][1])


class Refusals(unittest.TestCase):
    def ask(self, status, body, headers=()):
        """What an import says of a server; `body`: of all answers, or of a path, with its status."""
        class Handler(http.server.BaseHTTPRequestHandler):
            tokens = []

            def do_GET(self):
                self.tokens.append(self.headers.get("Authorization"))
                code, text = body(self.path) if callable(body) else (status, body)
                self.send_response(code)
                for header in headers:
                    self.send_header(*header)
                self.end_headers()
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    self.wfile.write(text.encode() if isinstance(text, str) else text)

            def log_message(self, *_):
                pass

        server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        self.addCleanup(server.server_close)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.shutdown)
        url = f"http://user:secret@127.0.0.1:{server.server_port}/"
        result = run("import", "prometheus", "--url", url, "--end", "1718000000",
                     env={"SLICEWISE_PROMETHEUS_TOKEN": "abc"})
        self.assertNotIn("secret", result.stderr)
        self.assertEqual(Handler.tokens[0], "Bearer abc")
        return result

    def test_failures_are_shown_as_the_server_words_them(self):
        result = self.ask(422, '{"status":"error","errorType":"execution","error":"query timed out"}')
        self.assertEqual(result.returncode, INPUT_INVALID)
        self.assertIn("query timed out", result.stderr)

    def test_what_an_import_can_do_without_ends_nothing(self):
        def series(metric, **labels):
            return {"metric": {"__name__": metric, "namespace": "x", "pod": "a", **labels},
                    "values": [[1718000000 - 600, "1"], [1718000000, "1"]]}

        def answer(path):
            query = urllib.parse.unquote(path)
            if "istio_" in query or "vllm:" in query:
                return 422, '{"status":"error","errorType":"execution","error":"too many samples"}'
            found = []
            if "container_resource_requests" in query and "init" not in query:
                found = [series("kube_pod_container_resource_requests", container="c", node="n",
                                resource="nvidia_com_gpu", unit="integer")]
            elif "kube_pod_created" in query:
                found = [series("kube_pod_created")]
            return 200, json.dumps({"status": "success", "data": {"resultType": "matrix", "result": found}})

        result = self.ask(200, answer)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout.count("x/a"), 1)
        for metric in ("istio_requests_total", "vllm:request_success_total"):
            self.assertEqual(result.stderr.count(
                f"note: the import does without {metric}: HTTP status 422: too many samples"), 1)

    def test_without_access(self):
        result = self.ask(401, "Unauthorized")
        self.assertEqual(result.returncode, FILE_UNREADABLE)
        self.assertIn("HTTP status 401", result.stderr)
        self.assertIn("SLICEWISE_PROMETHEUS_TOKEN", result.stderr)

    def test_no_redirection_is_followed(self):
        with socket.create_server(("127.0.0.1", 0)) as elsewhere:
            elsewhere.settimeout(0)
            for to in (f"http://127.0.0.1:{elsewhere.getsockname()[1]}/", "file:///etc/passwd", "/api/v2"):
                result = self.ask(302, "", [("Location", to)])
                self.assertEqual(result.returncode, FILE_UNREADABLE)
                self.assertIn("HTTP status 302", result.stderr)
                self.assertIn("redirections are not followed", result.stderr)
            with self.assertRaises(BlockingIOError):
                elsewhere.accept()

    def test_no_other_scheme_is_asked(self):
        for url in ("file:///etc/passwd", "ftp://h", "gopher://h", "h:9090"):
            result = run("import", "prometheus", "--url", url)
            self.assertEqual(result.returncode, FILE_UNREADABLE)
            self.assertIn("not a URL of a server", result.stderr)

    def test_nobody_there(self):
        result = run("import", "prometheus", "--url", f"http://127.0.0.1:{free_port()}")
        self.assertEqual(result.returncode, FILE_UNREADABLE)
        self.assertIn("connect", result.stderr)

    if os.environ.get("SLICEWISE_NIGHTLY") == "1":  # it unpacks gigabytes

        def test_an_answer_that_grows_when_it_is_unpacked_is_refused(self):
            packer = zlib.compressobj(9, wbits=31)
            bomb = b"".join(packer.compress(bytes(1 << 20)) for _ in range(3 << 10)) + packer.flush()
            result = self.ask(200, bomb, [("Content-Encoding", "gzip")])
            self.assertEqual(result.returncode, FILE_UNREADABLE)
            self.assertIn("the answer is too large", result.stderr)

    def test_flags_that_do_not_go_together(self):
        for arguments in (["pods", "--url", "http://h"],
                          ["prometheus", "--url", "http://h", "-f", "x"],
                          ["prometheus", "-f", "x", "--step", "60s"]):
            self.assertEqual(run("import", *arguments).returncode, USAGE)


if __name__ == "__main__":
    main()
