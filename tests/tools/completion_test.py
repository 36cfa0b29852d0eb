"""The completion scripts offer what the program accepts."""

import shutil
import subprocess
import unittest

from program import BINARY, ROOT, environment, main, run, skip_without


def bash_offers(*words):
    """What bash offers for the last word of a command line."""
    script = run("completion", "bash").stdout
    quoted = " ".join(f"'{word}'" for word in ("slicewise", *words))
    command = (f"{script}\nCOMP_WORDS=({quoted}); COMP_CWORD={len(words)}; _slicewise; "
               'printf "%s\\n" "${COMPREPLY[@]}"')
    result = subprocess.run(["bash", "-c", command], env=environment(), capture_output=True,
                            cwd=ROOT, text=True, check=True)
    return result.stdout.split()


class Bash(unittest.TestCase):
    def test_verbs(self):
        offers = bash_offers("")
        for verb in ("run", "advise", "compare", "max-load", "neighbours", "sensitivity", "diff", "replay", "export", "import",
                     "check", "get",
                     "explain",
                     "schema", "calibrate", "validate", "version", "completion", "help"):
            self.assertIn(verb, offers)
        self.assertEqual(bash_offers("ex"), ["export", "explain"])

    def test_flags_of_a_verb(self):
        self.assertIn("--replications", bash_offers("run", "--r"))
        self.assertNotIn("--replications", bash_offers("export", "--"))
        self.assertIn("--chart-version", bash_offers("export", "-f", "x.yaml", "--ch"))

    def test_files(self):
        self.assertIn("README.md", bash_offers("run", ""))
        self.assertNotIn("README.md", bash_offers("get", ""))

    def test_values(self):
        self.assertEqual(bash_offers("run", "-o", "j"), ["json", "junit"])
        self.assertEqual(bash_offers("export", "--to", ""),
                         ["helm-values", "configmap", "gpu-operator", "mig-parted", "karpenter",
                          "pod-patch", "kustomize", "bottlerocket", "eksctl", "terraform", "dra", "nos",
                          "hami", "aws-vgpu", "keda", "kueue", "bundle", "argocd", "flux", "prometheus-rule", "probe-job", "scenario", "perfetto", "openmetrics", "grafana", "csv"])
        self.assertEqual(bash_offers("schema", "sc"), ["scenario"])
        self.assertIn("mig-profiles", bash_offers("get", "m"))
        self.assertIn("--family", bash_offers("get", "instances", "--fam"))

    def test_names_of_the_catalogue_and_topics(self):
        self.assertEqual(bash_offers("explain", "GPU_O"), ["GPU_OOM"])
        self.assertIn("time-slicing", bash_offers("explain", "time"))
        self.assertIn("profile", bash_offers("explain", "prof"))
        self.assertIn("gnn-training/a100-40gb/b256", bash_offers("explain", "profile", "gnn"))
        self.assertIn("parvagpu-one", bash_offers("validate", "parva"))
        self.assertIn("spec.nodePools.instanceType", bash_offers("explain", "spec.nodePools.i"))
        self.assertIn("V100-SXM2-16GB", bash_offers("get", "instances", "--gpu", "V100"))
        self.assertIn("g5", bash_offers("get", "instances", "--family", "g"))
        self.assertIn("p4d.24xlarge", bash_offers("compare", "--instances", "p4d"))
        self.assertIn("us-east-1", bash_offers("get", "prices", "--region", "us-"))
        self.assertEqual(bash_offers("help", "ex"), ["export", "explain", "exit-codes"])

    def test_nothing_is_offered_for_a_free_value(self):
        self.assertEqual(bash_offers("run", "--seed", ""), [])

    def test_every_offered_flag_is_accepted(self):
        for verb in ("run", "advise", "compare", "max-load", "neighbours", "sensitivity", "diff", "replay", "export", "import",
                     "check",
                     "explain", "schema", "calibrate",
                     "validate", "version", "completion", "help"):
            text = run(verb, "--help").stdout
            for flag in bash_offers(verb, "-"):
                with self.subTest(verb=verb, flag=flag):
                    self.assertRegex(text, rf"(?m)(^|[ ,]){flag}\b")


class Syntax(unittest.TestCase):
    def check(self, shell, *command):
        if shutil.which(command[0]) is None:
            skip_without(command[0])
        script = run("completion", shell).stdout
        result = subprocess.run(command, input=script, env=environment(), capture_output=True,
                                text=True, check=False)
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_bash(self):
        self.check("bash", "bash", "-n")

    def test_zsh(self):
        self.check("zsh", "zsh", "-n")

    def test_fish(self):
        self.check("fish", "fish", "--no-execute")

    def test_zsh_offers_values(self):
        if shutil.which("zsh") is None:
            skip_without("zsh")
        script = run("completion", "zsh").stdout
        # compadd and compdef belong to the interactive shell: stand-ins print what is offered.
        command = ('compdef() { :; }; compadd() { shift; print -l -- "$@"; }\n' + script +
                   "\nwords=(slicewise run -o ''); CURRENT=4; _slicewise\n")
        result = subprocess.run(["zsh", "-f", "-c", command], env=environment(),
                                capture_output=True, text=True, check=True)
        self.assertEqual(result.stdout.split(), ["table", "wide", "json", "yaml", "csv", "md", "junit"])

    def test_fish_offers_values(self):
        if shutil.which("fish") is None:
            skip_without("fish")
        script = run("completion", "fish").stdout
        result = subprocess.run(
            ["fish", "--no-config", "-c", script + "\ncomplete -C 'slicewise run --output j'"],
            env=environment(), capture_output=True, text=True, check=True)
        self.assertTrue(result.stdout.startswith("json"), result.stdout)

    def test_powershell_brackets_match(self):
        script = run("completion", "powershell").stdout
        for opening, closing in ("()", "{}"):
            self.assertEqual(script.count(opening), script.count(closing))
        self.assertIn("'/run --output' = @('table', 'wide'", script)


if __name__ == "__main__":
    main()
