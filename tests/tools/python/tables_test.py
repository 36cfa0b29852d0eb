"""Documents as tables: for pandas, Arrow and notebooks."""

import json
import unittest

import pandas
import polars
import pyarrow
from package import SHARED, slicewise
from program import main, run

ROWS = [{"name": "a", "n": 1, "x": 0.5, "on": True, "s": {"p99": 2.0, "ci": None}, "l": [1, 2]},
        {"name": "ü", "n": None, "x": 2, "on": None, "s": {"p99": 3.5}, "rows": [{"q": 1}]},
        {"name": None, "n": -3, "on": False, "late": "x"}]


class Tables(unittest.TestCase):
    def test_rows_are_those_of_the_document(self):
        table = slicewise.Table(ROWS)
        self.assertEqual(len(table), 3)
        self.assertIs(table[1], ROWS[1])
        self.assertEqual([row["n"] for row in table[:2]], [1, None])
        self.assertEqual(list(table), ROWS)

    def test_columns_are_paths(self):
        self.assertEqual(slicewise.Table(ROWS).columns, {
            "name": ["a", "ü", None], "n": [1, None, -3], "x": [0.5, 2, None],
            "on": [True, None, False], "s.p99": [2.0, 3.5, None], "s.ci": [None] * 3,
            "l": ["[1, 2]", None, None], "late": [None, None, "x"]})

    def test_arrow_has_types_and_nulls(self):
        table = pyarrow.table(slicewise.Table(ROWS))
        self.assertEqual([str(field.type) for field in table.schema],
                         ["large_string", "int64", "double", "bool", "double", "null",
                          "large_string", "large_string"])
        self.assertEqual(table.to_pydict(), slicewise.Table(ROWS).columns)
        table.validate(full=True)
        self.assertEqual(polars.DataFrame(slicewise.Table(ROWS)).to_dict(as_series=False),
                         slicewise.Table(ROWS).columns)
        self.assertEqual(pyarrow.schema(slicewise.Table(ROWS)), table.schema)

    def test_arrow_outlives_the_table(self):
        columns = [pyarrow.table(slicewise.Table(ROWS * 1000)).column("name") for _ in range(50)]
        for column in columns:
            self.assertEqual(column[2998].as_py(), "ü")

    def test_integers_that_arrow_has_no_room_for_are_text(self):
        self.assertEqual(pyarrow.table(slicewise.Table([{"n": 2**64}])).to_pydict(),
                         {"n": [str(2**64)]})

    def test_no_rows(self):
        self.assertEqual(len(slicewise.Table([]).to_pandas()), 0)
        self.assertEqual(pyarrow.table(slicewise.Table([])).num_rows, 0)

    def test_a_result_in_pandas(self):
        result = slicewise.load(SHARED).run(seeds=2)
        frame = result.workloads.to_pandas()
        self.assertEqual(list(frame["variant"]), ["alone", "alone", "shared", "shared"])
        p99 = json.loads(result.json)["variants"][1]["workloads"][0]["latencySeconds"]["p99"]
        self.assertEqual(frame.loc[2, "latencySeconds.p99"], p99)
        pandas.testing.assert_frame_equal(
            frame[["completed"]], result.workloads.to_arrow().to_pandas()[["completed"]])
        for table in (result.variants, result.pools, result.gpus, result.nodes, result.objectives):
            self.assertGreater(len(table.to_pandas()), 0)

    def test_columns_do_not_depend_on_what_a_run_has(self):
        """Figures that happen to be whole were integers, lists of objects text where they were empty."""
        s = slicewise.load(SHARED)
        two, one = (s.run(seeds=seeds).workloads for seeds in (2, 1))
        self.assertEqual(len(polars.concat([two.to_polars(), one.to_polars()], how="diagonal")), 8)
        self.assertEqual(len(pyarrow.concat_tables([two.to_arrow(), one.to_arrow()], promote_options="default")), 8)
        self.assertEqual(str(one.to_arrow().schema.field("completed").type), "double")
        self.assertNotIn("objectives", two.columns)
        self.assertLess(set(two.columns), set(two[:0].columns))
        none = slicewise.check(SHARED).findings[:0].to_pandas()
        self.assertEqual(list(none["code"]), [])
        self.assertIn("severity", slicewise.check(SHARED).findings[:0].to_arrow().column_names)

    def test_a_notebook_shows_no_more_than_it_can(self):
        table = slicewise.Table([{"n": n} for n in range(100_000)])
        shown = table._repr_html_()  # pylint: disable=protected-access
        self.assertLess(len(shown), 2000)
        self.assertIn("99940 more rows", shown)
        s = slicewise.load(SHARED).with_(seed=7)
        self.assertEqual(repr(s), f"<Scenario {SHARED}: 2 variants, 1 node pools, 2 workloads>")
        self.assertIn("# --set seed=7", s._repr_html_())  # pylint: disable=protected-access
        self.assertIn("values.yaml", s.export("bundle", variant="shared")._repr_html_())  # pylint: disable=protected-access

    def test_a_column_by_its_name_and_what_a_row_is_of_first(self):
        rows = slicewise.load(SHARED).run(seeds=1).workloads
        self.assertEqual(rows["name"], ["classifier", "trainer"] * 2)
        self.assertEqual(list(rows.to_pandas().columns[:2]), ["variant", "name"])
        self.assertRaises(KeyError, lambda: rows["nome"])

    def test_policies_are_rows(self):
        rows = slicewise.load("scenarios/examples/asr-tts-t4.yaml").run(seeds=1, variant="one-copy").policies
        frame = rows.to_pandas()[["name", "assertion", "verdict", "severity", "figures"]]
        self.assertEqual(list(frame.loc[0][:4]), ["budget", "cost.monthly <= 1500", "pass", "Deny"])
        self.assertRegex(frame["figures"][0], r"^cost\.monthly = [0-9.]+ USD$")
        self.assertRegex(frame["figures"][1], r"^pods\.failed = 0, pods\.oomKills = 0$")
        none = slicewise.load(SHARED).run(seeds=1, variant="alone").policies
        self.assertEqual((len(none), set(none.columns)), (0, set(rows.columns)))

    def test_the_options_of_a_plan_say_what_they_are(self):
        plan = slicewise.load(SHARED).plan(variant="shared", instances=["g4dn.xlarge"], top=2, seeds=1, headroom=False,
                                           risk=False, flips=False)
        self.assertRegex(plan.options.to_pandas()["configuration"][0], r"^1 x g4dn.xlarge, .+")
        self.assertIn(plan.options[0]["configuration"], plan.options._repr_html_())  # pylint: disable=protected-access

    def test_a_notebook_shows_verdict_table_and_charts(self):
        result = slicewise.load(SHARED).run(seeds=2)
        page = result._repr_html_()  # pylint: disable=protected-access
        self.assertIn("✓ shared-inference: stands", page)
        self.assertIn("VARIANT", page)
        self.assertGreaterEqual(page.count("<img alt="), 3)
        lost = slicewise.load("scenarios/examples/aws-cifar10.yaml").run(variant="after-greedy")
        self.assertIn("✗ aws-cifar10", lost._repr_html_())  # pylint: disable=protected-access
        self.assertIn("<td>classifier</td>", result.workloads._repr_html_())  # pylint: disable=protected-access

    def test_a_notebook_shows_the_charts_of_studies(self):
        s = slicewise.load(SHARED)
        one = {"variant": "shared", "seeds": 1}
        for made, chart in ((s.plan(instances=["g4dn.xlarge"], headroom=False, risk=False, flips=False, **one), "options"),
                            (s.compare(instances=["g4dn.xlarge"], **one), "options"),
                            (s.max_load(precision=0.2, **one), "loads"),
                            (slicewise.replay(pandas.DataFrame({"arrival_s": [0, 10], "run_s": [100, 100], "gpus": [4, 8]}),
                                              instances={"p4d.24xlarge": 1}), "waiting")):
            self.assertIn(chart, made.charts)
            self.assertIn('<img alt="', made._repr_html_())  # pylint: disable=protected-access
        for verb, words, made in (("compare", ("--instances", "g4dn.xlarge"), s.compare(instances=["g4dn.xlarge"], **one)),
                                  ("neighbours", (), s.neighbours(**one))):
            told = run(verb, "-f", SHARED, "--variant", "shared", "--replications", "1", "-q", "-o", "html", *words)
            self.assertEqual(made.report(), told.stdout)


if __name__ == "__main__":
    main()
