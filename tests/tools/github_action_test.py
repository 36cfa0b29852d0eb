"""The GitHub Action: its scripts run here as the runner runs them, against a server of our own."""

import http.server
import json
import os
import pathlib
import re
import shlex
import shutil
import stat
import subprocess
import tempfile
import threading
import unittest

import yaml

from program import BINARY, ROOT, main, run, skip_without

ACTION = ROOT / "tools" / "github_action"
SCENARIO = "gpu/demo.yaml"
MISSED = 99


def setUpModule():  # pylint: disable=invalid-name
    if shutil.which("git") is None:
        skip_without("git")


def actionlint():
    """Where tools/export_validators puts it, or on the PATH."""
    version = re.search(r"^ACTIONLINT_VERSION=(.*)$", (ROOT / "tests" / "export" / "versions.env")
                        .read_text(encoding="utf-8"), re.MULTILINE)[1]
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    directory = pathlib.Path(os.environ.get("SLICEWISE_VALIDATORS_DIR") or cache / "slicewise")
    program = directory / "bin" / f"actionlint-{version}"
    return str(program) if program.exists() else shutil.which("actionlint")


class Definition(unittest.TestCase):
    def setUp(self):
        self.action = yaml.safe_load((ACTION / "action.yml").read_text(encoding="utf-8"))

    def test_steps_call_scripts_that_are_there_and_executable(self):
        for step in self.action["runs"]["steps"]:
            self.assertEqual(step["shell"], "bash")
            script = re.fullmatch(r'"\$GITHUB_ACTION_PATH/(\w+)"', step["run"])
            self.assertTrue((ACTION / script[1]).stat().st_mode & stat.S_IXUSR, script[1])

    def test_no_input_is_pasted_into_a_script(self):
        """Text of a pull request inside of a run line would be executed."""
        for step in self.action["runs"]["steps"]:
            self.assertNotIn("${{", step["run"])

    def test_every_input_is_used_and_every_one_used_is_declared(self):
        text = (ACTION / "action.yml").read_text(encoding="utf-8")
        used = set(re.findall(r"inputs\.([\w-]+)", text))
        self.assertEqual(used, set(self.action["inputs"]))
        for name, value in self.action["inputs"].items():
            self.assertIn("description", value, name)
            self.assertIn("default", value, name)

    def test_the_example_uses_inputs_that_exist(self):
        example = yaml.safe_load((ACTION / "example-workflow.yml").read_text(encoding="utf-8"))
        step = next(step for step in example["jobs"]["slicewise"]["steps"]
                    if "github_action" in step.get("uses", ""))
        self.assertLessEqual(set(step["with"]), set(self.action["inputs"]))

    def test_actionlint_has_nothing_to_say(self):
        linter = actionlint()
        if linter is None:
            skip_without("actionlint (tools/export_validators)")
        with tempfile.TemporaryDirectory() as folder:
            workflows = pathlib.Path(folder) / ".github" / "workflows"
            workflows.mkdir(parents=True)
            shutil.copytree(ACTION, pathlib.Path(folder) / "tools" / "github_action")
            text = (ACTION / "example-workflow.yml").read_text(encoding="utf-8")
            # A local path lets it see which inputs there are.
            text = re.sub(r"uses: \S+/tools/github_action@\S+", "uses: ./tools/github_action", text)
            (workflows / "gpu.yml").write_text(text, encoding="utf-8")
            subprocess.run(["git", "init", "-q", folder], check=True)
            result = subprocess.run([linter], cwd=folder, capture_output=True, text=True,
                                    check=False)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_the_pre_commit_hook_runs_what_exists(self):
        hook, = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
        command = shlex.split(hook["entry"])  # as pre-commit does
        cluster = ROOT / "scenarios" / "examples" / "cluster"
        files = [str(path) for path in sorted(cluster.iterdir())
                 if re.search(hook["files"], path.name)]
        path = f"{pathlib.Path(BINARY).parent}{os.pathsep}{os.environ['PATH']}"
        result = subprocess.run([*command, *files], capture_output=True, text=True, check=False,
                                env={**os.environ, "PATH": path})
        judged = run("check", "-f", "scenarios/examples/cluster")
        self.assertEqual(result.returncode, judged.returncode, result.stderr)
        self.assertEqual(result.stdout.count("\n"), judged.stdout.count("\n"))


