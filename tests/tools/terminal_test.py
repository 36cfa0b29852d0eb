"""Colour, width and progress depend on the stream that is written to."""

import signal
import subprocess
import time
import unittest

from program import (BINARY, EXAMPLE, ROOT, TIMEOUT_S, environment, interrupt_at_work, run,
                     run_on_terminal)

RUN = ("run", "-f", EXAMPLE, "--replications", "3")
PLAN = ("plan", "-f", "scenarios/examples/shared-inference.yaml", "--variant", "shared",
        "--instances", "g4dn.xlarge", "--set", "duration=3m", "--no-flips", "--no-headroom", "-j", "1")
ESCAPE = "\x1b["


class Color(unittest.TestCase):
    def test_on_a_terminal_unless_something_switches_it_off(self):
        self.assertIn(ESCAPE, run_on_terminal(*RUN))
        self.assertNotIn(ESCAPE, run_on_terminal(*RUN, env={"NO_COLOR": "1"}))
        self.assertIn(ESCAPE, run_on_terminal(*RUN, env={"NO_COLOR": ""}))
        self.assertNotIn(ESCAPE, run_on_terminal(*RUN, env={"TERM": "dumb"}))
        self.assertNotIn(ESCAPE, run_on_terminal(*RUN, "--color", "never"))

    def test_not_in_a_pipe_unless_asked_for(self):
        self.assertNotIn(ESCAPE, run(*RUN).stdout)
        self.assertIn(ESCAPE, run(*RUN, "--color", "always").stdout)

    def test_never_in_formats_for_programs(self):
        self.assertNotIn(ESCAPE, run(*RUN, "-o", "json", "--color", "always").stdout)
        self.assertNotIn(ESCAPE, run(*RUN, "-o", "csv", "--color", "always").stdout)


class Text(unittest.TestCase):
    def test_ascii_unless_the_locale_is_utf8(self):
        self.assertTrue(run(*RUN, env={"LC_ALL": "C"}).stdout.isascii())
        self.assertTrue(run(*RUN, env={"LC_ALL": "C", "LANG": "en_US.UTF-8"}).stdout.isascii())
        self.assertEqual(run(*RUN, env={"LANG": "en_US.UTF-8"}).stdout,
                         run(*RUN, env={"LC_CTYPE": "C.utf8"}).stdout)

    def test_columns_limits_the_width(self):
        widths = [len(line) for line in run("get", "instances", env={"COLUMNS": "80"}).stdout
                  .splitlines()]
        self.assertLessEqual(max(widths), 80)


class Progress(unittest.TestCase):
    def test_a_bar_on_a_terminal_that_is_removed_at_the_end(self):
        shown = run_on_terminal(*RUN, terminal="stderr")
        self.assertIn("replications", shown)
        self.assertIn("\r\x1b[K", shown)

    def test_the_bar_says_how_fast_and_how_long_still(self):
        shown = run_on_terminal("run", "-f", EXAMPLE, "--replications", "20", "--jobs", "1",
                                terminal="stderr")
        self.assertRegex(shown, r"\r\[=* *\] \d+/\d+ replications in \d+ s, [\d.e+]+/s, [\d a-z]+ left\x1b\[K")
        self.assertRegex(shown, r"\r\[={30}\] (\d+)/\1 replications in \d+ s, [\d.e+]+/s\x1b\[K")

    def test_the_bar_fits_the_line(self):
        shown = run_on_terminal(*RUN, terminal="stderr", env={"COLUMNS": "50"})
        lines = [line for line in shown.replace("\x1b[K", "").split("\r") if "replications" in line]
        self.assertLess(max(map(len, lines)), 50)

    def test_none_when_quiet_or_told_so(self):
        self.assertNotIn("replications", run_on_terminal(*RUN, "-q", terminal="stderr"))
        self.assertNotIn("replications",
                         run_on_terminal(*RUN, "--progress", "none", terminal="stderr"))

    def test_a_long_study_says_without_a_terminal_what_it_knows(self):
        # However fast the machine: it stands still for longer than nothing is said.
        process = subprocess.Popen([BINARY, *PLAN], cwd=ROOT, env=environment(), text=True,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        interrupt_at_work(process, 0, signal.SIGSTOP)
        time.sleep(11)
        process.send_signal(signal.SIGCONT)
        said = process.communicate(timeout=TIMEOUT_S)[1]
        self.assertRegex(said, r"best so far: \d+ x g4dn.xlarge.*, \$\d+ a month\n")
        self.assertRegex(said, r"\d+/\d+\+ simulations in \d+ s")

    def test_a_short_study_does_not(self):
        self.assertEqual(run(*PLAN, "-q").stderr, "")
        self.assertNotIn("\x1b", run(*PLAN).stderr)

    def test_a_bar_without_a_terminal_only_when_asked_for(self):
        self.assertIn("replications", run(*RUN, "--progress", "tty").stderr)


if __name__ == "__main__":
    unittest.main()
