"""slicewise import: traces out of the logs of other systems."""

import gzip
import json
import math
import pathlib
import tempfile
import unittest

from program import ROOT, VerbCase, run

LOGS = "scenarios/examples/logs/"


class Import(VerbCase):
    verb = "import"

    def test_a_trace_on_standard_output_and_the_counts_beside_it(self):
        result = self.expect(0, "note: 5 rows read, 5 jobs\n", "openb", "-f", LOGS + "openb.csv")
        self.assertIn("arrival_s,run_s,gpus,gpu_milli", result.stdout)
        self.assertRegex(result.stderr, "note: pods that never started.* \\(one, at .*openb.csv:")
        self.assertEqual(run("import", "openb", "-f", LOGS + "openb.csv", "-q").stderr, "")

    def test_a_scenario_of_requests_has_servers_that_keep_up(self):
        rows = [f"2023-11-16 18:{i // 60:02}:{i % 60:02}.0000000,2000,100" for i in range(600)]
        log = "TIMESTAMP,ContextTokens,GeneratedTokens\n" + "\n".join(rows) + "\n"
        scenario = run("import", "azure", "-q", "-f", "-", "-o", "scenario", stdin=log).stdout
        model = next(m for m in json.loads(run("get", "profiles", "--kind", "llm", "-o", "json").stdout)
                     ["items"] if m["name"] in scenario)
        each = 2000 * model["tokenSeconds"] + 100 * model["weightsSeconds"] / 8
        self.assertIn(f"    nodes: {math.ceil(each / 0.6)}  # Assumed", scenario)

    def test_both_forms_hold_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            binary, csv = str(pathlib.Path(folder, "t")), str(pathlib.Path(folder, "t.csv"))
            for arguments in (("openb", "-f", LOGS + "openb.csv", "-o", "binary", "--out", binary),
                              ("jobs", "-f", binary, "--out", csv)):
                self.expect(0, "5 jobs", *arguments)
            self.assertEqual(pathlib.Path(csv).read_text(encoding="utf-8"),
                             run("import", "openb", "-f", LOGS + "openb.csv").stdout)

    def test_a_file_is_named_by_the_format_and_the_importer_by_the_columns(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, arguments in (("t.swt", ("-o", "binary")), ("t.csv", ())):
                path = pathlib.Path(folder, name)
                self.expect(0, "2 jobs", "jobs", "-f", LOGS + "sacct.txt", "--columns", "sacct",
                            "-o", str(path))
                plain = pathlib.Path(folder, "plain")
                self.expect(0, "2 jobs", "sacct", "-f", LOGS + "sacct.txt", *arguments, "--out",
                            str(plain))
                self.assertEqual(path.read_bytes(), plain.read_bytes())
            self.expect(2, "name a file each", "openb", "-f", LOGS + "openb.csv", "-o", "t.swt",
                        "--out", "u.swt")
        self.expect(2, '"t.xyz" is not one of', "openb", "-f", LOGS + "openb.csv", "-o", "t.xyz")

    def test_packed_files_and_standard_input(self):
        plain = (ROOT / LOGS / "cluster.csv").read_text(encoding="utf-8")
        with tempfile.NamedTemporaryFile(suffix=".gz") as packed:
            packed.write(gzip.compress(plain.encode()))
            packed.flush()
            from_file = run("import", "jobs", "-f", packed.name)
        self.assertEqual(from_file.stdout, run("import", "jobs", "-f", "-", stdin=plain).stdout)
        self.assertIn("0,7200,4", from_file.stdout)

    def test_bad_rows_stop_it_with_their_place_unless_they_are_skipped(self):
        log = "job_id,submit_time,run_time,gpu_num\na,10,5,1\nb,x,5,1\n"
        self.expect(3, "error[TRACE_ROW]", "jobs", "-f", "-", stdin=log)
        result = self.expect(0, "skipped 1: rows that cannot be read", "jobs", "-f", "-",
                             "--skip-bad", stdin=log)
        self.assertIn("-:3:3", result.stderr)
        self.assertIn("\n0,5,1,a\n", result.stdout)

    def test_several_files_with_the_flag_or_without(self):
        files = [f"scenarios/examples/cluster/{name}.yaml" for name in ("pods", "nodes")]
        flags = run("import", "k8s", "-f", files[0], "-f", files[1])
        self.assertEqual(flags.returncode, 0, flags.stderr)
        for arguments in ((files[0], files[1]), ("-f", files[0], files[1])):
            self.assertEqual(run("import", "k8s", *arguments).stdout, flags.stdout)
        self.assertEqual(run("import", "-f", files[0], "k8s", files[1]).stdout, flags.stdout)

    def test_exit_codes(self):
        self.expect(2, "--file is required", "openb")
        self.expect(2, "--pool says nothing about `import openb`", "openb", LOGS + "openb.csv",
                    "--pool", "a")
        self.expect(2, "--name goes with -o scenario", "openb", LOGS + "openb.csv", "--name", "a")
        self.expect(3, "-:1:1: error[TRACE_FORMAT]: the file is empty", "azure", "-")
        self.expect(2, "is not one of", "open", "-f", "x")
        self.expect(2, "did you mean Europe/Berlin?", "sacct", "-f", "-", "--time-zone", "Europe/Berln")
        self.expect(5, "cannot read", "openb", "-f", "/nowhere")
        self.expect(2, "did you mean us-east-1?", "k8s", "-f", "-", "--region", "us-esat-1")
        self.expect(3, "TRACE_COLUMN", "openb", "-f", "-", stdin="a,b\n1,2\n")

    def test_manifests_are_in_a_folder_and_what_is_written_for_two_programs_is_said(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (
                    ("pool.yaml", "kind: NodePool\nmetadata: {name: gpu}\nspec: {template: {spec: "
                     "{requirements: [{key: node.kubernetes.io/instance-type, operator: In, "
                     "values: [g5.xlarge]}]}}}\n"),
                    ("eksctl.yaml", "kind: ClusterConfig\nmanagedNodeGroups: [{name: gpu, "
                     "instanceType: g5.xlarge}]\n"),
                    ("pod.yaml", "kind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, "
                     "resources: {limits: {nvidia.com/gpu: 1}}}]}\n")):
                pathlib.Path(folder, name).write_text(text, encoding="utf-8")
            self.expect(0, "NodePools and node groups of one name", "k8s", "-f", folder)
        with tempfile.TemporaryDirectory() as empty:
            self.expect(5, "no .yaml", "k8s", "-f", empty)


if __name__ == "__main__":
    unittest.main()
