"""kind: TraceJobs: jobs of a log in run, compare, plan, max-load and sensitivity."""

import json
import pathlib
import random
import re
import subprocess
import tempfile
import unittest

from program import BINARY, ROOT, environment, interrupt_at_work, main, run, thorough

EXAMPLE = "scenarios/examples/recorded-team.yaml"
OPENB = "scenarios/examples/logs/openb.csv"
OBJECTIVE_MISSED = 99

SCENARIO = """
apiVersion: slicewise.dev/v1alpha1
kind: Scenario
metadata: {name: t}
spec:
  replications: 2
  nodePools:
  - name: gpu
    instanceType: g4dn.xlarge
    nodes: 1
    devicePlugin: {sharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 2}]}}}
  workloads:
"""
BY_HAND = """
  - name: %s
    count: %d
    submitAt: %ds
    submitInterval: %ds
    podTemplate: {resources: {limits: {nvidia.com/gpu: 1}}}
    work: {units: %d, unitName: job-second}
    measured: {unitTime: 1s, gpuUtil: 80%%, smActive: 30%%, provenance: Measured}
"""
TRACED = "  - {name: team, kind: TraceJobs, trace: {file: t.csv%s}}\n"
HEADER = "arrival_s,run_s,gpus,gpu_permille,sm_permille\n"


