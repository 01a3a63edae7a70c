"""claims.py on small projects in a temporary folder."""
import contextlib
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import claims


def claim(claim_id="a.rate", target=">= 0.7", command=None, measured="0.93", sentence="Runs at {target} of cp."):
    command = command or f"echo noise; echo '{{\"measured\": {measured}}}'"
    return {"id": claim_id, "sentence": sentence, "command": command, "target": target}


class Project(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def run_claims(self, entries, *arguments):
        self.write("claims/claims.yaml", json.dumps(entries))
        output, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
            status = claims.main(list(arguments), self.root)
        return status, output.getvalue() + errors.getvalue()

    def page(self):
        return (self.root / "docs/claims.md").read_text()


class Measuring(Project):
    def verdict(self, target, measured):
        status, _ = self.run_claims([claim(target=target, measured=measured)])
        return status

    def test_each_form_of_target_holds_and_fails(self):
        for target, good, bad in [(">= 0.7", "0.7", "0.69"), ("<= 60", "60", "60.1"), ("> 1", "2", "1"), ("< 5", "4", "5"),
                                  ("== 0", "0", "1"), ("== true", "true", "false"), ("== false", "false", "true"),
                                  ('== "whole"', '"whole"', '"half"')]:
            with self.subTest(target=target):
                self.assertEqual(self.verdict(target, good), 0)
                self.assertEqual(self.verdict(target, bad), 1)

    def test_a_value_of_another_kind_does_not_hold(self):
        for target, measured in [("== true", "1"), ("== 1", "true"), (">= 0.7", '"0.9"'), (">= 0.7", "NaN"), (">= 0.7", "Infinity"),
                                 ("== 0", "false"), ("== 0", "null"), ("== true", "[true]")]:
            with self.subTest(target=target, measured=measured):
                self.assertEqual(self.verdict(target, measured), 1)

    def test_a_command_that_breaks_does_not_hold(self):
        for command in ["exit 3", "echo", "true", "no_such_command", "echo '{}'", "echo 5", "echo '{\"measured\": 1}'; exit 1"]:
            with self.subTest(command=command):
                self.assertEqual(self.run_claims([claim(command=command)])[0], 1)

    def test_a_command_that_hangs_does_not_hold(self):
        status, output = self.run_claims([{**claim(command="sleep 5"), "timeout_s": 0.1}])
        self.assertEqual(status, 1)
        self.assertIn("no answer within 0.1 s", output)

    def test_rows_page_and_table(self):
        entries = [claim(), claim("b.kill", "== true", measured="false", sentence="Survives.")]
        status, output = self.run_claims(entries, "--json", str(self.root / "rows.json"))
        self.assertEqual(status, 1)
        rows = json.loads((self.root / "rows.json").read_text())
        self.assertEqual(rows[0], {"id": "a.rate", "sentence": "Runs at 0.7 of cp.", "measured": 0.93, "target": ">= 0.7", "ok": True})
        self.assertEqual((rows[1]["measured"], rows[1]["ok"]), (False, False))
        self.assertIn("a.rate: Runs at 0.7 of cp.", output)
        self.assertIn("1 of 2 claims hold", output)
        self.assertIn("not b.kill", output)
        self.assertIn("| `a.rate` | Runs at 0.7 of cp. | 0.93 | >= 0.7 | holds | ", self.page())
        self.assertIn("| `b.kill` | Survives. | false | == true | does not hold | ", self.page())
        self.assertRegex(self.page(), r"\d+ cores, \d+ GiB, \d{4}-\d\d-\d\d")

    def test_a_partial_run_keeps_the_other_rows_and_drops_unknown_ones(self):
        entries = [claim(), claim("b.kill", "== true", measured="true")]
        self.run_claims(entries, "--ids", "b.kill")
        self.assertIn("| `a.rate` | Runs at 0.7 of cp. | | >= 0.7 | not yet measured | |", self.page())
        self.run_claims(entries, "--ids", "a.rate")
        self.assertIn("| `b.kill` | Runs at true of cp. | true |", self.page())
        self.run_claims(entries[:1], "--ids", "a.rate")
        self.assertNotIn("b.kill", self.page())


    def test_a_partial_run_leaves_no_value_where_none_was_measured(self):
        entries = [claim(), claim("b.kill", "== true", measured="true")]
        (self.root / "README.md").write_text("now <!-- claim:a.rate measured -->?<!-- /claim -->\n")
        self.run_claims(entries, "--ids", "b.kill")
        self.assertIn("measured -->?<!--", (self.root / "README.md").read_text())

    def test_a_new_target_makes_the_old_value_void_and_a_new_sentence_does_not(self):
        self.run_claims([claim()])
        other = claim("b.kill", "== true", measured="true")
        self.run_claims([claim(sentence="Another."), other], "--ids", "b.kill")
        self.assertIn("| `a.rate` | Another. | 0.93 | >= 0.7 | holds | ", self.page())
        self.run_claims([claim(target=">= 0.8"), other], "--ids", "b.kill")
        self.assertIn("| | >= 0.8 | not yet measured | |", self.page())


class Usage(Project):
    def refused(self, entries, message, *arguments):
        status, output = self.run_claims(entries, *arguments)
        self.assertEqual(status, 2, output)
        self.assertIn(message, output)

    def test_a_target_that_cannot_fail_is_refused(self):
        for target in [">= 0", ">= -1", "> -1", ">= -Infinity", "<= Infinity"]:
            with self.subTest(target=target):
                self.refused([claim(target=target)], "a.rate: target")

    def test_a_malformed_target_is_refused(self):
        for target in ["", "0.7", ">=", "~ 3", "!= 3", "== maybe", ">= true", '<= "a"', "== null", "== [1]", None, 0.7]:
            with self.subTest(target=target):
                self.refused([claim(target=target)], "a.rate: target")

    def test_an_unknown_id_shows_the_nearest(self):
        self.refused([claim("convert.rate"), claim("convert.kill")], "no claim convert.rat; the nearest are convert.rate",
                     "--ids", "convert.rat")

    def test_a_malformed_list_is_refused(self):
        self.refused([claim(), claim()], "a.rate: stands twice")
        self.refused([{"id": "a.rate", "sentence": "s", "command": "c"}], "a claim has id, sentence, command, target")
        self.refused([{**claim(), "color": 1}], "a claim has id, sentence, command, target")
        self.refused([claim(command=" ")], "has no command")
        self.refused([], "holds no claims")
        self.refused("a.rate", "is not a list of claims")


class Documents(Project):
    def check(self, text):
        self.write("README.md", text)
        return self.run_claims([claim()], "--check-docs")

    def test_quotes_that_agree_pass(self):
        self.run_claims([claim()])
        text = "Runs at <!-- claim:a.rate -->0.7<!-- /claim -->, last <!-- claim:a.rate measured -->0.93<!-- /claim -->.\n"
        self.assertEqual(self.check(text), (0, "README and docs state no number that is not a claim\n"))

    def test_quotes_that_disagree_name_file_line_and_value(self):
        status, output = self.check("\n<!-- claim:a.rate -->0.8<!-- /claim -->\n")
        self.assertEqual(status, 1)
        self.assertIn("README.md:2: says 0.8 for a.rate, whose target is 0.7", output)
        self.assertEqual(self.check("<!-- claim:a.rate measured -->0.93<!-- /claim -->")[0], 1)
        self.assertIn("quotes a.rat, which is not in", self.check("<!-- claim:a.rat -->0.7<!-- /claim -->")[1])

    def test_a_rate_in_prose_needs_a_claim_and_one_in_code_does_not(self):
        self.assertIn('README.md:1: "2.1 GB/s" is measured by no claim', self.check("Moves 2.1 GB/s.\n")[1])
        self.assertEqual(self.check("```\nmoved 2.1 GB/s\n```\n`3 GB/s`, a 1 GiB file\n")[0], 0)

    def test_measuring_refreshes_the_quotes(self):
        self.write("docs/rates.md", "<!-- claim:a.rate measured -->?<!-- /claim --> <!-- claim:a.rate -->0.7<!-- /claim -->")
        self.run_claims([claim()])
        self.assertEqual((self.root / "docs/rates.md").read_text(),
                         "<!-- claim:a.rate measured -->0.93<!-- /claim --> <!-- claim:a.rate -->0.7<!-- /claim -->")


class Ours(unittest.TestCase):
    def test_our_claims_are_well_formed(self):
        root = Path(__file__).resolve().parents[2]
        ours = claims.load(root / "claims/claims.yaml")
        self.assertGreaterEqual(ours.keys(), {"layouts.exhaustive", "models.verified", "convert.rate", "convert.memory",
                                              "fuzz.clean", "convert.kill", "run.identical"})


if __name__ == "__main__":
    unittest.main()
