#!/usr/bin/python3
"""Tests of bench/contest: the driver with contestants that fail, ratios, and the table in its document."""
import contextlib
import io
import json
import os
import stat
import sys
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/contest"))

import contest  # noqa: E402
import contestants  # noqa: E402
import jobs  # noqa: E402
import table  # noqa: E402
import verdict  # noqa: E402
from contestants import Contestant  # noqa: E402

# A contestant of one rank a process: `behaviour` is what it does when told to time or to check.
FAKE = '''#!{python}
import json, os, socket, sys, time
name, behaviour, rank, ranks = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
if behaviour == "no start":
    sys.exit("no licence")
line = socket.socket(socket.AF_UNIX)
line.connect(os.environ["CONTEST_SOCKET"])
lines = line.makefile("rw")
def say(what):
    lines.write(json.dumps(what) + "\\n")
    lines.flush()
say({{"contestant": name, "rank": rank, "process": os.getpid()}})
lines.readline()
for text in lines:
    order = json.loads(text)
    if order["do"] == "end":
        break
    if order["do"] == "open":
        say({{"ways": ["way"], "left_out": {{"other way": "not here"}}}})
    elif order["do"] == "close":
        say({{}})
    elif behaviour == "silent":
        time.sleep(600)
    elif behaviour == "dies":
        print("out of cheese", file=sys.stderr, flush=True)
        os._exit(3)
    elif behaviour == "error" and rank == 1:
        say({{"error": "cannot"}})
    elif order["do"] == "check":
        with open(os.path.join(os.path.dirname(__file__), "epochs"), "a") as epochs:
            epochs.write(f"{{rank}}:{{order['epoch']}} ")
        say({{"fault": "element 5 is wrong" if behaviour == "wrong" and rank == 1 else ""}})
    else:
        ns = 1000 * int(behaviour) if behaviour.isdigit() else 1000
        say({{"from": 10 + rank, "to": 10 + rank + ns * order["calls"]}})
'''


class Race:
    """A contest over fakes, each with a behaviour by its name."""

    def __init__(self, behaviours, families=("hop",), timeout=60):
        with tempfile.TemporaryDirectory() as build:
            program = Path(build) / "bench/contest/fake"
            program.parent.mkdir(parents=True)
            program.write_text(FAKE.format(python=sys.executable), encoding="utf-8")
            program.chmod(program.stat().st_mode | stat.S_IXUSR)
            chosen = [Contestant(name, families, "fake", "", one_each=True, arguments=(name, behaviour))
                      for name, behaviour in behaviours.items()]
            options = SimpleNamespace(chosen=chosen, rounds=3, patience=0, timeout=timeout, families=families)
            self.said = []
            self.contest = contest.Contest(options, build, self.said.append)
            self.folder = self.contest.lobby.folder
            self.contest.run([job for job in jobs.all_jobs(quick=True) if job.family in families and job.ranks == 2])
            epochs = program.with_name("epochs")
            self.epochs = epochs.read_text(encoding="utf-8").split() if epochs.exists() else []
        self.rows = self.contest.rows

    def row(self, name):
        return next(row for row in self.rows if row["contestant"] == name and row.get("way") != "other way")


