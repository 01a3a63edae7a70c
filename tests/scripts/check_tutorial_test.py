"""check_tutorial.py on small pages: each with one fault, and one without."""
import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import check_tutorial

PROGRAM = "program p\nlocal a : i32[1]\n\nfill a <- 1\n"


def check(page, *flags):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {"examples/ladder/01_p.hand.rp": PROGRAM, "docs/tutorial/01_p.md": page}.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            status = check_tutorial.main(["/bin/echo", *flags], Path(folder))
        return status, output.getvalue(), Path(folder, "docs/tutorial/01_p.md").read_text()


class CheckTutorial(unittest.TestCase):
    def passes(self, page):
        status, output, after = check(page)
        self.assertEqual((status, output, after), (0, "1 pages, 0 faults\n", page))

    def refused(self, page, *parts):
        status, output, after = check(page)
        self.assertEqual((status, after), (1, page), output)
        for part in parts:
            self.assertIn(part, output)

    def test_what_is_printed_is_on_the_page(self):
        self.passes("Text.\n\n```console\n$ echo one\none\n$ echo two; echo three >&2\ntwo\nthree\n```\n")

    def test_another_line_is_a_fault(self):
        self.refused("```console\n$ echo one\ntwo\n```\n", "01_p.md: $ echo one", "-two", "+one", "1 pages, 1 faults")

    def test_a_line_too_many_is_a_fault(self):
        self.refused("```console\n$ echo one\n```\n", "+one")
        self.refused("```console\n$ echo one\none\ntwo\n```\n", "-two")

    def test_dots_stand_for_anything(self):
        self.passes("```console\n$ echo one two three\none ... three\n$ printf '1\\n2\\n3\\n'\n...\n3\n```\n")
        self.refused("```console\n$ echo one two three\none ... four\n```\n", "+one two three")
        self.refused("```console\n$ printf '1\\n2\\n'\n...\n1\n```\n", "+2")

    def test_update_writes_what_was_printed(self):
        page = "```console\n$ echo one\ntwo\n$ echo three\nf...\n```\n"
        status, _, after = check(page, "--update")
        self.assertEqual((status, after), (1, page.replace("two", "one")))

    def test_programs_are_lines_of_their_files(self):
        self.passes("```rp 01_p.hand.rp\nlocal a : i32[1]\n\n```\n")
        self.refused("```rp 01_p.hand.rp\nlocal a : i32[2]\n```\n", "no lines of 01_p.hand.rp", "i32[2]")
        self.refused("```rp 01_p.hand.rp\na : i32[1]\n```\n", "no lines of")

    def test_a_block_begins_with_a_command(self):
        with self.assertRaises(ValueError):
            check("```console\none\n```\n")


if __name__ == "__main__":
    unittest.main()
