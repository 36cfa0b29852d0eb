"""How calls behave: mistakes, threads, Ctrl-C, progress, processes."""

import concurrent.futures
import datetime
import decimal
import json
import multiprocessing.pool
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock

import numpy
import pandas
import polars
import yaml
from package import SHARED, slicewise
from program import TIMEOUT_S, main, run


def alone(script):
    """A process group of its own, whose Ctrl-C is nobody else's."""
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False,
                          start_new_session=True, timeout=TIMEOUT_S)


def setUpModule():
    """What a shell starts in the background ignores ^C: runs that wait for one below would never end."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


class Mistakes(unittest.TestCase):
    def test_a_mistake_has_code_place_and_suggestion(self):
        text = "apiVersion: slicewise.dev/v1alpha1\nkind: Scenarios\nmetadata: {name: x}\n"
        with self.assertRaises(slicewise.InputError) as caught:
            slicewise.load(text, name="x.yaml")
        self.assertEqual(str(caught.exception),
                         run("run", "-f", "-", stdin=text).stderr.rstrip().replace("-:", "x.yaml:")
                         .replace("in -", "in x.yaml"))
        wrong = [d for d in caught.exception.diagnostics if d.line == 2]
        self.assertEqual([(d.code, d.severity, d.file, d.column, d.help) for d in wrong],
                         [("API_VERSION_UNKNOWN", "error", "x.yaml", 7, 'did you mean "Scenario"?')])

    def test_what_only_the_catalogue_knows_is_said_by_the_run(self):
        s = slicewise.load(SHARED).with_(instance_type="g4dn.xlargee")
        with self.assertRaisesRegex(slicewise.InputError, "did you mean g4dn.xlarge") as caught:
            s.run()
        self.assertEqual(caught.exception.diagnostics[0].code, "INSTANCE_UNKNOWN")

    def test_a_keyword_that_makes_no_sense_is_a_usage_error(self):
        s = slicewise.load(SHARED)
        for call in (lambda: s.run(variant="nope"), lambda: s.run(fidelity="best"),
                     lambda: s.export("helm"), lambda: s.plan(max_nodes=0),
                     lambda: slicewise.replay("scenarios/examples/logs/team-trace.csv"),
                     lambda: s.with_(replicaz=2), lambda: s.with_(nodes=2).check()):
            self.assertRaises(slicewise.UsageError, call)
            self.assertRaises(ValueError, call)

    def test_what_is_said_of_flags_is_said_of_keywords(self):
        s = slicewise.load(SHARED)
        for call, said in ((lambda: s.run(seeds=0), r"^seeds: (?!.*--)"),
                           (lambda: slicewise.replay("scenarios/examples/logs/team-trace.csv", gpus=8, sharing="mps:2"),
                            r"^sharing needs instances(?!.*--)"),
                           (lambda: slicewise.calibrate(), "^calibrate: no measurements"),
                           (lambda: s.with_(noodes=2), "did you mean nodes"),
                           (lambda: slicewise.check("kind: Pod\nmetadata: {}"), r"slicewise\.Text\("),
                           (lambda: s.max_load(precision=20), r'^precision: 20 is .*; did you mean 0.2 or "20%"\?$'),
                           (lambda: s.max_load(precision=0), r'^precision: "0%" is not a percentage from 0.1% to 100%$'),
                           (lambda: slicewise.check(SHARED).markdown(), "^Check has no md")):
            with self.assertRaisesRegex(slicewise.UsageError, said):
                call()
        for call, said in ((lambda: s.run(replications=2), "did you mean seeds"),
                           (lambda: s.plan(no_headroom=True), "did you mean headroom"),
                           (lambda: s.compare(instance=["g5.xlarge"]), "did you mean instances"),
                           (lambda: s.run(colour=1), r"^run\(\) has no keyword colour$")):
            with self.assertRaisesRegex(TypeError, said):
                call()
        self.assertFalse(slicewise.check(SHARED).interrupted)
        with self.assertRaisesRegex(slicewise.UsageError, "there are batch-jobs, "):
            slicewise.template("none")

    def test_what_was_said_of_the_rows_of_a_frame_stays(self):
        frame = pandas.DataFrame({"at": [0, 1, 2], "seconds": [1, None, 2], "gpus": [1, 1, 1]})
        columns = {"arrival": "at:s", "run": "seconds", "gpus": "gpus"}
        replayed = slicewise.replay(frame, columns=columns, skip_bad=True, instances={"g5.xlarge": 1})
        self.assertIn(slicewise.import_jobs(frame, columns=columns, skip_bad=True).messages.splitlines()[-1],
                      replayed.messages)

    def test_what_is_exported_may_have_prices_of_its_own(self):
        """It was a usage error, so that capacity which is reserved could not be exported."""
        prices = slicewise.Text("p.json", '{"date": "2026-11-20", "prices": []}')
        files = slicewise.load(SHARED, prices=prices).export(
            "helm-values", variant="shared", node_selector={"eks-node": "gpu"})
        self.assertIn("\nnodeSelector:\n  eks-node: gpu\n", files[""])

    def test_a_field_of_several_needs_a_path(self):
        s = slicewise.load(SHARED)
        with self.assertRaisesRegex(slicewise.UsageError, "workloads.classifier.kind, workloads.tr"):
            s.with_(kind="Job")
        self.assertEqual(s.with_(nodes=3).settings, ("nodePools.t4.nodes=3",))
        self.assertEqual(s.with_(seed=7).settings, ("seed=7",))

    def test_a_file_that_is_not_there(self):
        for call in (lambda: slicewise.load("nowhere.yaml"),
                     lambda: slicewise.replay("nowhere.csv", gpus=1)):
            self.assertRaises(slicewise.FileUnreadable, call)
            self.assertRaises(OSError, call)

    def test_what_kubectl_says_is_in_the_diagnostic(self):
        """It went to the standard error of the process, past the notebook."""
        with tempfile.TemporaryDirectory() as folder:
            kubectl = pathlib.Path(folder, "kubectl")
            kubectl.write_text("#!/bin/sh\necho no cluster here >&2\nexit 1\n", encoding="ascii")
            kubectl.chmod(0o755)
            with unittest.mock.patch.dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}"):
                with self.assertRaises(slicewise.FileUnreadable) as caught:
                    slicewise.advise()
        self.assertIn("exit code 1: no cluster here", caught.exception.diagnostics[0].message)

    def test_what_is_no_utf_8_is_said_as_the_program_does(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "latin.yaml")
            path.write_bytes("kind: \xe9\n".encode("latin-1"))
            with self.assertRaises(slicewise.InputError) as caught:
                slicewise.load(path)
            self.assertEqual(str(caught.exception), run("run", "-f", str(path)).stderr.rstrip())

    def test_exceptions_go_to_other_processes(self):
        error = slicewise.InputError("x", (slicewise.Diagnostic("A", "error", "f", 1, 2, "m", "h"),))
        again = pickle.loads(pickle.dumps(error))
        self.assertEqual((str(again), again.diagnostics), (str(error), error.diagnostics))
        stopped = pickle.loads(pickle.dumps(slicewise.Interrupted("interrupted: 1 of 2 points", [3])))
        self.assertEqual((str(stopped), stopped.result), ("interrupted: 1 of 2 points", [3]))

    def test_the_environment_is_for_the_program(self):
        expected = slicewise.load(SHARED).run(seeds=1).json
        os.environ["SLICEWISE_SEED"] = "7"
        try:
            self.assertEqual(slicewise.load(SHARED).run(seeds=1).json, expected)
        finally:
            del os.environ["SLICEWISE_SEED"]


class Values(unittest.TestCase):
    """Numbers, times and files as users have them."""

    def test_numbers_of_numpy_and_others(self):
        s = slicewise.load(SHARED)
        for given, said in ((numpy.int64(2), "2"), (numpy.array(2), "2"), (decimal.Decimal("2"), "2"), (numpy.arange(2)[1], "1")):
            self.assertEqual(s.with_(nodes=given).settings, (f"nodePools.t4.nodes={said}",))
        # 2 in a column of pandas where another row has nothing.
        self.assertEqual(s.with_(nodes=2.0).settings, ("nodePools.t4.nodes=2",))
        self.assertEqual(s.with_(nodes=pandas.Series([2, None])[0]).settings, ("nodePools.t4.nodes=2",))
        same = yaml.safe_load(s.text)
        same["spec"]["nodePools"][0]["nodes"] = 1.0
        self.assertEqual(slicewise.load(same).pools, s.pools)
        self.assertRaisesRegex(slicewise.InputError, "whole number", lambda: s.with_(nodes=2.5))
        times = (datetime.timedelta(minutes=20), pandas.Timedelta("20min"), numpy.timedelta64(20, "m"),
                 numpy.timedelta64(1_200_000_000_000, "ns"))
        for given in times:
            self.assertEqual(s.with_(duration=given).settings, ("duration=1200s",))
        self.assertEqual(s.with_(duration=datetime.timedelta(minutes=20, milliseconds=2)).settings, ("duration=1200002ms",))
        with self.assertRaisesRegex(slicewise.InputError, "UNIT_MISSING"):
            s.with_({"workloads.classifier.slo.latencyP99": numpy.float64(0.3)})
        for grid in ({"nodes": numpy.arange(1, 3)}, pandas.DataFrame({"nodes": [1, 2.0]}), polars.DataFrame({"nodes": [1, 2]})):
            swept = slicewise.sweep(s, grid, seeds=numpy.int64(1))
            self.assertEqual(list(swept.variants.columns)[:2], ["nodes", "name"])
            self.assertEqual(swept.variants["nodes"], [1, 1, 2, 2])
        for holes in (pandas.DataFrame({"nodes": [1, None]}), pandas.DataFrame({"nodes": [1, None]}, dtype="Int64"),
                      polars.DataFrame({"nodes": [1, None]})):
            kept = slicewise.sweep(s.with_(nodes=3), holes, seeds=1)  # a hole stays as the scenario has it
            self.assertEqual([result.pools[0]["nodes"] for result in kept], [1, 3])
        with self.assertRaisesRegex(slicewise.UsageError, "which is there already"):
            s.run(sweep={"nodes": [1], "nodePools.t4.nodes": [2]})
        self.assertEqual(s.run(seeds=1.0, max_memory=8 << 30, variant="shared", sweep={"nodes": numpy.arange(1, 3)}).json,
                         s.run(seeds=1, variant="shared", sweep={"nodePools.t4.nodes": [1, 2]}).json)

    def test_services_with_lengths_of_time(self):
        """12 ms were 0.012 ms, and an objective had no unit."""
        names = {"name": ["asr", "ocr"], "memory": ["2Gi", "3Gi"], "requests_per_s": [20, 5]}
        plain = slicewise.load(pandas.DataFrame({**names, "ms_per_request": [12, 7.5], "p95": ["100ms", "1500ms"]}))
        lengths = {"ms_per_request": [datetime.timedelta(milliseconds=12), datetime.timedelta(microseconds=7500)],
                   "p95": [datetime.timedelta(milliseconds=100), datetime.timedelta(seconds=1.5)]}
        for frame in (pandas.DataFrame, polars.DataFrame):
            self.assertEqual(slicewise.load(frame({**names, **lengths})).text, plain.text)
        self.assertIn("12ms", plain.text)

    def test_what_is_no_value_is_a_usage_error(self):
        s = slicewise.load(SHARED)
        for given in (object(), {1, 2}, {(1, 2): 3}, datetime.datetime(2026, 1, 1), numpy.datetime64("2026-01-01")):
            self.assertRaises(slicewise.UsageError, s.with_, nodes=given)
            self.assertRaises(slicewise.UsageError, slicewise.load, {"spec": given})
            self.assertRaises(slicewise.UsageError, slicewise.sweep, s, {"nodes": [given]})

    def test_texts_of_one_line_and_bytes(self):
        text = pathlib.Path(SHARED).read_text(encoding="utf-8")
        one_line = json.dumps(yaml.safe_load(text))
        self.assertEqual(slicewise.load(one_line).variants, ["alone", "shared"])
        self.assertEqual(slicewise.load(text.encode()), slicewise.load(text))
        self.assertEqual(slicewise.load(slicewise.Text("-", text)), slicewise.load(text))
        with self.assertRaisesRegex(slicewise.UsageError, "empty"):
            slicewise.load("")
        self.assertEqual(slicewise.check([SHARED, "scenarios/examples/cluster"]).json,
                         slicewise.check(SHARED, "scenarios/examples/cluster").json)


class Threads(unittest.TestCase):
    def test_calls_of_several_threads_do_not_meet(self):
        scenarios = [slicewise.load(SHARED, set={"nodePools.t4.nodes": n}) for n in (1, 2, 3)]
        alone = [s.run(seeds=2).json for s in scenarios]
        mistaken = slicewise.load(SHARED).with_(instance_type="nope")

        def mixed(n):
            if n % 4 == 3:
                try:
                    mistaken.run()
                except slicewise.InputError as error:
                    return len(error.diagnostics)
            return scenarios[n % 4].run(seeds=2, jobs=1 + n % 2).json

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            for n, made in enumerate(pool.map(mixed, range(32))):
                self.assertEqual(made, 1 if n % 4 == 3 else alone[n % 4])

    def test_others_run_meanwhile(self):
        turns = 0
        ended = threading.Event()

        def count():
            nonlocal turns
            while not ended.is_set():
                turns += 1
                time.sleep(0.001)

        counter = threading.Thread(target=count)
        counter.start()
        slicewise.load(SHARED).run(seeds=100)
        ended.set()
        counter.join()
        self.assertGreater(turns, 10)


class Interrupts(unittest.TestCase):
    def test_ctrl_c_gives_what_there_is(self):
        with self.assertRaises(KeyboardInterrupt) as caught:
            slicewise.load(SHARED).run(
                seeds=50_000, progress=lambda done, *_: done and os.kill(os.getpid(), signal.SIGINT))
        self.assertIsInstance(caught.exception, slicewise.Interrupted)
        result = caught.exception.result
        self.assertTrue(result.interrupted)
        self.assertTrue(0 < result.variants[0]["replications"] < 50_000)
        self.assertGreater(len(result.workloads.to_pandas()), 0)

    def test_ctrl_c_while_a_cluster_is_planned_gives_what_there_is(self):
        """It took the process with it."""
        def stop(_, total, unit):
            if unit == "simulations" and total > 10:
                os.kill(os.getpid(), signal.SIGINT)

        with self.assertRaises(slicewise.Interrupted) as caught:
            slicewise.advise("scenarios/examples/logs/kubectl.json", seeds=1, progress=stop)
        self.assertIn("interrupted: the advice covers", caught.exception.result.readme)

    def test_other_exceptions_end_the_call(self):
        def refuse(*_):
            raise LookupError("enough")

        with self.assertRaisesRegex(LookupError, "enough"):
            slicewise.load(SHARED).run(seeds=50_000, progress=refuse)

    def test_progress_counts_to_the_end(self):
        seen = []
        slicewise.load(SHARED).run(seeds=3, progress=lambda *said: seen.append(said))
        self.assertEqual(seen[-1], (6, 6, "replications"))

    def test_a_bar_of_tqdm(self):
        from slicewise.program import Shown
        shown = Shown(True)
        shown._wanted = True  # pylint: disable=protected-access
        with shown as update:
            shown._begun += 3600  # pylint: disable=protected-access
            update(1, 10, "replications")
            self.assertIsNone(shown._bar)  # pylint: disable=protected-access
            shown._begun -= 7200  # pylint: disable=protected-access
            update(3, 10, "replications")
            self.assertEqual((shown._bar.n, shown._bar.total), (3, 10))  # pylint: disable=protected-access


class Sweeps(unittest.TestCase):
    GRID = {"nodes": [1, 2], "workloads.classifier.traffic.mean": ["10/s", "30/s"]}

    def test_every_point_by_any_executor(self):
        s = slicewise.load(SHARED)
        alone = [s.with_({"nodePools.t4.nodes": n, "workloads.classifier.traffic.mean": mean})
                 .run(seeds=1).json for n in (1, 2) for mean in ("10/s", "30/s")]
        processes = slicewise.sweep(s, self.GRID, seeds=1)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            threads = slicewise.sweep(s, self.GRID, seeds=1, executor=pool)
        for swept in (processes, threads):
            self.assertEqual([result.json for result in swept], alone)
        rows = processes.workloads.to_pandas()
        self.assertEqual(len(rows), 4 * 2 * 2)
        self.assertEqual(list(rows["workloads.classifier.traffic.mean"].unique()), ["10/s", "30/s"])

    def test_pools_that_map(self):
        s = slicewise.load(SHARED)
        with multiprocessing.pool.ThreadPool(2) as pool:
            swept = slicewise.sweep(s, {"nodes": [1, 2]}, seeds=1, executor=pool)
        self.assertEqual([result.json for result in swept],
                         [s.with_(nodes=n).run(seeds=1).json for n in (1, 2)])

    def test_ctrl_c_keeps_the_points_that_are_done(self):
        class Stops:
            def submit(self, function, scenario, given):
                future = concurrent.futures.Future()
                if "30/s" in str(scenario.settings):
                    future.set_exception(KeyboardInterrupt())
                else:
                    future.set_result(function(scenario, given))
                return future

        with self.assertRaises(slicewise.Interrupted) as caught:
            slicewise.sweep(slicewise.load(SHARED), self.GRID, seeds=1, executor=Stops())
        self.assertEqual(caught.exception.result.points,  # one overtook that which stopped
                         [{"nodes": n, "workloads.classifier.traffic.mean": "10/s"} for n in (1, 2)])

    def test_ctrl_c_of_this_process_alone_ends_a_sweep_by_processes(self):
        """As Jupyter interrupts: the other processes do not hear of it. It waited for all points, and gave none."""
        s = slicewise.load(SHARED)
        took = time.monotonic()
        s.run(seeds=100, jobs=1, progress=False)
        took = time.monotonic() - took
        cores = os.cpu_count()

        def stop(done, total, unit):
            self.assertEqual((total, unit), (20 * cores, "points"))
            os.kill(os.getpid(), signal.SIGINT)

        begun = time.monotonic()
        with self.assertRaises(slicewise.Interrupted) as caught:
            slicewise.sweep(s, {"seed": range(20 * cores)}, seeds=100, progress=stop)
        self.assertLess(time.monotonic() - begun, 10 * took + 5)
        swept = caught.exception.result
        self.assertTrue(1 <= len(swept) <= 5 * cores)
        self.assertEqual(len(swept.points), len(swept))
        self.assertEqual(swept[0].json, s.with_(seed=0).run(seeds=100).json)
        self.assertEqual(multiprocessing.active_children(), [])

    def test_ctrl_c_of_a_script_ends_it_quietly(self):
        """Its workers are told as well, as those of a terminal are."""
        script = ("import slicewise, os, signal\n"
                  "s = slicewise.load('%s')\n"
                  "def stop(*_): os.killpg(0, signal.SIGINT)\n"
                  "if __name__ == '__main__':\n"
                  "    try: slicewise.sweep(s, {'seed': range(40)}, seeds=50, progress=stop)\n"
                  "    except slicewise.Interrupted as stopped: print(stopped)\n" % SHARED)
        ended = alone(script)
        self.assertRegex(ended.stdout, r"^interrupted: \d+ of 40 points\n$")
        self.assertEqual((ended.stderr, ended.returncode), ("", 0))

    def test_ctrl_c_waits_for_no_result_that_is_half_sent(self):
        """Processes ended while they wrote more than a pipe holds; this one read the rest of it for ever."""
        script = ("import slicewise, slicewise.sweeps, os, signal\n"
                  "slicewise.sweeps._run = lambda scenario, given: bytes(20_000_000)\n"
                  "def stop(*_): os.killpg(0, signal.SIGINT)\n"
                  "try: slicewise.sweep(slicewise.load('%s'), {'seed': range(40)}, progress=stop)\n"
                  "except slicewise.Interrupted as stopped: print(stopped)\n" % SHARED)
        ended = alone(script)
        self.assertEqual((ended.stdout, ended.stderr, ended.returncode), ("interrupted: 0 of 40 points\n", "", 0))

    def test_what_is_no_list_of_values_is_refused(self):
        s = slicewise.load(SHARED)
        for grid in ({"workloads.classifier.traffic.mean": "10/s"}, {"nodes": 2}, {"nodes": {"a": 1}}):
            with self.assertRaisesRegex(slicewise.UsageError, "list of values"):
                slicewise.sweep(s, grid, seeds=1)
            with self.assertRaisesRegex(slicewise.UsageError, "list of values"):
                s.run(seeds=1, sweep=grid)
        with self.assertRaisesRegex(slicewise.UsageError, "one core"):
            slicewise.sweep(s, {"nodes": [1]}, seeds=1, jobs=2)

    def test_one_point_loses_no_others(self):
        """A type that EC2 does not have is known when it runs: all others were gone, and it was not said which."""
        s = slicewise.load(SHARED)
        with multiprocessing.pool.ThreadPool(2) as pool:
            for executor in (None, pool):
                with self.assertRaisesRegex(slicewise.PointFailed, "^instanceType=g9.xlarge: .*INSTANCE") as caught:
                    slicewise.sweep(s, {"instanceType": ["g4dn.xlarge", "g9.xlarge", "g5.xlarge"]}, seeds=1,
                                    executor=executor)
                failed = pickle.loads(pickle.dumps(caught.exception))
                self.assertEqual(failed.point, {"instanceType": "g9.xlarge"})
                self.assertEqual([point["instanceType"] for point in failed.result.points],
                                 ["g4dn.xlarge", "g5.xlarge"])
                self.assertEqual(failed.result[1].json, s.with_(instanceType="g5.xlarge").run(seeds=1).json)
                self.assertIsInstance(caught.exception.__cause__, slicewise.InputError)
        with self.assertRaisesRegex(slicewise.UsageError, "^journal: "):
            slicewise.sweep(s, {"nodes": [1, 2]}, journal="j.jsonl")

    def test_points_of_a_list(self):
        swept = slicewise.sweep(slicewise.load(SHARED), [{"nodes": 1}, {"nodes": 3}], seeds=1,
                                variant="alone")
        self.assertEqual([row["nodes"] for row in swept[1].pools], [3])

    def test_a_wrong_point_is_said_before_any_run(self):
        class Never:
            def submit(self, *_):
                raise AssertionError("ran")

        with self.assertRaises(slicewise.InputError):
            slicewise.sweep(slicewise.load(SHARED), {"nodes": [1, "many"]}, executor=Never())


if __name__ == "__main__":
    main()