class DriverTest(unittest.TestCase):
    def test_all_answer(self):
        race = Race({"limit": "1", "openmpi": "3", "reshard-thread": "2"})
        self.assertAlmostEqual(race.row("limit")["ms"], 0.0005, places=5)  # a hop is half of the way there and back
        self.assertAlmostEqual(race.row("openmpi")["ours"]["reshard-thread/way"], 1.5, places=2)
        self.assertFalse(race.contest.wrong or race.contest.ours_lost)
        self.assertFalse(os.path.exists(race.folder))

    def test_ways_left_out_are_named(self):
        race = Race({"openmpi": "1"})
        self.assertIn(("other way", "not here"), [(row.get("way"), row.get("left_out")) for row in race.rows])

    def test_one_that_is_silent_is_left_out(self):
        race = Race({"limit": "1", "mpich": "silent"}, timeout=5)
        self.assertIn("no answer in 5 s, left out", race.row("mpich")["left_out"])
        self.assertIn("MPICH: no answer in 5 s, left out", race.said[0])
        self.assertIn("ms", race.row("limit"))

    def test_one_that_dies_is_left_out_with_its_last_words(self):
        race = Race({"limit": "1", "gloo": "dies"})
        self.assertIn("out of cheese", race.row("gloo")["left_out"])
        self.assertIn("ms", race.row("limit"))

    def test_one_that_does_not_start(self):
        self.assertEqual("did not start: no licence", Race({"gloo": "no start"}).row("gloo")["left_out"])

    def test_errors_name_the_rank(self):
        self.assertEqual("rank 1: cannot", Race({"gloo": "error"}).row("gloo")["left_out"])

    def test_one_that_is_gone_stays_away_from_later_jobs(self):
        race = Race({"limit": "1", "gloo": "dies"}, families=("hop", "barrier"))
        self.assertEqual(2, len([row for row in race.rows if row["contestant"] == "gloo" and "other way" != row.get("way")]))

    def test_wrong_answers_are_not_timed(self):
        race = Race({"limit": "1", "gloo": "wrong"})
        self.assertTrue(race.contest.wrong)
        self.assertEqual("wrong: element 5 is wrong", race.row("gloo")["left_out"])

    def test_no_check_can_pass_by_what_another_has_left(self):
        epochs = Race({"limit": "1", "openmpi": "1"}).epochs
        self.assertEqual(3 * 2 * 2, len(epochs))  # three checks of two ways on two ranks
        self.assertEqual(len(epochs), len(set(epochs)))

    def test_losing_ours_is_a_failure(self):
        self.assertTrue(Race({"reshard-process": "dies"}).contest.ours_lost)
        self.assertFalse(Race({"openmpi": "dies"}).contest.ours_lost)

    def test_missing_is_said(self):
        chosen = Contestant("gloo", ("hop",), "nowhere", "libgloo-dev", one_each=True)
        options = SimpleNamespace(chosen=[chosen], rounds=1, patience=0, timeout=1, families=("hop",))
        said = []
        race = contest.Contest(options, "/nonexistent", said.append)
        race.run([job for job in jobs.all_jobs(quick=True) if job.family == "hop"])
        self.assertIn("install libgloo-dev", said[0])
        self.assertIn("- gloo: missing", table.render(race.rows, race.missing))
        self.assertFalse(race.ours_lost)

    def test_more_ranks_than_a_contestant_bears(self):
        mpich = contestants.chosen(["mpich"])[0]
        self.assertIsNone(mpich.left_out(2))
        self.assertIn("at most 2 ranks", mpich.left_out(4))

    def test_unknown_names(self):
        for arguments in (["--jobs", "z"], ["--contestants", "nobody"]):
            with contextlib.redirect_stderr(io.StringIO()) as said:
                self.assertEqual(2, contest.main(arguments))
            self.assertIn("there are", said.getvalue())


class RatioTest(unittest.TestCase):
    def test_ratios_are_taken_within_rounds(self):
        self.assertEqual(2.0, contest.ratio([2, 20, 6], [1, 10, 2]))

    def test_the_faster_reference_counts(self):
        def run(name, way, seconds):
            group = SimpleNamespace(contestant=SimpleNamespace(name=name))
            return SimpleNamespace(group=group, contestant=name, way=way, seconds=seconds, calls=1)
        runs = [run("limit", "memcpy", [4, 4, 4]), run("limit", "nt", [2, 2, 2]), run("limit", "vm_readv", [8, 8, 8]),
                run("reshard-process", "windows", [4, 4, 4]), run("reshard-process", "in place", [10, 10, 10])]
        job = next(job for job in jobs.all_jobs(quick=True) if job.family == "a")
        ratios = {row["way"]: row["ratio"] for row in contest.rows_of(job, runs, 1)}
        self.assertEqual(0.5, ratios["windows"])
        self.assertEqual(0.8, ratios["in place"])
        self.assertEqual(0.25, ratios["vm_readv"])


