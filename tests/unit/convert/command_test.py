#!/usr/bin/python3
"""command_test.py RESHARD: `reshard convert` and `reshard stamp` as their users meet them."""
import json
import os
import pty
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
RESHARD = ""
LIST = "tests/data/real/all-minilm-l6-v2.shapes.tsv"


def reshard(*arguments, **options):
    return subprocess.run([RESHARD, *map(str, arguments)], cwd=ROOT, capture_output=True, text=True, timeout=120,
                          **options)


class Command(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = Path(tempfile.mkdtemp(prefix="reshard."))
        cls.addClassCleanup(shutil.rmtree, cls.work)
        cls.source = cls.work / "source"
        done = reshard("stamp", LIST, cls.source, "--at-least", "8MiB", "--max-file", "4MiB", "--layers-only")
        assert done.returncode == 0, done.stderr

    def to_ranks(self, out, *more):
        return reshard("convert", self.source, out, "--to", "models/bert-packed.yaml", "--to-mesh", "(tp=3)", *more)

    def check(self, done, code, *words):
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        for word in words:
            self.assertIn(word, done.stderr if code else done.stdout)
        if code:
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def same(self, a, b):
        self.assertEqual(subprocess.run(["diff", "-r", a, b]).returncode, 0)

    def test_there_and_back(self):
        self.check(self.to_ranks(self.work / "ranks", "--verify"), 0, "every byte equal")
        back = reshard("convert", self.work / "ranks", self.work / "back", "--json")
        self.check(back, 0)
        report = json.loads(back.stdout)
        self.assertEqual(report["files_kept"], 0)
        self.assertGreaterEqual(report["bytes_moved"], report["bytes_needed"])
        self.assertEqual(back.stderr, "")  # no progress into a pipe
        self.same(self.source, self.work / "back")

    def test_progress_on_a_terminal(self):
        ours, theirs = pty.openpty()
        process = subprocess.Popen([RESHARD, "convert", self.source, self.work / "seen"], cwd=ROOT, stderr=theirs,
                                   stdout=subprocess.DEVNULL)
        os.close(theirs)
        shown = b""
        while True:
            try:
                piece = os.read(ours, 4096)
            except OSError:  # all ends of the terminal are closed
                break
            if not piece:
                break
            shown += piece
        self.assertEqual(process.wait(), 0)
        for word in (b"write", b"GB/s", b"files", b"left"):
            self.assertIn(word, shown)
        self.assertTrue(shown.endswith(b"\r\x1b[K"), shown)

    def test_exit_code_1_means_that_the_output_differs(self):
        out, partial = self.work / "differs", self.work / "differs.partial"
        # Files beside the weights are carried last: one that is gone stops a conversion whose weights are finished.
        (self.source / "notes.txt").write_text("notes")
        self.check(self.to_ranks(self.work / "noted"), 0)
        (self.source / "notes.txt").unlink()
        (self.work / "noted/notes.txt").unlink()
        back = ("convert", self.work / "noted", out, "--verify")
        self.check(reshard(*back), 2, "notes.txt")
        self.assertFalse(out.exists())
        kept = sorted(partial.glob("*.safetensors"))[0]
        changed = bytearray(kept.read_bytes())
        changed[-1] ^= 1
        kept.write_bytes(changed)
        (self.work / "noted/notes.txt").write_text("notes")
        self.check(reshard(*back), 1, kept.name, "differs")
        self.assertFalse(out.exists())
        self.check(reshard(*back), 0)

    def test_exit_code_2_for_what_cannot_be_done(self):
        nothing = self.work / "nothing"
        self.check(reshard("convert", nothing, self.work / "x"), 2, str(nothing))
        self.check(reshard("convert", self.source, self.source / "inside"), 2, "source folder")
        self.check(self.to_ranks(self.work), 2, "exists")
        self.check(self.to_ranks(self.work / "x", "--timeout", "0"), 2, "--timeout")
        self.check(self.to_ranks(self.work / "x", "--policy", "best"), 2, "balanced")
        self.check(self.to_ranks(self.work / "x", "--memory", "0"), 2, "memory")
        self.check(reshard("convert", self.source, self.work / "x", "--to-mesh", "(tp=2)"), 2, "--to")
        self.check(reshard("stamp", LIST, self.work), 2, "exists")
        self.assertFalse((self.work / "x").exists())


if __name__ == "__main__":
    RESHARD = os.path.abspath(sys.argv.pop(1))
    unittest.main()