class Runner(unittest.TestCase):
    """A repository with a base and a head, and the files that a runner hands to a step."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.repository = self.folder / "repository"
        self.temp = self.folder / "temp"
        self.temp.mkdir()
        (self.repository / "gpu").mkdir(parents=True)
        self.git("init", "-q", "-b", "main")
        demo = (ROOT / "scenarios/examples/shared-inference.yaml").read_text(encoding="utf-8")
        self.commit(demo.replace("duration: 30m", "duration: 5m"))
        self.base = self.git("rev-parse", "HEAD").strip()

    def git(self, *arguments):
        return subprocess.run(
            ["git", "-c", "user.name=t", "-c", "user.email=t@example.com", *arguments],
            cwd=self.repository, check=True, capture_output=True, text=True).stdout

    def commit(self, text):
        (self.repository / SCENARIO).write_text(text, encoding="utf-8")
        self.git("add", ".")
        self.git("commit", "-qm", "change")

    def script(self, name, **settings):
        files = {key: str(self.temp / key) for key in ("output", "summary", "path")}
        env = {"PATH": f"{self.temp / 'slicewise-bin'}:{os.environ['PATH']}", "HOME": str(self.temp),
               "RUNNER_TEMP": str(self.temp), "GITHUB_OUTPUT": files["output"],
               "GITHUB_STEP_SUMMARY": files["summary"], "GITHUB_PATH": files["path"],
               "GITHUB_REPOSITORY": "o/r",
               **{f"SLICEWISE_ACTION_{key.upper()}": value for key, value in settings.items()}}
        if "api" in settings:
            env["GITHUB_API_URL"] = settings["api"]
        if "server" in settings:
            env["GITHUB_SERVER_URL"] = settings["server"]
        return subprocess.run([str(ACTION / name)], cwd=self.repository, env=env,
                              capture_output=True, text=True, check=False)


class Gate(Runner):
    def install(self):
        result = self.script("install", binary=BINARY)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("is the variable of no flag", result.stderr)

    def outputs(self):
        lines = (self.temp / "output").read_text(encoding="utf-8").splitlines()
        return dict(line.split("=", 1) for line in lines)

    def test_a_change_that_breaks_an_objective_fails_and_is_told(self):
        self.install()
        text = (self.repository / SCENARIO).read_text(encoding="utf-8")
        self.commit(text.replace("mean: 20/s", "mean: 70/s"))
        result = self.script("gate", scenario=SCENARIO, verb="run", base=self.base,
                             arguments="--replications\n1", fail_on="slo.newlyFailing")
        self.assertEqual(result.returncode, MISSED, result.stderr)
        outputs = self.outputs()
        told = pathlib.Path(outputs["difference"]).read_text(encoding="utf-8")
        self.assertIn("<!-- slicewise:shared-inference -->", told)
        self.assertIn("classifier", told)
        self.assertEqual((self.temp / "summary").read_text(encoding="utf-8"), told)
        self.assertIn("<failure", pathlib.Path(outputs["junit"]).read_text(encoding="utf-8"))
        json.loads(pathlib.Path(outputs["result"]).read_text(encoding="utf-8"))
        self.assertEqual(self.git("worktree", "list").count("\n"), 1)

    def test_lost_pods_are_told_as_well(self):
        """A training that begins to map all memory misses no objective, and `run` exits with 6."""
        self.install()
        demo = (ROOT / "scenarios/examples/aws-cifar10.yaml").read_text(encoding="utf-8")
        demo = demo[:demo.index("  variants:")]
        self.commit(demo)
        base = self.git("rev-parse", "HEAD").strip()
        self.commit(demo.replace("allocator: OnDemand", "allocator: Greedy"))
        defaults = yaml.safe_load((ACTION / "action.yml").read_text(encoding="utf-8"))["inputs"]
        result = self.script("gate", scenario=SCENARIO, verb="run", base=base,
                             arguments="--replications\n1", fail_on=defaults["fail-on"]["default"])
        self.assertEqual(result.returncode, MISSED, result.stderr)
        told = pathlib.Path(self.outputs()["difference"]).read_text(encoding="utf-8")
        self.assertRegex(told, r"^### GPU run: aws-cifar10  ✗ \d+ more OOM kills")
        self.assertIn("<failure", pathlib.Path(self.outputs()["junit"]).read_text(encoding="utf-8"))

    def test_the_comment_has_no_tick_where_a_condition_fails_the_job(self):
        """It said "1 objective newly passes" with a tick while the job was red for its p99."""
        self.install()
        text = (self.repository / SCENARIO).read_text(encoding="utf-8")
        self.commit(text.replace("mean: 20/s", "mean: 30/s"))
        result = self.script("gate", scenario=SCENARIO, verb="run", base=self.base,
                             arguments="--replications\n1", fail_on="p99:+1%")
        self.assertEqual(result.returncode, MISSED, result.stderr)
        told = pathlib.Path(self.outputs()["difference"]).read_text(encoding="utf-8")
        self.assertRegex(told, r"^### GPU run: .*✗")
        self.assertNotIn("✓", told.splitlines()[0])

    def test_a_new_scenario_is_judged_by_itself(self):
        self.install()
        text = (self.repository / SCENARIO).read_text(encoding="utf-8")
        (self.repository / "gpu/new.yaml").write_text(text.replace("mean: 20/s", "mean: 70/s"), encoding="utf-8")
        self.git("add", ".")
        self.git("commit", "-qm", "another")
        result = self.script("gate", scenario="gpu/new.yaml", verb="run", base=self.base,
                             arguments="--replications\n1", fail_on="slo.newlyFailing")
        self.assertEqual(result.returncode, MISSED, result.stderr)
        self.assertIn("✗", (self.temp / "summary").read_text(encoding="utf-8"))

    def test_no_change_passes(self):
        self.install()
        result = self.script("gate", scenario=SCENARIO, verb="run", base=self.base,
                             arguments="--replications\n1", fail_on="slo.newlyFailing,cost:+10%")
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_mistakes_are_annotated(self):
        self.install()
        text = (self.repository / SCENARIO).read_text(encoding="utf-8")
        self.commit(text.replace("g4dn.xlarge", "g4dn.xlarg"))
        (self.repository / "k8s").mkdir()
        (self.repository / "k8s" / "pod.yaml").write_text("apiVersion: v1\nkind: Pod\n", "utf-8")
        result = self.script("check", check="gpu/\nk8s/\n")
        self.assertEqual(result.returncode, 3)
        self.assertIn(f"::error file={SCENARIO},line=", result.stdout)


class Server(Runner):
    def serve(self, answers):
        """`answers` by (method, path): a status and a value, or bytes."""
        asked = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def handle_request(self):
                length = int(self.headers.get("Content-Length") or 0)
                body = json.loads(self.rfile.read(length)) if length else None
                path = self.path.split("?")[0]
                asked.append((self.command, path, body))
                status, value = answers.get((self.command, path), (404, {}))
                self.send_response(status)
                self.end_headers()
                self.wfile.write(value if isinstance(value, bytes) else json.dumps(value).encode())

            do_GET = do_POST = do_PATCH = handle_request

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"http://127.0.0.1:{server.server_address[1]}", asked

    def comment(self, answers, how="update"):
        text = self.temp / "difference.md"
        text.write_text("### changed\n<!-- slicewise:demo -->\n", encoding="utf-8")
        api, asked = self.serve(answers)
        result = self.script("comment", text=str(text), comment=how, token="t", pull="7", api=api)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result, asked

    COMMENTS = "/repos/o/r/issues/7/comments"

    def test_the_comment_of_the_same_scenario_is_written_over(self):
        others = [{"id": 1, "body": "<!-- slicewise:other -->"}, {"id": 2, "body": None},
                  {"id": 3, "body": "old\n<!-- slicewise:demo -->"}]
        _, asked = self.comment({("GET", self.COMMENTS): (200, others),
                                 ("PATCH", "/repos/o/r/issues/comments/3"): (200, {})})
        self.assertEqual([method for method, _, _ in asked], ["GET", "PATCH"])
        self.assertIn("### changed", asked[1][2]["body"])

    def test_the_first_one_is_new(self):
        _, asked = self.comment({("GET", self.COMMENTS): (200, []),
                                 ("POST", self.COMMENTS): (201, {})})
        self.assertEqual([method for method, _, _ in asked], ["GET", "POST"])

    def test_a_fork_that_may_not_comment_is_no_failure(self):
        result, _ = self.comment({("GET", self.COMMENTS): (200, []),
                                  ("POST", self.COMMENTS): (403, {})})
        self.assertIn("::notice title=slicewise::the token may not comment (403", result.stdout)

    def test_an_archive_with_another_checksum_is_not_installed(self):
        archive = "/o/r/releases/download/v9.9.9/slicewise-9.9.9-linux-amd64.tar.gz"
        arm = archive.replace("amd64", "arm64")
        wrong = (200, b"0" * 64 + b"  x\n")
        server, _ = self.serve({("GET", path): (200, b"not what was released")
                                for path in (archive, arm)} |
                               {("GET", path + ".sha256"): wrong for path in (archive, arm)})
        result = self.script("install", version="9.9.9", repository="o/r", server=server)
        self.assertEqual(result.returncode, 1)
        self.assertIn("the checksum of", result.stdout)
        self.assertFalse((self.temp / "slicewise-bin" / "slicewise").exists())


if __name__ == "__main__":
    main()