class VerdictTest(unittest.TestCase):
    ROWS = [
        {"job": "a", "contestant": "reshard-process", "way": "windows", "ms": 2.0, "ratio": 0.9, "bytes": 64},
        {"job": "b", "contestant": "reshard-process", "way": "windows", "ms": 4.0, "ratio": 0.5, "bytes": 1024},
        {"job": "b", "contestant": "reshard-thread", "way": "windows", "ms": 4.0, "ratio": 0.1, "bytes": 1024},
        {"job": "a", "contestant": "openmpi", "way": "put", "ms": 6.0, "bytes": 64,
         "ours": {"reshard-process/windows": 3.0, "reshard-process/in place": 1.0, "reshard-thread/windows": 0.1}},
        {"job": "b", "contestant": "openmpi", "way": "pack", "ms": 6.0, "bytes": 1024, "ours": {"reshard-process/windows": 2.0}},
        {"job": "b", "contestant": "mpich", "left_out": "no answer"},
        {"job": "b", "family": "hosts", "contestant": "hosts", "fabric": "ucx", "ratio": 0.9, "bytes": 64},
    ]

    def measured(self, *arguments):
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
            file.write("".join(json.dumps(row) + "\n" for row in self.ROWS))
            file.flush()
            with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.redirect_stderr(io.StringIO()):
                status = verdict.main([file.name, *arguments])
        return json.loads(said.getvalue())["measured"] if status == 0 else None

    def test_the_worst_case_is_what_is_claimed(self):
        self.assertEqual(0.5, self.measured("limit", "windows"))
        self.assertEqual(2.0, self.measured("times_limit", "windows"))
        self.assertEqual(4000.0, self.measured("us"))
        self.assertEqual(2.0, self.measured("over", "openmpi"))
        self.assertEqual(3.0, self.measured("over", "openmpi", "put"))
        self.assertEqual(1.25, self.measured("published", "0.45,0.4"))
        self.assertEqual(0.9, self.measured("hosts", "ucx"))

    def test_sizes_can_be_chosen(self):
        self.assertEqual(0.9, self.measured("limit", "windows", "--below", "1024"))
        self.assertEqual(2.0, self.measured("over", "openmpi", "--from", "1024"))

    def test_nobody_wins_by_absence(self):
        self.assertIsNone(self.measured("over", "mpich"))
        self.assertIsNone(self.measured("limit", "in place"))
        self.assertIsNone(self.measured("guess"))


class JobsTest(unittest.TestCase):
    def test_every_family_has_a_job_and_sizes_divide(self):
        for quick in (True, False):
            every = jobs.all_jobs(quick)
            self.assertEqual(set(jobs.FAMILIES) - {"hosts"}, {job.family for job in every})
            for job in every:
                self.assertEqual(0, job.size % (4 * job.ranks))
                self.assertTrue(all(n % 64 == 0 and n >= 256 for n in job.spec.get("elements", [])))

    def test_the_tensors_are_the_same_every_time(self):
        self.assertEqual(jobs.tensors(200, jobs.MIB), jobs.tensors(200, jobs.MIB))


class TableTest(unittest.TestCase):
    def test_only_what_lies_between_the_markers_changes(self):
        with tempfile.TemporaryDirectory() as folder:
            document = Path(folder) / "page.md"
            document.write_text(f"before\n{table.BEGIN}\nold\n{table.END}\nafter\n", encoding="utf-8")
            table.write(document, "new\n")
            self.assertEqual(f"before\n{table.BEGIN}\nnew\n{table.END}\nafter\n", document.read_text(encoding="utf-8"))
            document.write_text("no markers", encoding="utf-8")
            with self.assertRaises(ValueError):
                table.write(document, "new\n")

    def test_the_page_has_markers(self):
        text = (ROOT / "docs/performance.md").read_text(encoding="utf-8")
        self.assertLess(text.index(table.BEGIN), text.index(table.END))

    def test_times(self):
        self.assertEqual(["20.1 ms", "31.0 us", "250 ns"], [table.time_text(ms) for ms in (20.1, 0.031, 0.00025)])

    def test_what_the_benchmark_of_hosts_says_is_shown(self):
        rows = [{"family": "hosts", "contestant": "hosts", "job": "b", "fabric": "ucx", "ms": 50.5, "ratio": 0.9}]
        self.assertIn("| b | ucx | 50.5 | 0.9 |", table.render(rows, {}))

    def test_rows_are_json(self):
        for row in Race({"limit": "1", "openmpi": "2"}).rows:
            self.assertEqual(row, json.loads(json.dumps(row)))


if __name__ == "__main__":
    unittest.main()
