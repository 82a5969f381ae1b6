# SPDX-License-Identifier: Apache-2.0

"""Tests of the parts of scripts/bench that measure nothing: figures, table, results, comparison, settings."""

import datetime
import json
import os
import tempfile
import unittest
import xml.dom.minidom

import compare
import curves
import results
import rules
from figure import Figure, Growth, exponent, percentile, table


def report(*figures, configuration="release", **more):
    """A report with the given figures."""
    began = datetime.datetime.now(datetime.timezone.utc)
    text = json.dumps(results.report(configuration, False, figures, [], began, (0, 0, 0), True) | more)
    return json.loads(text)


class Figures(unittest.TestCase):
    def test_a_value_is_the_median_of_its_samples(self):
        self.assertEqual(Figure("a", "ms", [3, 1, 2]).value, 2)

    def test_a_ratio_is_the_median_of_the_ratios_of_each_round(self):
        self.assertEqual(Figure("a", "ms", [2, 9, 4], [1, 3, 1], "limit").ratio, 3)

    def test_a_goal_is_for_the_ratio_where_there_is_a_limit_and_else_for_the_value(self):
        self.assertEqual(Figure("a", "ms", [10], [10], "limit", goal=1).verdict, "met")
        self.assertEqual(Figure("a", "ms", [10], goal=6).verdict, "missed")
        self.assertEqual(Figure("a", "ms", [10], goal=4).verdict, "over twice")
        self.assertEqual(Figure("a", "ms", [10]).verdict, "")

    def test_a_figure_without_samples_is_an_error(self):
        with self.assertRaises(ValueError):
            Figure("a", "ms", [])

    def test_a_percentile_is_a_sample(self):
        self.assertEqual(percentile(list(range(1, 101)), 0.99), 99)
        self.assertEqual(percentile([5], 0.99), 5)

    def test_the_columns_of_a_table_are_aligned(self):
        lines = table([Figure("a", "ms", [1]), Figure("a longer name", "ms", [1234])])
        self.assertEqual(lines[1].index("1.00 ms") + len("1.00 ms"), lines[2].index("1234 ms") + len("1234 ms"))


class Results(unittest.TestCase):
    def test_what_is_written_can_be_read(self):
        with tempfile.TemporaryDirectory() as folder:
            written = report(Figure("a", "ms", [1, 2, 3]))
            results.write(written, f"{folder}/new/result.json")
            self.assertEqual(results.read(f"{folder}/new/result.json"), written)

    def test_a_report_names_commit_machine_and_load(self):
        found = report()
        self.assertEqual(set(found["commit"]), {"hash", "isDirty"})
        self.assertEqual(set(found["machine"]), {"cpu", "cores", "memoryMiB", "kernel"})
        self.assertEqual(set(found["load"]), {"before", "after"})

    def test_a_file_of_another_kind_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            for text in ("", "[]", "{}", '{"version": 0, "figures": []}'):
                with open(f"{folder}/other", "w") as file:
                    file.write(text)
                with self.assertRaises(ValueError):
                    results.read(f"{folder}/other")
            with self.assertRaises(ValueError):
                results.read(f"{folder}/missing")

    def test_the_name_of_a_file_says_what_was_measured(self):
        found = report(configuration="debug", isQuick=True, date="2026-11-22T14:05:06Z")
        found["commit"] = {"hash": "0123456789abcdef", "isDirty": True}
        self.assertEqual(results.default_path(found), ".build/bench/20261122T140506Z-01234567+-debug-quick.json")


class Curves(unittest.TestCase):
    def figures(self, name, unit, *points):
        return [Figure(f"{name} {size}", unit, [value], curve=(name, "devices", size)) for size, value in points]

    def test_a_curve_has_its_points_in_order_of_size(self):
        found = curves.curves(report(*self.figures("a", "s", (100, 2), (10, 1)), Figure("b", "s", [1])))
        self.assertEqual(found, {("a", "s"): ("devices", [(10, 1), (100, 2)])})

    def test_each_curve_is_a_plot_with_a_point_for_each_size(self):
        text = curves.svg(report(
            *self.figures("a < b", "s", (10, 0.5), (100, 5), (1000, 70)), *self.figures("c", "MiB", (10, 3), (100, 3))))
        page = xml.dom.minidom.parseString(text)
        self.assertEqual(len(page.getElementsByTagName("circle")), 5)
        self.assertEqual(len(page.getElementsByTagName("g")), 2)
        self.assertIn("a &lt; b, s", text)

    def test_a_result_without_curves_is_refused(self):
        with self.assertRaises(ValueError):
            curves.svg(report(Figure("a", "s", [1]), *self.figures("one size", "s", (10, 1))))


