"""The bill by workload in every format: its parts add up, whatever the scenario and the rule."""

import csv
import io
import json
import os
import pathlib
import re
import subprocess
import unittest
from decimal import Decimal

SOURCE = pathlib.Path(os.environ["SLICEWISE_SOURCE_DIR"])
BINARY = os.environ["SLICEWISE_BINARY"]
EXAMPLES = sorted((SOURCE / "scenarios/examples").glob("*.yaml"))
MIXED = SOURCE / "scenarios/templates/mixed-cluster.yaml"
LABELS = ["--set", "workloads.embed.podTemplate.labels={team: search, user: ana}",
          "--set", "workloads.ocr.podTemplate.labels={team: docs}"]


def run(*arguments):
    done = subprocess.run([BINARY, "run", "--progress", "none", *map(str, arguments)],
                          capture_output=True, text=True, check=False)
    if not done.stdout:  # a run that loses pods has a bill as well
        raise AssertionError(done.stderr)
    return done.stdout


def result(*arguments):
    return json.loads(run(*arguments, "-o", "json"), parse_float=Decimal, parse_int=Decimal)


def of_nodes(cost):
    """The bill without the fee of the control plane, which no workload pays."""
    return cost["totalUsd"] - cost.get("controlPlaneUsd", 0)


class Bill(unittest.TestCase):
    def expect_sums(self, variant):
        cost = variant["cost"]
        payers = [w["bill"] for w in variant["workloads"]]
        held = sum(b["heldUsd"] for b in payers)
        self.assertEqual(held + cost["split"]["idleUsd"] + cost["split"]["switchUsd"],
                         of_nodes(cost))
        for bill in payers:
            self.assertEqual(bill["heldUsd"] + bill["sharedUsd"], bill["totalUsd"])
        if variant["pods"]["runningMax"] > 0 and cost["split"]["rule"] != "gpu-time":
            self.assertGreater(held, 0)
        if held > 0:
            self.assertEqual(sum(b["totalUsd"] for b in payers), of_nodes(cost))
            self.assertGreater(cost["controlPlaneUsd"], 0)
        self.assertAlmostEqual(float(cost["split"]["switchUsd"]), float(cost["switchUsd"]), places=6)

    def test_parts_add_up_in_every_example(self):
        self.assertTrue(EXAMPLES)
        for example in EXAMPLES:
            with self.subTest(example=example.name):
                for variant in result(example, "--replications", 1)["variants"]:
                    self.expect_sums(variant)

    def test_parts_add_up_by_every_rule_where_nodes_come_and_go(self):
        for rule in ("dominant", "gpu-time", "requests"):
            document = result(MIXED, "--replications", 1, "--split", rule)
            self.assertEqual(document["metadata"]["split"], rule)
            for variant in document["variants"]:
                self.assertEqual(variant["cost"]["split"]["rule"], rule)
                self.expect_sums(variant)

    def test_unit_costs_do_not_hang_on_the_warm_up(self):
        template = SOURCE / "scenarios/templates/online-services.yaml"
        prices = []
        for warmup in ("0s", "1m", "5m", "9m"):
            cost = result(template, "--set", f"warmup={warmup}")["variants"][0]["cost"]
            prices.append(float(cost["per1kRequestsInSloUsd"]))
        for price in prices:
            self.assertAlmostEqual(price / prices[0], 1, delta=0.05, msg=str(prices))

    def test_groups_stand_in_every_format(self):
        common = [MIXED, "--replications", 1, *LABELS, "--group-by", "label:team"]
        document = result(*common)
        self.assertEqual(document["metadata"]["groupBy"], "label:team")
        cost = document["variants"][0]["cost"]
        groups = {g["name"]: g["bill"]["totalUsd"] for g in cost["split"]["groups"]}
        self.assertEqual(set(groups), {"search", "docs", ""})
        self.assertEqual(sum(groups.values()), of_nodes(cost))
        rows = list(csv.DictReader(io.StringIO(run(*common, "-o", "csv"))))
        self.assertEqual({r["workload"]: Decimal(r["billTotalUsd"]) for r in rows}, groups)
        self.assertIn("groupBy: label:team", run(*common, "-o", "yaml"))
        for form in ("table", "wide", "md"):
            text = run(*common, "-o", form)
            self.assertRegex(text, r"BILL BY TEAM\s+HOLDS \$")
            self.assertRegex(text, r"search +\d")
            self.assertRegex(text, r"\(none\) +\d")

    def test_amounts_as_printed_add_up_to_the_cent(self):
        text = run(MIXED, "--replications", 1, "--group-by", "workload", "-o", "wide", "--set",
                   "controlPlane=none")
        rows = re.findall(r"^  (embed|ocr|finetune) +([\d.,]+) +([\d.,]+) +([\d.,]+) ", text, re.M)
        self.assertEqual(len(rows), 3, text)
        total = Decimal(0)
        for _, held, shared, pays in rows:
            amounts = [Decimal(a.replace(",", "")) for a in (held, shared, pays)]
            self.assertEqual(amounts[0] + amounts[1], amounts[2])
            total += amounts[2]
        bill = re.search(r"COST \$([\d.,]+)", text)[1].replace(",", "")
        self.assertEqual(total, Decimal(bill))

    def test_the_page_splits_by_the_rule_that_is_asked_for(self):
        page = subprocess.run([BINARY, "report", str(MIXED), "--replications", "1", "--split", "requests",
                               "--group-by", "label:team", *LABELS, "-o", "html"],
                              capture_output=True, text=True, check=True).stdout
        self.assertIn("(--split requests)", page)
        self.assertIn("--split requests --group-by label:team", page)  # the command to make it again
        for team in ("search", "docs", "(none)"):
            self.assertRegex(page, rf"<td>{re.escape(team)}\s")

    def test_no_price_of_next_to_no_work(self):
        variant = result(SOURCE / "scenarios/examples/aws-cifar10-g5.yaml", "--variant", "after", "--set",
                         "workloads.cifar10.measured.gpuBusy=0%", "--set",
                         "workloads.cifar10.measured.smActive=0%")["variants"][0]
        self.assertEqual([w["bill"].get("perGpuHourUsd") for w in variant["workloads"]], [None])

    def test_an_unknown_key_is_refused(self):
        done = subprocess.run([BINARY, "run", str(MIXED), "--group-by", "team"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("label:NAME", done.stderr)


if __name__ == "__main__":
    unittest.main()