class TraceJobs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def variant(self, workloads, trace="", scenario=SCENARIO):
        (self.folder / "t.csv").write_text(trace)
        (self.folder / "s.yaml").write_text(scenario + workloads)
        result = run("run", "-f", str(self.folder / "s.yaml"), "-o", "json")
        self.assertEqual(result.returncode, 0, result.stderr)
        variant = json.loads(result.stdout)["variants"][0]
        for finding in variant["findings"]:
            for place in ("line", "column", "length"):
                finding.pop(place, None)  # of the workload in the file
        return variant

    def test_alike_jobs_are_the_job_that_a_hand_would_write(self):
        rows = "".join(f"{100 + 40 * n},300,1,800,300\n" for n in range(3))
        traced = self.variant(TRACED % "", HEADER + rows)
        by_hand = self.variant(BY_HAND % ("team-1gpu", 3, 0, 40, 300))
        self.assert_alike(traced, by_hand)
        twice = self.variant(TRACED % ", scale: 2", HEADER + rows)
        by_hand = self.variant(BY_HAND % ("team-1gpu", 3, 0, 20, 300))
        self.assert_alike(twice, by_hand)

    def assert_alike(self, traced, by_hand):
        """Every figure but the names, and what only the jobs of a log have."""
        self.assertEqual(len(traced["workloads"][0].pop("recorded")["classes"]), 1)
        for variant in (traced, by_hand):
            variant["provenance"].pop("assumedInputs")  # of "team", of "team-1gpu"
            for finding in variant["findings"]:
                finding.pop("workloads", None)
                finding["message"] = finding["message"].replace("team-1gpu", "team")
            for key in ("name", "kind", "neighbours"):
                variant["workloads"][0].pop(key, None)
            variant["workloads"][0]["bill"].pop("perGpuHourUsd", None)
            variant["cost"]["split"].pop("perGpuHourUsd", None)
        self.assertEqual(traced, by_hand)

    def test_three_jobs_are_three_jobs(self):
        jobs = ((0, 300), (40, 900), (90, 60))
        traced = self.variant(TRACED % "",
                              HEADER + "".join(f"{at},{s},1,800,300\n" for at, s in jobs))
        by_hand = self.variant("".join(BY_HAND % (f"j{n}", 1, at, 0, s)
                                       for n, (at, s) in enumerate(jobs)))
        for variant in (traced, by_hand):
            variant["cost"].pop("split")  # whose share it is: of one workload, or of three
            for gpu in variant["gpus"]:
                gpu.pop("pods")
        for figure in ("makespanSeconds", "cost", "gpus"):
            self.assertEqual(traced[figure], by_hand[figure], figure)
        mine = traced["workloads"][0]
        self.assertEqual(mine["completed"], 3)
        mean = sum(w["jobCompletionSeconds"]["mean"] for w in by_hand["workloads"]) / 3
        self.assertAlmostEqual(mine["jobCompletionSeconds"]["mean"], mean, places=5)

    def test_without_sharing_and_start_up_it_is_a_replay(self):
        """Jobs of 1, 2 and 4 GPUs on one node, none larger than it: who waits, and until when."""
        rows = ((0, 900, 2), (10, 1200, 2), (20, 300, 1), (950, 400, 4), (960, 250, 1))
        trace = "arrival_s,run_s,gpus\n" + "".join(f"{a},{r},{g}\n" for a, r, g in rows)
        nodes = SCENARIO.replace("g4dn.xlarge", "p3.8xlarge").split("    devicePlugin")[0]
        traced = self.variant(TRACED % "", trace, nodes + "  workloads:\n")
        replay = run("replay", "-f", str(self.folder / "t.csv"), "--instances", "p3.8xlarge=1",
                     "--queue", "backfill", "-o", "json")  # as kube-scheduler
        self.assertEqual(replay.returncode, 0, replay.stderr)
        scheduler = json.loads(replay.stdout)["schedulers"][0]
        self.assertEqual(sum(w["completed"] for w in traced["workloads"]), len(rows))
        self.assertEqual(traced["makespanSeconds"]["mean"], scheduler["makespanSeconds"])
        waited = sum(w["waitSeconds"]["mean"] * w["waitSeconds"]["count"]
                     for w in traced["workloads"])
        self.assertEqual(waited / 2 / len(rows), scheduler["waitSeconds"]["mean"])

    def test_beside_each_other_it_is_a_replay(self):
        """One rule of how busy a job was: use, SM activity alone, the part of a GPU asked for."""
        for column, values in (("gpu_permille", (600, 900)), ("sm_permille", (600, 900)),
                               ("gpu_milli", (600, 900)), ("gpus", (1, 1))):
            with self.subTest(column=column):
                header = "arrival_s,run_s,gpus" + ("" if column == "gpus" else "," + column)
                trace = header + "\n" + "".join(
                    f"0,{run_s},1{'' if column == 'gpus' else f',{value}'}\n"
                    for run_s, value in zip((900, 1200), values))
                traced = self.variant(TRACED % "", trace)
                replay = run("replay", "-f", str(self.folder / "t.csv"), "--instances",
                             "g4dn.xlarge=1", "--sharing", "time-slicing:4", "-o", "json")
                self.assertEqual(replay.returncode, 0, replay.stderr)
                scheduler = json.loads(replay.stdout)["schedulers"][0]
                self.assertGreater(scheduler["company"]["slowdown"]["max"], 1.05)
                self.assertAlmostEqual(traced["makespanSeconds"]["mean"],
                                       scheduler["makespanSeconds"], delta=1e-3)

    def test_the_work_of_several_gpus_is_no_less_on_one(self):
        trace = "arrival_s,run_s,gpus,gpu_permille\n0,3600,8,1000\n0,1800,4,500\n"
        # Of the time that nvidia-smi calls busy kernels ran in three quarters; the rest is the host's.
        for replicas, times in ((0, 1), (8, 8 * 0.75 + 0.25)):
            scenario = SCENARIO.replace("g4dn.xlarge", "p4d.24xlarge").replace("nodes: 1", "nodes: 2")
            scenario = (scenario.replace("replicas: 2", f"replicas: {replicas}") if replicas
                        else scenario.split("    devicePlugin")[0] + "  workloads:\n")
            variant = self.variant(TRACED % "", trace, scenario)
            worked = sum(w["gpuBusyShare"] for w in variant["workloads"])
            self.assertAlmostEqual(worked * 16 * variant["makespanSeconds"]["mean"] / 3600, 0.75 * 9,
                                   delta=0.1)
            self.assertAlmostEqual(variant["makespanSeconds"]["mean"], 3600 * times, delta=60)

    # Two users on one node of one GPU: ana's job holds it when bo's comes. Of two classes.
    QUEUED = ("arrival_s,run_s,gpus,gpu_permille,deadline_s,time_limit_s,user\n"
              "0,1000,1,900,1100,900,ana\n100,500,1,300,1000,600,bo\n3000,500,1,300,,,bo\n")

    def judged(self, slo, more=""):
        workloads = "  - {name: team, kind: TraceJobs, trace: {file: t.csv%s}, slo: %s}\n"
        (self.folder / "t.csv").write_text(self.QUEUED)
        (self.folder / "s.yaml").write_text(
            SCENARIO.split("    devicePlugin")[0] + "  workloads:\n" + workloads % (more, slo))
        result = run("run", "-f", str(self.folder / "s.yaml"), "-o", "json")
        self.assertIn(result.returncode, (0, OBJECTIVE_MISSED), result.stderr)
        [workload] = json.loads(result.stdout)["variants"][0]["workloads"]
        return result.returncode, workload

    def test_objectives_hold_for_the_trace_as_a_whole(self):
        code, team = self.judged("{waitP95: 950s, completionP95: 30m, slowdownP95: 1.1, "
                                 "deadlinesMet: 50%}")
        self.assertEqual((code, team["name"], team["kind"]), (0, "team", "TraceJobs"))
        found = {o["name"]: o for o in team["objectives"]}
        waited, done, slowdown, met = (found[name] for name in (
            "waitP95", "completionP95", "slowdownP95", "deadlinesMet"))
        self.assertAlmostEqual(waited["value"], 900, delta=10)  # bo's first job, not 0
        self.assertAlmostEqual(done["value"], 1400, delta=10)
        self.assertAlmostEqual(slowdown["value"], 1, delta=0.01)
        self.assertEqual(met["value"], 0.5)  # of the two that have one
        everybody = team["recorded"]["all"]
        self.assertEqual((everybody["jobs"], everybody["finished"]), (3, 3))
        self.assertEqual(everybody["pastTimeLimit"], 1)  # 1,000 s of 900
        self.assertEqual([c["figures"]["jobs"] for c in team["recorded"]["classes"]], [2, 1])
        code, team = self.judged("{waitP95: 850s}")
        self.assertEqual(code, OBJECTIVE_MISSED)

    def test_the_worst_users_are_shown(self):
        rows = "".join(f"0,100,1,u{user:02}\n" for user in range(60))
        (self.folder / "t.csv").write_text("arrival_s,run_s,gpus,user\n" + rows)
        pool = SCENARIO.split("    devicePlugin")[0]
        (self.folder / "s.yaml").write_text(
            pool + "  workloads:\n  - {name: team, kind: TraceJobs, trace: {file: t.csv, "
            "judgeBy: user}, slo: {waitP95: 10m}}\n")
        shown = run("run", "-f", str(self.folder / "s.yaml")).stdout
        groups = re.findall(r"^  (u\d\d) ", shown.split("JOBS OF")[1], re.M)
        self.assertEqual((len(groups), groups[0]), (12, "u59"))
        self.assertIn("the worst first; and 48 more (-o wide)", shown)
        # Every job came to its end; the objective that is missed is none of single jobs.
        self.assertNotIn("100.00%", shown)

    def test_objectives_hold_for_each_user(self):
        code, team = self.judged("{waitP95: 950s, deadlinesMet: 50%}", ", judgeBy: user")
        waited, met = team["objectives"]
        self.assertEqual((code, waited["of"], met["of"]), (OBJECTIVE_MISSED, "bo", "bo"))
        self.assertEqual((waited["pass"], met["pass"], met["value"]), (True, False, 0))
        ana, bo = sorted(team["recorded"]["judged"], key=lambda group: group["name"])
        self.assertEqual((ana["name"], ana["waitP95Seconds"]), ("ana", 0))
        self.assertEqual((bo["name"], bo["jobs"]), ("bo", 2))

    @thorough
    def test_jobs_with_several_gpus_are_placed_beside_those_that_share(self):
        rows = "".join(f"{n * 600},3000,{8 if n % 10 == 0 else 1},300,100\n" for n in range(60))
        (self.folder / "t.csv").write_text(HEADER + rows)
        (self.folder / "s.yaml").write_text(
            SCENARIO.replace("g4dn.xlarge", "g5.48xlarge").split("    devicePlugin")[0] +
            "  workloads:\n  - {name: team, kind: TraceJobs, trace: {file: t.csv}, "
            "gpuMemory: {resident: 4Gi}, slo: {waitP95: 20m, slowdownP95: 2}}\n")
        scenario = str(self.folder / "s.yaml")
        plan = run("plan", "-f", scenario, "--instances", "g5.xlarge,g5.48xlarge", "-o", "json")
        self.assertEqual(plan.returncode, 0, plan.stderr)
        plan = json.loads(plan.stdout)
        best = plan["options"][0]
        of = {name: pool for pool in best["pools"] for name in pool["workloads"]}
        wide, small = of["team-8gpu"], of["team-1gpu"]
        self.assertEqual((wide["strategy"], wide["instanceType"]), ("exclusive", "g5.48xlarge"))
        self.assertNotEqual(small["strategy"], "exclusive")
        self.assertEqual(plan["asRun"]["gpuHours"], (54 + 6 * 8) * 3000 / 3600)
        shared = run("compare", "-f", scenario, "--instances", "g5.48xlarge", "-o", "json")
        self.assertEqual(shared.returncode, 0, shared.stderr)
        options = json.loads(shared.stdout)["options"]
        sliced = [o for o in options if o["strategy"] == "timeSlicing"]
        self.assertEqual(sliced[0]["unsharedNodes"], 1)
        self.assertEqual(sliced[0]["pods"]["succeeded"], 60)

    @thorough
    def test_nodes_that_come_and_go_are_shared_where_as_many_that_stay_are_too_dear(self):
        """Forty jobs at once each day: one node that stays costs more than all that come for them."""
        rows = "".join(f"{day * 86_400 + 5},3000,8,300,100\n" +
                       "".join(f"{day * 86_400 + 10 * n},3000,1,300,100\n" for n in range(40))
                       for day in range(5))
        (self.folder / "t.csv").write_text(HEADER + rows)
        (self.folder / "s.yaml").write_text(
            SCENARIO.replace("g4dn.xlarge", "g5.48xlarge").split("    devicePlugin")[0] +
            "  workloads:\n  - {name: team, kind: TraceJobs, trace: {file: t.csv}, "
            "gpuMemory: {resident: 4Gi}, slo: {waitP95: 20m, slowdownP95: 2}}\n")
        plan = run("plan", "-f", str(self.folder / "s.yaml"), "--instances", "g5.48xlarge", "--no-flips",
                   "--no-headroom", "-o", "json")
        self.assertEqual(plan.returncode, 0, plan.stderr)
        best, alone = json.loads(plan.stdout)["options"][:2]
        of = {name: pool for pool in best["pools"] for name in pool["workloads"]}
        self.assertEqual((of["team-8gpu"]["strategy"], of["team-1gpu"]["strategy"]),
                         ("exclusive", "timeSlicing"))
        self.assertEqual([pool["strategy"] for pool in alone["pools"]], ["exclusive"])
        self.assertTrue(all(pool["autoscaled"] for pool in best["pools"] + alone["pools"]))
        self.assertLess(best["monthlyUsd"], 0.6 * alone["monthlyUsd"])

    def test_options_have_gangs_over_several_nodes(self):
        """Eight GPUs, where the scenario has nodes of four, that share their GPUs or do not."""
        (self.folder / "t.csv").write_text(HEADER + "0,600,8,800,300\n" + "5,600,1,800,300\n" * 3)
        shared = SCENARIO.replace("g4dn.xlarge", "g5.12xlarge").replace("nodes: 1", "nodes: 4")
        for scenario in (shared, shared.split("    devicePlugin")[0] + "  workloads:\n"):
            (self.folder / "s.yaml").write_text(scenario + TRACED % "")
            arguments = ("-f", str(self.folder / "s.yaml"), "--instances", "g5.12xlarge", "-o", "json")
            compared = run("compare", *arguments)
            self.assertEqual(compared.returncode, 0, compared.stderr)
            alone = [option for option in json.loads(compared.stdout)["options"]
                     if option["strategy"] == "exclusive" and option["nodes"] == 3]
            self.assertEqual([option["pods"]["succeeded"] for option in alone], [2 + 3])
            plan = run("plan", *arguments, "--no-flips", "--no-headroom", "--set",
                       "workloads.team.slo={waitP95: 1h}")
            self.assertEqual(plan.returncode, 0, plan.stderr)
            pools = json.loads(plan.stdout)["options"][0]["pools"]
            self.assertEqual([(pool["strategy"], pool["nodes"]) for pool in pools],
                             [("exclusive", 2)])

    def test_jobs_that_no_node_holds_are_counted_by_reason(self):
        (self.folder / "t.csv").write_text(
            "arrival_s,run_s,gpus,cpu_milli\n0,60,0,\n0,60,1,\n5,60,8,\n6,60,4,\n7,60,1,99000\n")
        (self.folder / "s.yaml").write_text(SCENARIO + TRACED % "")
        result = run("run", "-f", str(self.folder / "s.yaml"), "-o", "json")
        self.assertEqual(result.returncode, 6, result.stderr)
        variant = json.loads(result.stdout)["variants"][0]
        self.assertEqual(
            variant["workloads"][0]["recorded"]["notAsRecorded"],
            [{"reason": "noGpu", "jobs": 1, "firstRow": 1, "firstLine": 2},
             {"reason": "nodeGpus", "jobs": 2, "firstRow": 3, "firstLine": 4},
             {"reason": "nodeCpu", "jobs": 1, "firstRow": 5, "firstLine": 6}])
        said = {f["code"]: f["message"] for f in reversed(variant["findings"])}
        self.assertEqual(said["JOB_NEVER_FITS"], "2 of 4 jobs of \"team\" stay Pending for good: they "
                         "are those that ask for more GPUs than nodes have for one; the first is line 4 of "
                         "t.csv")
        text = " ".join(run("run", "-f", str(self.folder / "s.yaml")).stdout.split())
        self.assertIn("1 of 4 jobs of \"team\" stay Pending for good: they are those that ask for more "
                      "CPU than a node has; the first is line 6 of t.csv; take a larger", text)
        self.assertIn("t.csv; jobs go over several nodes where GPUs are not shared: give", text)
        self.assertIn("jobs of the trace of \"team\" that do not run as recorded: 1 without a GPU "
                      "(first: line 2), 2 that ask for more GPUs than nodes have for one (first: line 4)",
                      text)

    def completion(self, queue, nodes, *replayed):
        """Of the jobs of t.csv on average: of pods on p3.16xlarge, as in a replay."""
        (self.folder / "s.yaml").write_text(
            SCENARIO.replace("g4dn.xlarge", "p3.16xlarge").replace("nodes: 1", f"nodes: {nodes}")
            .split("    devicePlugin")[0] + "  workloads:\n" + TRACED % "")
        ran = run("run", "-f", str(self.folder / "s.yaml"), "--set", f"scheduler.queue={queue}",
                  "--replications", "1", "-o", "json")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        replay = run("replay", "-f", str(self.folder / "t.csv"), "--nodes", f"{nodes}x8", "--queue",
                     queue, *replayed, "-o", "json")
        self.assertEqual(replay.returncode, 0, replay.stderr)
        of_run = json.loads(ran.stdout)["variants"][0]["workloads"][0]
        of_replay = json.loads(replay.stdout)["schedulers"][0]
        completion = of_run["jobCompletionSeconds"]["mean"]
        # kube-scheduler looks again after a back-off of up to 10 s, the others at once.
        delta = 0.01 * completion if queue in ("fifo", "backfill") else 0.01
        self.assertAlmostEqual(completion, of_replay["completionSeconds"]["mean"], delta=delta,
                               msg=queue)
        if queue == "easy":
            self.assertAlmostEqual(of_run["waitSeconds"]["mean"],
                                   of_replay["waitSeconds"]["mean"], delta=delta)
        return completion

    def jobs(self, count, horizon, gpus, columns="", of_job=lambda _run_s, _chance: "", every=1):
        """`every`: seconds between the instants at which jobs come, of one instant in no order of size."""
        chance = random.Random(5)
        arrivals = sorted(chance.sample(range(horizon), count))
        rows = [(at, chance.randrange(60, 6_000), chance.choice(gpus)) for at in arrivals]
        (self.folder / "t.csv").write_text(f"arrival_s,run_s,gpus{columns}\n" + "".join(
            f"{at - at % every},{length},{wanted}{of_job(length, chance)}\n"
            for at, length, wanted in rows))

    def test_jobs_wait_with_easy_as_in_a_replay(self):
        self.jobs(150, 40_000, (1, 1, 1, 2, 4, 8), ",time_limit_s",
                  lambda run_s, chance: f",{run_s * chance.randrange(1, 4)}")
        self.assertGreater(abs(self.completion("easy", 1) - self.completion("backfill", 1)), 100)

    def test_jobs_of_one_second_wait_in_the_order_of_their_rows(self):
        self.jobs(150, 40_000, (8, 1, 2, 4, 1), every=900)
        times = [self.completion(queue, 1) for queue in ("fifo", "easy", "backfill")]
        self.assertEqual(len(set(times)), 3)

    def test_gangs_over_several_nodes_are_placed_as_in_a_replay(self):
        self.jobs(80, 60_000, (8, 8, 16, 24))
        times = {queue: self.completion(queue, 3) for queue in ("fifo", "easy", "backfill")}
        self.assertEqual(len(set(times.values())), 3)
        variant = json.loads(run("run", "-f", str(self.folder / "s.yaml"), "-o", "json").stdout)
        variant = variant["variants"][0]
        self.assertEqual(variant["workloads"][0]["completed"], 80)  # jobs, of more pods than that
        self.assertGreater(variant["pods"]["succeeded"], 80)
        self.assertNotIn("notAsRecorded", variant["workloads"][0]["recorded"])

    def test_queues_that_stop_jobs_are_those_of_a_replay(self):
        self.jobs(150, 40_000, (1, 1, 1, 2, 4, 8), ",priority",
                  lambda _run_s, chance: f",{chance.randrange(3)}")
        times = [self.completion("priority", 1, "--restart-preempted"), self.completion("srtf", 1),
                 self.completion("srsf", 1), self.completion("backfill", 1)]
        self.assertEqual(len(set(times)), 4)

    def test_a_stopped_gang_does_not_do_again_what_one_of_its_pods_has_done(self):
        two_nodes = SCENARIO.replace("nodes: 1", "nodes: 2")
        (self.folder / "g.csv").write_text(HEADER + "0,1000,2,1000,1000\n")
        of_file = "  - {{name: {0}, kind: TraceJobs, trace: {{file: {0}.csv, gpusPerPod: 1}}}}\n"
        jobs = of_file.format("g") + of_file.format("t")
        rows = HEADER + "0,900,1,1000,1000\n" + "1500,10,1,1000,1000\n" * 2
        waits = self.variant(jobs, rows, two_nodes)
        stopped = self.variant(
            jobs, rows, two_nodes.replace("spec:", "spec:\n  scheduler: {queue: srtf}"))
        self.assertEqual(stopped["pods"]["evicted"], 2)
        self.assertLess(stopped["makespanSeconds"]["p99"],
                        waits["makespanSeconds"]["mean"] + 60)

    def test_nodes_of_several_sizes_come_and_go_with_the_jobs(self):
        result = run("run", "-f", "scenarios/examples/recorded-autoscaled.yaml", "-o", "json")
        self.assertIn(result.returncode, (0, OBJECTIVE_MISSED), result.stderr)
        variants = {v["name"]: v for v in json.loads(result.stdout)["variants"]}
        for name, variant in variants.items():
            self.assertEqual(variant["workloads"][0]["completed"], 156, name)
        bills = {name: v["cost"]["totalUsd"] for name, v in variants.items()}
        self.assertLess(bills["karpenter"], bills["fixed"])
        self.assertLess(bills["spot"], bills["karpenter"])
        pools = variants["karpenter"]["nodePools"]
        self.assertTrue(all(p["dynamics"]["launches"] > 1 and p["dynamics"]["removed"] > 1
                            for p in pools))
        # The smallest size that holds a job is not always taken: some wait together.
        self.assertGreater(variants["karpenter"]["workloads"][0]["waitSeconds"]["p95"], 60)

    @thorough
    def test_every_study_runs_over_a_trace(self):
        for verb, more in (("run", ("--variant", "mps")), ("compare", ("--variant", "exclusive")),
                           ("max-load", ("--variant", "time-slicing")),
                           ("sensitivity", ("--variant", "exclusive", "--vary", "traffic")),
                           ("plan", ("--variant", "exclusive", "--instances", "g5.xlarge"))):
            with self.subTest(verb=verb):
                result = run(verb, "-f", EXAMPLE, *more)
                self.assertIn(result.returncode, (0, OBJECTIVE_MISSED), result.stderr)
                self.assertIn("93 jobs of the trace are 1 workload", result.stderr)
        load = json.loads(run("max-load", "-f", EXAMPLE, "--variant", "time-slicing", "-o",
                              "json").stdout)
        text = json.dumps(load)
        self.assertIn("workloads.team.trace", text)
        self.assertIn("jobs/h", text)

    def test_bills_are_split_by_user(self):
        result = run("run", "-f", EXAMPLE, "--variant", "exclusive", "--set",
                     "workloads.team.trace.splitBy=user", "--group-by", "user", "-o", "json")
        self.assertEqual(result.returncode, 0, result.stderr)
        for user in ("ana", "bo", "chen", "dia", "eli"):
            self.assertIn(f'"{user}"', result.stdout)

    def test_pods_of_openb_run_from_a_binary_trace(self):
        trace = self.folder / "openb.trace"
        made = run("import", "openb", "-f", OPENB, "-o", "binary", "--out", str(trace))
        self.assertEqual(made.returncode, 0, made.stderr)
        (self.folder / "s.yaml").write_text(
            SCENARIO.replace("g4dn.xlarge", "g5.48xlarge").split("    devicePlugin")[0] +
            "  workloads:\n  - {name: openb, kind: TraceJobs, trace: {file: openb.trace}}\n")
        result = run("run", "-f", str(self.folder / "s.yaml"), "-o", "json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("recorded while they shared GPUs", result.stderr)
        variant = json.loads(result.stdout)["variants"][0]
        workloads = variant["workloads"]
        self.assertEqual(len(workloads), 1)
        self.assertGreater(len(workloads[0]["recorded"]["classes"]), 1)
        # Of the trace, once for all that became of it.
        assumed = variant["provenance"]["assumedInputs"]
        self.assertEqual(assumed.count("openb: gpuMemory (taken as 0)"), 1)
        self.assertEqual(len(assumed), len(set(assumed)))
        self.assertGreater(sum(w["completed"] for w in workloads), 1)

    def test_progress_tells_jobs_and_the_date_of_the_trace(self):
        rows = "".join(f"{n},60,1\n" for n in range(2000))
        (self.folder / "t.csv").write_text("# origin_unix_s=1718000000\narrival_s,run_s,gpus\n" + rows)
        (self.folder / "s.yaml").write_text(SCENARIO + TRACED % ", from: 10m, scale: 2")
        told = run("run", "-f", str(self.folder / "s.yaml"), "--progress", "tty").stderr
        self.assertRegex(told, r"2800/2800 jobs in .*, at 2024-06-1\d \d\d:\d\d")

    @thorough
    def test_ctrl_c_reports_what_was_simulated_of_the_only_run(self):
        rows = "".join(f"{n * 10},{3000 + n * 7919 % 9000},1\n" for n in range(150_000))
        (self.folder / "t.csv").write_text("arrival_s,run_s,gpus\n" + rows)
        (self.folder / "s.yaml").write_text(
            SCENARIO.replace("replications: 2", "replications: 1\n  scheduler: {queue: srtf}")
            .replace("nodes: 1", "nodes: 640") + TRACED % "")
        for form in ("json", "table"):
            process = subprocess.Popen(
                [BINARY, "run", "-f", str(self.folder / "s.yaml"), "-o", form], cwd=ROOT,
                env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            interrupt_at_work(process, after_s=1)
            output, errors = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 130, errors)
            self.assertIn("interrupted: the report covers what had been simulated", errors)
            if form == "table":
                self.assertRegex(output, r"INTERRUPTED: after \d+.* of its first run, \d+ of 150000 "
                                         r"recorded jobs done")
                continue
            document = json.loads(output)
            variant, = document["variants"]
            self.assertIs(document["metadata"]["interrupted"], True)
            self.assertEqual(variant["stoppedAtSeconds"], variant["makespanSeconds"]["mean"])
            jobs = variant["workloads"][0]["recorded"]["all"]
            self.assertEqual(jobs["jobs"], 150_000)
            self.assertLess(jobs["finished"], 150_000)
            # Those that wait were cut off, not left behind.
            self.assertEqual(variant["verdict"]["reasons"], [])


if __name__ == "__main__":
    main()