class Growths(unittest.TestCase):
    def found(self, *points):
        growth = Growth("scale", "peers", {"cost": ("cost of a peer", "µs")})
        for size, value in points:
            growth.note(size, cost=value)
        return growth.figures()

    def test_linear_growth_has_the_exponent_1(self):
        self.assertAlmostEqual(exponent([3, 9, 300], [1, 3, 100]), 1)
        self.assertAlmostEqual(exponent([3, 3], [1, 100]), 0)
        self.assertAlmostEqual(exponent([1, 1e4], [1, 100]), 2)

    def test_each_size_is_a_point_and_has_all_its_samples(self):
        figures = self.found((100, 2), (10, 1), (100, 4))
        self.assertEqual([figure.values for figure in figures[:2]], [[1], [2, 4]])
        self.assertEqual(curves.curves(report(*figures)), {("peers: cost of a peer", "µs"): ("peers", [(10, 1), (100, 3)])})

    def test_a_fixed_cost_does_not_hide_growth(self):
        last = self.found((1, 100), (100, 110), (1000, 1100))[-1]
        self.assertAlmostEqual(last.value, 1)
        self.assertEqual((last.goal, last.verdict, last.name), (1.1, "met", "scale: peers: cost of a peer: exponent from 100 on"))


class Comparison(unittest.TestCase):
    def line(self, old, new):
        return next(line for line in compare.comparison(report(old), report(new)) if line.startswith(new.name))

    def test_the_change_is_in_percent_of_the_old_value(self):
        self.assertIn("+50.0 %", self.line(Figure("a", "ms", [2, 2]), Figure("a", "ms", [3, 3])))
        self.assertIn("-50.0 %", self.line(Figure("a", "ms", [2, 2]), Figure("a", "ms", [1, 1])))
        self.assertEqual(compare.change(0, 0), "0.0 %")
        self.assertEqual(compare.change(0, 1), "from 0")

    def test_a_change_within_the_quartiles_may_be_noise(self):
        old = Figure("a", "ms", [1, 2, 3, 4, 5])
        self.assertIn("within", self.line(old, Figure("a", "ms", [3.9, 3.9])))
        self.assertIn("beyond", self.line(old, Figure("a", "ms", [4.1, 4.1])))

    def test_a_change_is_noise_too_where_the_new_samples_lie_apart(self):
        self.assertIn("within", self.line(Figure("a", "ms", [3, 3]), Figure("a", "ms", [1, 2, 9])))

    def test_the_spread_of_a_percentile_and_of_one_sample_is_unknown(self):
        worst, one = Figure("a", "ms", [1, 2, 3, 9], value=9), Figure("a", "ms", [1])
        self.assertIn("spread unknown", self.line(worst, worst))
        self.assertIn("spread unknown", self.line(one, one))

    def test_of_a_figure_with_a_limit_the_ratio_decides(self):
        old, new = Figure("a", "ms", [2, 2], [1, 1], "limit"), Figure("a", "ms", [4, 4], [2, 2], "limit")
        self.assertRegex(self.line(old, new), r"\+100\.0 % +2\.00 × +2\.00 × +\+0\.0 % +within")

    def test_figures_that_one_of_the_two_lacks_are_named(self):
        lines = compare.comparison(report(Figure("a", "ms", [1])), report(Figure("b", "ms", [1])))
        self.assertIn("only in the old figures: a", lines)
        self.assertIn("only in the new figures: b", lines)

    def test_another_configuration_is_refused(self):
        with self.assertRaises(ValueError):
            compare.comparison(report(), report(configuration="debug"))

    def test_another_machine_is_named(self):
        old = report()
        old["machine"]["cores"] = 1000
        self.assertTrue(any("number of cores: 1000" in line for line in compare.comparison(old, report())))


class Rules(unittest.TestCase):
    def test_all_rules_are_switched_off_but_the_measured_one(self):
        self.assertIn("  developerMode: true", rules.settings())
        lines = rules.settings(measured=["developerMode"])
        self.assertFalse(any("developerMode" in line for line in lines))
        self.assertIn("  limiterFirst: 0", lines)

    def test_a_cluster_may_have_another_value(self):
        self.assertIn("  limiterFirst: 7", rules.settings({"limiterFirst": 7}))
        self.assertNotIn("  limiterFirst: 0", rules.settings({"limiterFirst": 7}))

    def test_only_what_is_switched_off_can_be_measured(self):
        with self.assertRaises(ValueError):
            rules.settings(measured=["suspendAfter"])


if __name__ == "__main__":
    unittest.main()
