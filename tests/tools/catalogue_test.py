"""--catalogue and slicewise calibrate: files of the user's own, from measurement to report."""

import gzip
import json
import pathlib
import tempfile
import textwrap
import unittest

import yaml

from program import ROOT, check_schema, main, run, thorough

OWN = "scenarios/examples/own/catalogue.yaml"
MEASURED = "scenarios/examples/own/measurements.csv"
SCENARIO = """apiVersion: slicewise.dev/v1alpha1
kind: Scenario
metadata: {name: rack}
spec:
  region: berlin
  duration: 5m
  replications: 2
  nodePools:
    - {name: gpu, instanceType: rack.4090x4, nodes: 1,
       devicePlugin: {sharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 2}]}}}}
  workloads:
    - {name: detector, kind: Service, replicas: 2, profile: yolos-small/a100-sxm4-80gb/b1,
       gpuMemory: {resident: 2Gi}, traffic: {mean: 2/s}}
"""


class OwnCatalogue(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.scenario = self.folder / "rack.yaml"
        self.scenario.write_text(SCENARIO, encoding="utf-8")
        self.profiles = self.folder / "catalogue" / "profiles.yaml"
        self.profiles.parent.mkdir()
        result = run("calibrate", MEASURED, "--out", str(self.profiles))
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_the_files_of_the_explanation_run_as_they_stand(self):
        text = run("explain", "catalogue").stdout
        for name in ("nodes", "scenario"):
            block = text.split(f"  # {name}.yaml\n", 1)[1].split("\n\n", 1)[0]
            (self.folder / f"{name}.yaml").write_text(textwrap.dedent(block), encoding="utf-8")
        files = (str(self.folder / "scenario.yaml"), "--catalogue", str(self.folder / "nodes.yaml"))
        for command in [line.split() for line in text.splitlines()
                        if line.startswith("  slicewise ")]:
            result = run(command[1], *files, *command[6:])
            self.assertEqual(result.returncode, 0, f"{command}: {result.stderr}")
        document = json.loads(run("run", *files, "-o", "json").stdout)
        # 8 jobs on 4 GPUs for two times half an hour, at $2.1 an hour.
        self.assertAlmostEqual(document["variants"][0]["cost"]["totalUsd"], 2.1, delta=0.05)

    def test_a_calibrated_profile_runs_on_a_node_of_ones_own_and_counts_as_measured(self):
        result = run("run", str(self.scenario), "--catalogue", OWN, "--catalogue",
                     str(self.profiles.parent), "-o", "json")
        self.assertEqual(result.returncode, 0, result.stderr)
        document = json.loads(result.stdout)
        check_schema(self, "result", document)
        stamp = document["metadata"]
        self.assertEqual(stamp["catalogueFiles"], [OWN, str(self.profiles)])
        self.assertEqual(len(set(stamp["catalogueSha256"])), 2)
        self.assertGreater(document["variants"][0]["provenance"]["measured"], 2)
        self.assertGreater(document["variants"][0]["cost"]["totalUsd"], 0)

    def test_nodes_with_more_gpus_than_are_modelled(self):
        own = self.folder / "big.yaml"

        def run_on(gpus, of_a_pod):
            own.write_text("regions: [dc]\ninstances:\n- {name: box, vcpus: 64, memoryMib: 524288, gpu: {model: L40S, "
                           f"count: {gpus}}}}}\nprices:\n- {{instanceType: box, region: dc, usdPerHour: 6}}\n", encoding="utf-8")
            self.scenario.write_text(f"""apiVersion: slicewise.dev/v1alpha1
kind: Scenario
metadata: {{name: big}}
spec:
  region: dc
  until: AllJobsDone
  nodePools: [{{name: gpu, instanceType: box, nodes: 1}}]
  workloads:
  - {{name: t, kind: Job, count: 5, podTemplate: {{resources: {{limits: {{nvidia.com/gpu: {of_a_pod}}}}}}},
     gpuMemory: {{resident: 3Gi}}, work: {{units: 60}}, measured: {{device: L40S, unitTime: 3s}}}}
""", encoding="utf-8")
            return run("run", str(self.scenario), "--catalogue", str(own))

        self.assertEqual(run_on(8, 2).returncode, 0)
        self.assertEqual(run_on(16, 1).returncode, 0)
        of_ten = run_on(10, 2)
        self.assertEqual(of_ten.returncode, 3, of_ten.stderr)
        self.assertIn("pods of \"t\" with 2 GPUs on nodes of 10 GPUs", of_ten.stderr)
        self.assertIn("error[VALUE_RANGE]", run_on(17, 1).stderr)

    @thorough
    def test_inputs_are_drawn_from_the_intervals_that_calibrate_wrote(self):
        arguments = ("run", str(self.scenario), "--catalogue", OWN, "--catalogue",
                     str(self.profiles.parent), "--inputs", "sampled")
        result = run(*arguments, "-o", "json", "-j", "2")
        self.assertEqual(result.returncode, 0, result.stderr)
        document = json.loads(result.stdout)
        check_schema(self, "result", document)
        self.assertIs(document["metadata"]["sampledInputs"], True)
        ranges = {(r.get("workload"), r["name"]): r for r in document["variants"][0]["ranges"]}
        p99 = ranges["detector", "latencyP99"]
        self.assertGreater(p99["least"], 0)
        self.assertLess(p99["least"], p99["value"])
        self.assertLess(p99["value"], p99["most"])
        self.assertIn((None, "per1kRequestsInSloUsd"), ranges)
        self.assertEqual(run(*arguments, "-o", "json", "-j", "1").stdout, result.stdout)
        table = run(*arguments)
        self.assertIn("INPUTS DRAWN", table.stdout)
        stored = self.folder / "stored.json"
        stored.write_text(result.stdout, encoding="utf-8")
        page = self.folder / "page.html"
        again = run("report", str(stored), "--catalogue", OWN, "--catalogue",
                    str(self.profiles.parent), "-o", f"html={page}")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn("--inputs sampled", page.read_text(encoding="utf-8"))

    def test_without_intervals_there_is_nothing_to_draw(self):
        result = run("run", "scenarios/examples/shared-inference.yaml", "--inputs", "sampled")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("error[INPUT_MISSING]: there is nothing to draw: no workload names a profile or a language model "
                      "whose figures have intervals", result.stderr)

    def test_what_is_uncertain_is_checked(self):
        bad = self.folder / "bad.yaml"
        bad.write_text("""kind: Catalogue
apiVersion: slicewise.dev/v1alpha1
profiles:
  - name: a
    kind: inference
    gpu: T4
    soloMs: 10
    uncertainty:
      - {figure: solo, halfWidth95: 1}
      - {figure: duty, halfWidth95: 0.1, correlations: {normP: 0.5}}
      - {figure: duty, halfWidth95: -1}
      - {figure: normP, halfWidth95: 1, least: 2, most: 1}
      - {figure: pressure, halfWidth95: 1, most: 1}
""", encoding="utf-8")
        result = run("get", "profiles", "--catalogue", str(bad))
        self.assertEqual(result.returncode, 3, result.stderr)
        for place in ("9:18: error[ENUM_UNKNOWN]", "10:56: error[VALUE_RANGE]",
                      "11:18: error[VALUE_RANGE]",
                      "11:37: error[VALUE_RANGE]", "12:48: error[VALUE_RANGE]",
                      "13:50: error[VALUE_RANGE]"):
            self.assertIn(place, result.stderr)

    def test_rows_that_do_not_say_who_shares_or_hold_the_sum_of_all(self):
        def said(text):
            rows = self.folder / "rows.csv"
            rows.write_text(text, encoding="utf-8")
            result = run("calibrate", str(rows))
            return result.returncode, result.stderr

        self.assertEqual(said("workload,gpu,sharing,latency_ms\nx,A10G,alone,20\n")[0], 0)
        code, text = said("workload,gpu,sharing,latency_ms\nx,A10G,alone,20\nx,A10G,mps,24\n")
        self.assertEqual(code, 3)
        self.assertIn("rows.csv:3:8: error[FIELD_MISSING]: nobody says who shares the GPU", text)
        rates = "workload,gpu,sharing,clients,rate_per_s\nx,A10G,alone,1,100\nx,A10G,mps,2,{}\n"
        self.assertEqual(said(rates.format(85))[0], 0)
        code, text = said(rates.format(170))
        self.assertEqual(code, 3)
        self.assertIn("2 processes under MPS: 5.882 ms each, and 10 ms alone", text)

    def calibrated_service(self, measured, sharing, replicas, columns="host_cpu_ms"):
        """The result of a Service that names the profile calibrated from rows, each replica always asked."""
        rows = self.folder / "rows.csv"
        rows.write_text(f"workload,gpu,latency_ms,sharing,clients,{columns}\n" + measured, encoding="utf-8")
        profile = self.folder / "profile.yaml"
        self.assertEqual(run("calibrate", str(rows), "--out", str(profile)).returncode, 0)
        mps = "mps: {uncapped: true}, " if sharing == "mps" else ""
        scenario = f"""apiVersion: slicewise.dev/v1alpha1
kind: Scenario
metadata: {{name: calibrated}}
spec:
  duration: 1m
  nodePools:
    - {{name: g, instanceType: g5.2xlarge, {mps}devicePlugin: {{version: v1, sharing: {{{sharing}: {{
        resources: [{{name: nvidia.com/gpu, replicas: {max(2, replicas)}}}]}}}}}}}}
  workloads:
    - {{name: a, kind: Service, replicas: {replicas}, profile: w/a10g/b1, gpuMemory: {{resident: 1800Mi}},
       podTemplate: {{resources: {{limits: {{nvidia.com/gpu: 1}}}}}},
       serving: {{routing: LeastOutstanding}}, traffic: {{shape: ClosedLoop, clients: {replicas}}}}}
"""
        result = run("run", "-f", "-", "--catalogue", str(profile), "-o", "json", stdin=scenario)
        self.assertIn(result.returncode, (0, 99), result.stderr)
        return json.loads(result.stdout)["variants"][0]

    def mean_latency(self, measured, sharing, replicas, columns="host_cpu_ms"):
        """In ms."""
        result = self.calibrated_service(measured, sharing, replicas, columns)
        return 1e3 * result["workloads"][0]["latencySeconds"]["mean"]

    def test_one_co_location_is_not_several_settings(self):
        one = "w,A10G,20,,,\nw,A10G,30,mps,2,\n"
        result = self.calibrated_service(one, "mps", 2)
        self.assertEqual([e["evidence"] for e in result["expectedErrors"]][:1], ["coLocation"])
        assumed = "\n".join(result["provenance"]["assumedInputs"])
        self.assertIn("normP (taken as 3)", assumed)
        self.assertIn("bandwidthShare (taken as 50 %)", assumed)
        several = one + "w,A10G,44,mps,3,\nw,A10G,58,mps,4,\nw,A10G,72,mps,5,\n"
        result = self.calibrated_service(several, "mps", 2)
        self.assertEqual(result["expectedErrors"][0]["evidence"], "settings")

    def test_a_service_with_a_calibrated_profile_takes_as_long_as_was_measured(self):
        half_idle = "w,A10G,20,,,\nw,A10G,24,timeSlicing,2,\nw,A10G,21,mps,2,\n"
        self.assertAlmostEqual(self.mean_latency(half_idle, "timeSlicing", 1), 20, delta=0.1)
        # Requests that all take as long stay in step, and ask for the GPU at once.
        self.assertAlmostEqual(self.mean_latency(half_idle, "timeSlicing", 2), 30, delta=2)
        self.assertAlmostEqual(self.mean_latency(half_idle, "mps", 2), 22, delta=1.5)

    @thorough
    def test_a_service_in_turns_returns_the_rows_that_it_was_fitted_on(self):
        alone = "w,A10G,20,,,30\n"  # with scatter: phases meet by chance
        for copies, measured in ((2, 24), (2, 36), (4, 35), (4, 60), (8, 90), (8, 150)):
            with self.subTest(copies=copies, measured=measured):
                rows = alone + f"w,A10G,{measured},timeSlicing,{copies},\n"
                run_as = self.mean_latency(rows, "timeSlicing", copies, "p99_ms")
                self.assertAlmostEqual(run_as, measured, delta=0.06 * measured)

    def test_what_counters_bound_is_told_once(self):
        rows = self.folder / "rows.csv"
        rows.write_text("workload,gpu,latency_ms,sharing,clients,gpu_util_percent,sm_active_percent,dram_active_percent\n"
                        "w,A10G,20,,,40,50,5\nw,A10G,30,mps,2,,,\n", encoding="utf-8")
        profile = self.folder / "profile.yaml"
        self.assertEqual(run("calibrate", str(rows), "--out", str(profile)).returncode, 0)
        read = run("get", "profiles", "--catalogue", str(profile))
        self.assertEqual((read.returncode, read.stderr), (0, ""))

    def test_the_cpu_time_of_a_request_is_within_its_latency(self):
        self.assertAlmostEqual(self.mean_latency("w,A10G,20,,,10\n", "timeSlicing", 1), 20, delta=0.1)

    def test_the_variable_stands_in_for_the_flag(self):
        by_flag = run("get", "instances", "rack.4090x4", "--region", "berlin", "--catalogue", OWN)
        by_variable = run("get", "instances", "rack.4090x4", "--region", "berlin",
                          env={"SLICEWISE_CATALOGUE": OWN})
        self.assertEqual(by_flag.returncode, 0, by_flag.stderr)
        self.assertEqual(by_flag.stdout, by_variable.stdout)
        self.assertEqual(run("get", "instances", "rack.4090x4").returncode, 2)

    def test_a_stored_result_wants_the_files_that_it_was_made_with(self):
        stored = self.folder / "result.json"
        flags = ("--catalogue", f"{OWN},{self.profiles}")
        self.assertEqual(run("run", str(self.scenario), *flags, "-o", "json", "--out",
                             str(stored)).returncode, 0)
        self.assertEqual(run("report", str(stored), *flags).returncode, 0)
        stale = run("report", str(stored), "--catalogue", OWN)
        self.assertNotEqual(stale.returncode, 0)
        self.assertIn("other catalogue files", stale.stderr)

    def test_files_obey_the_schema(self):
        for path in (ROOT / OWN, self.profiles):
            document = yaml.safe_load(path.read_text(encoding="utf-8"))
            document.update({"date": str(date) for date in [document.get("date")] if date})
            check_schema(self, "catalogue", document)

    def test_mistakes_show_their_line(self):
        bad = self.folder / "bad.yaml"
        bad.write_text("gpus:\n  - {name: X, smCount: 0}\n", encoding="utf-8")
        result = run("get", "gpus", "--catalogue", str(bad))
        self.assertEqual((result.returncode, result.stdout), (3, ""))
        self.assertIn("bad.yaml:2:24: error[VALUE_RANGE]", result.stderr)
        (self.folder / "empty").mkdir()
        self.assertEqual(run("get", "gpus", "--catalogue", str(self.folder / "empty")).returncode, 5)
        self.assertEqual(run("get", "gpus", "--catalogue", "no-such.yaml").returncode, 5)


class Calibrate(unittest.TestCase):
    def test_mistakes_of_all_files_at_once(self):
        with tempfile.TemporaryDirectory() as folder:
            bad = pathlib.Path(folder) / "bad.csv"
            bad.write_text("workload,gpu,latency_ms\na,T4,x\nb,T5,1\n", encoding="utf-8")
            result = run("calibrate", "-f", str(bad), "-f", MEASURED)
            self.assertEqual((result.returncode, result.stdout), (3, ""))
            self.assertIn("bad.csv:2:6: error[FIELD_TYPE]", result.stderr)
            self.assertIn("bad.csv:3:3: error[GPU_UNKNOWN]", result.stderr)

    def test_a_config_of_hugging_face_is_a_model_that_scenarios_name(self):
        config = {"model_type": "llama", "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32,
                  "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256,
                  "torch_dtype": "bfloat16", "tie_word_embeddings": False}
        with tempfile.TemporaryDirectory() as folder:
            file, out = pathlib.Path(folder, "config.json"), pathlib.Path(folder, "models.yaml")
            file.write_text(json.dumps(config), encoding="utf-8")
            unnamed = run("calibrate", str(file), "--gpu", "A10G")
            self.assertEqual(unnamed.returncode, 3)
            self.assertIn("--workload", unnamed.stderr)
            made = run("calibrate", str(file), "--gpu", "A10G", "--workload", "mine", "--out", str(out))
            self.assertEqual(made.returncode, 0, made.stderr)
            self.assertIn("llm: {model: mine/a10g}", made.stdout)
            check_schema(self, "catalogue", yaml.safe_load(out.read_text(encoding="utf-8")))
            scenario = (ROOT / "scenarios/examples/chat-llm.yaml").read_text(encoding="utf-8")
            shipped = "llama-3-8b-fp16/a10g"
            self.assertIn(shipped, scenario)

            def tokens(text, *flags):
                ran = run("run", "-f", "-", "--replications", "1", "-o", "json", *flags, stdin=text)
                self.assertIn(ran.returncode, (0, 99), ran.stderr)
                return json.loads(ran.stdout)["variants"][0]["workloads"][0]["tokens"]
            own = tokens(scenario.replace(shipped, "mine/a10g"), "--catalogue", str(out))
            known = tokens(scenario)
            self.assertAlmostEqual(own["perTokenSeconds"]["mean"], known["perTokenSeconds"]["mean"],
                                   delta=0.05 * known["perTokenSeconds"]["mean"])

    def test_a_step_without_a_config_names_nothing_and_says_so(self):
        with tempfile.TemporaryDirectory() as folder:
            files, out = [], pathlib.Path(folder, "out.yaml")
            for at_once, first, later in ((1, 55, 27), (8, 160, 28)):
                files.append(str(pathlib.Path(folder, f"{at_once}.json")))
                pathlib.Path(files[-1]).write_text(json.dumps(
                    {"model_id": "llama", "request_rate": "inf", "max_concurrency": at_once, "completed": 64,
                     "total_input_tokens": 16384, "total_output_tokens": 8192, "mean_ttft_ms": first,
                     "mean_tpot_ms": later}), encoding="utf-8")
            result = run("calibrate", *files, "--gpu", "A10G", "--out", str(out))
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("names nothing", result.stderr)
            self.assertEqual(yaml.safe_load(out.read_text(encoding="utf-8"))["profiles"], [])

    def test_packed_files_are_read(self):
        with tempfile.TemporaryDirectory() as folder:
            packed = pathlib.Path(folder) / "m.csv.gz"
            packed.write_bytes(gzip.compress((ROOT / MEASURED).read_bytes()))
            plain = run("calibrate", MEASURED)
            self.assertEqual(run("calibrate", str(packed)).stdout, plain.stdout)
            validated = run("validate", "measurements", "--measurements", str(packed), "-o", "json")
            self.assertEqual(validated.returncode, run("validate", "measurements", "--measurements", MEASURED).returncode)
            self.assertIn("m.csv.gz", validated.stdout)

    def test_kernels_of_nsys_belong_to_the_workload_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            kernels, alone = pathlib.Path(folder, "kernels.csv"), pathlib.Path(folder, "alone.csv")
            kernels.write_text("Time (%),Total Time (ns),Instances,Avg (ns),Name\n"
                               "60.0,600000000,6000,100000.0,gemm\n40.0,400000000,44000,9090.9,relu\n", encoding="utf-8")
            alone.write_text("workload,gpu,batch,latency_ms\nw,A10G,1,20\n", encoding="utf-8")
            result = run("calibrate", str(kernels), str(alone))
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertRegex(result.stdout, r"kernelMs +0\.02 ")
            alone.write_text("workload,gpu,batch,latency_ms\nw,A10G,1,20\nw,A10G,8,90\n", encoding="utf-8")
            unclear = run("calibrate", str(kernels), str(alone))
            self.assertEqual(unclear.returncode, 3)
            self.assertIn("--batch", unclear.stderr)
            result = run("calibrate", str(kernels), str(alone), "--batch", "8")
            self.assertEqual(result.stdout.count("kernelMs"), 1, result.stderr)

    def test_a_run_at_a_rate_stops_no_calibration_but_is_none(self):
        rate = json.dumps({"model_id": "llama", "request_rate": 4.0, "max_concurrency": None, "mean_tpot_ms": 28.2})
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "rate.json")
            file.write_text(rate, encoding="utf-8")
            result = run("calibrate", str(file), MEASURED, "--gpu", "A10G")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("rate.json: nothing of it is a measurement", result.stderr)
            self.assertEqual(run("calibrate", str(file), "--gpu", "A10G").returncode, 3)

    def test_driver_and_date_go_into_the_profile(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder, "p.yaml")
            run("calibrate", "-", "--workload", "w", "--gpu", "T4", "--driver", "550.54", "--date", "2026-11-01",
                "--out", str(out), stdin="latency_ms\n12.5\n")
            document = yaml.safe_load(out.read_text(encoding="utf-8"))
        self.assertEqual(document["profiles"][0]["provenance"]["soloMs"].split(",")[:2],
                         ["measured 2026-11-01 on T4", " driver 550.54"])

    def test_a_scenario_names_its_profiles(self):
        scenario = textwrap.dedent("""\
            apiVersion: slicewise.dev/v1alpha1
            kind: Scenario
            metadata: {name: own}
            spec:
              profileFiles: [profiles/mine.yaml]
              duration: 5m
              replications: 2
              nodePools: [{name: gpu, instanceType: g5.xlarge, nodes: 1}]
              workloads: [{name: api, kind: Service, replicas: 1, profile: w/a10g/b1, gpuMemory: {resident: 2Gi},
                           traffic: {mean: 2/s}}]
            """)
        with tempfile.TemporaryDirectory() as folder:
            file, profiles = pathlib.Path(folder, "own.yaml"), pathlib.Path(folder, "profiles", "mine.yaml")
            file.write_text(scenario, encoding="utf-8")
            file.write_text(scenario.replace("duration", "durration"), encoding="utf-8")
            for verb in ("run", "check"):
                both = run(verb, str(file))
                self.assertIn("durration", both.stdout + both.stderr, verb)  # its own mistake as well
                self.assertIn("mine.yaml", both.stdout + both.stderr, verb)
            file.write_text(scenario, encoding="utf-8")
            missing = run("run", str(file))
            self.assertEqual(missing.returncode, 5)
            self.assertIn("own.yaml:5:18: error[FILE_UNREADABLE]", missing.stderr)
            self.assertIn("relative to the folder", missing.stderr)
            profiles.parent.mkdir()
            run("calibrate", "-", "--workload", "w", "--gpu", "A10G", "--out", str(profiles),
                stdin="latency_ms,p99_ms\n20,60\n")
            named = run("run", str(file), "-o", "json")
            self.assertEqual(named.returncode, 0, named.stderr)
            document = json.loads(named.stdout)
            self.assertEqual(document["metadata"]["catalogueFiles"], [str(profiles)])
            # Only its time alone was measured: what it takes of a GPU is assumed, and sampled runs draw it.
            assumed = document["variants"][0]["provenance"]["assumedInputs"]
            self.assertTrue(any("profiles like its own" in one for one in assumed), assumed)
            self.assertEqual(run("run", str(file), "-q", "--inputs", "sampled").returncode, 0)
            # Requests scatter as the quantile says: exp(2.326 x 0.55) times the median of 17 ms.
            latency = document["variants"][0]["workloads"][0]["latencySeconds"]
            self.assertGreater(latency["p99"], 0.05)
            again = run("run", str(file), "-o", "json", "--profiles", str(profiles.parent))
            self.assertEqual(json.loads(again.stdout)["variants"], document["variants"])
            self.assertEqual(json.loads(again.stdout)["metadata"]["catalogueFiles"], [str(profiles)])
            for arguments in (("check", str(file)), ("export", "-f", str(file), "--to", "scenario"),
                              ("bugreport", "-f", str(file))):
                with self.subTest(verb=arguments[0]):
                    result = run(*arguments)
                    self.assertEqual(result.returncode, 0, result.stderr)
            # A scenario that is written into another folder still finds them.
            moved = pathlib.Path(folder, "written", "own.yaml")
            moved.parent.mkdir()
            self.assertEqual(run("export", "-f", str(file), "--to", "scenario", "--out", str(moved)).returncode, 0)
            self.assertIn("profileFiles: [../profiles/mine.yaml]", moved.read_text(encoding="utf-8"))
            self.assertEqual(run("run", str(moved), "-q").returncode, 0)
            stored = pathlib.Path(folder, "stored.json")
            stored.write_text(named.stdout, encoding="utf-8")
            page = run("report", str(stored), "-o", "md")
            self.assertEqual(page.returncode, 0, page.stderr)
            unnamed = run("run", "-f", "-", stdin=scenario.replace("  profileFiles: [profiles/mine.yaml]\n", ""))
            self.assertIn("profileFiles", unnamed.stderr)
            profiles.write_text("profiles: [{name: x, kind: inference, gpu: A10G, soloMs: -1}]\n", encoding="utf-8")
            bad = run("check", str(file))
            self.assertEqual(bad.returncode, 3)
            self.assertIn("mine.yaml:1:", bad.stdout + bad.stderr)

    def test_flags_say_what_the_file_leaves_out(self):
        result = run("calibrate", "-", "--workload", "w", "--gpu", "T4", "--batch", "4",
                     stdin="latency_ms\n12.5\n")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("w/t4/b4", result.stdout)
        self.assertIn("Not determined", result.stdout)


if __name__ == "__main__":
    main()
