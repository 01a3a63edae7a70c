#!/usr/bin/python3
"""Races ours and what users would take instead, job by job, interleaved in one run, every answer checked.

  contest.py [--build build/release] [--jobs a,b] [--rounds 9] [--contestants limit,openmpi] [--quick]
             [--json FILE] [--document docs/performance.md]

Prints what it does, and a table; writes one JSON object per job and way to --json, and the table between the markers of
--document. Each contestant's ranks are processes (or threads) that live through all jobs with as many ranks, and sleep
on a socket while others are timed. A round times every way of every contestant once, from the moment the first rank
leaves the start line to the moment the last is done; each round begins with another one. Ratios are medians over rounds.

Exit status: 0, also when contestants are missing or left out; 1 when an answer is wrong, or one of ours is left out.
"""
import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

import contestants
import table
from group import Group, Lobby, Lost
from jobs import FAMILIES, OPERATIONS, all_jobs

ROOT = Path(__file__).resolve().parents[2]
REPETITION_S = 0.005  # a repetition is of as many calls as take about this long
MOST_CALLS = 1000
QUIET = 0.92  # of the cores idle
RESERVE_BYTES = 2 << 30
OURS_AND_LIMIT = (*contestants.OURS, contestants.REFERENCE)


class Run:
    """One way of one contestant, in one job."""

    def __init__(self, group, way):
        self.group = group
        self.way = way
        self.calls = 1
        self.seconds = []  # per call, by round
        self.is_wrong = False

    @property
    def contestant(self):
        return self.group.contestant.name

    def takes_part(self):
        return self.group.alive and not self.is_wrong

    def time_round(self):
        self.seconds.append(self.time(self.calls))

    def time(self, calls):
        answers = self.group.ask({"do": "time", "way": self.way, "calls": calls})
        start, end = min(a["from"] for a in answers), max(a["to"] for a in answers)
        return (end - start) * 1e-9 / calls

    def check(self, epoch):
        answers = self.group.ask({"do": "check", "way": self.way, "epoch": epoch})
        return next((a["fault"] for a in answers if a["fault"]), "")

    def calibrate(self):
        once = max(self.time(1), 1e-8)
        if once < REPETITION_S / 10:
            once = max(self.time(10), 1e-8)
        self.calls = max(1, min(MOST_CALLS, round(REPETITION_S / once)))


class Contest:
    def __init__(self, options, build, say):
        self.options = options
        self.build = build
        self.say = say
        self.lobby = Lobby()
        self.groups = {}
        self.ranks = 0
        self.epoch = 0
        self.gone = {}  # (contestant, ranks): why
        self.wrong = False
        self.ours_lost = False
        self.rows = []
        self.missing = {}

    def note(self, job, contestant, why, way=None):
        row = {"job": job.name, "family": job.family, "ranks": job.ranks, "contestant": contestant.name, "left_out": why}
        self.rows.append(row if way is None else {**row, "way": way})

    def lose(self, job, contestant, why):
        self.say(f"{contestant.title}: {why} (job {job.name}, {job.ranks} ranks)")
        self.note(job, contestant, why)
        self.gone[contestant.name, self.ranks] = why
        group = self.groups.pop(contestant.name, None)
        if group:
            group.kill()
        self.ours_lost |= contestant.name in OURS_AND_LIMIT

    def group_of(self, job, contestant):
        """The contestant's processes, started if need be; None when it takes no part."""
        why = self.missing.get(contestant.name) or contestant.left_out(job.ranks) or self.gone.get((contestant.name, job.ranks))
        need = contestant.bytes_for(job)
        if not why and need > available_bytes() - RESERVE_BYTES:
            why = f"needs {need / 2**30:.1f} GiB, and {available_bytes() / 2**30:.1f} GiB are free"
        if why:
            self.note(job, contestant, why)
            return None
        if contestant.name not in self.groups:
            folder = os.path.join(self.lobby.folder, f"{contestant.name}-{job.ranks}")
            os.makedirs(folder)
            environment = contestants.environment(contestant, self.lobby.path, folder, self.build)
            commands = contestant.commands(self.build, job.ranks)
            try:
                self.groups[contestant.name] = Group(contestant, job.ranks, self.lobby, commands, environment,
                                                     self.options.timeout)
            except Lost as lost:
                self.lose(job, contestant, str(lost))
                return None
        return self.groups[contestant.name]

    def race(self, job):
        if job.ranks != self.ranks:
            self.end_groups()
            self.ranks = job.ranks
        idle = wait_for_quiet(self.options.patience)
        began = time.monotonic()
        runs = [run for contestant in self.options.chosen if job.family in contestant.families
                for run in self.open(job, contestant)]
        for _ in range(2):  # each of two buffers that a contestant may use by turns
            runs = self.each(job, runs, lambda run: self.check(job, run))
        runs = self.each(job, runs, Run.calibrate)
        for turn in range(self.options.rounds):
            first = turn % max(1, len(runs))
            self.each(job, runs[first:] + runs[:first], Run.time_round)
            runs = [run for run in runs if run.takes_part()]
        runs = self.each(job, runs, lambda run: self.check(job, run))
        for group in list(self.groups.values()):
            self.ask(job, group, {"do": "close"})
        self.rows += rows_of(job, runs, idle)
        self.say(f"{job.name}: {len(runs)} ways, {time.monotonic() - began:.1f} s")

    def open(self, job, contestant):
        group = self.group_of(job, contestant)
        answers = self.ask(job, group, {"do": "open", "job": job.spec}) if group else None
        if not answers:
            return []
        for way, why in answers[0]["left_out"].items():
            self.note(job, contestant, why, way)
        return [Run(group, way) for way in answers[0]["ways"]]

    def ask(self, job, group, order):
        """The answers, or None and the group is lost."""
        try:
            return group.ask(order)
        except Lost as lost:
            self.lose(job, group.contestant, str(lost))
            return None

    def each(self, job, runs, act):
        """Acts on each that still takes part; those that do afterwards."""
        for run in runs:
            if not run.takes_part():
                continue
            try:
                act(run)
            except Lost as lost:
                self.lose(job, run.group.contestant, str(lost))
        return [run for run in runs if run.takes_part()]

    def check(self, job, run):
        self.epoch += 1  # never one that another way has left in memory that both use
        fault = run.check(self.epoch)
        if fault:
            self.wrong = run.is_wrong = True
            self.say(f"WRONG: {run.group.contestant.title}, {run.way}, job {job.name}: {fault}")
            self.note(job, run.group.contestant, f"wrong: {fault}", run.way)

    def end_groups(self):
        for group in self.groups.values():
            group.end()
        self.groups = {}

    def hosts(self):
        """What the benchmark of two hosts says, a JSON object a line; it needs network namespaces."""
        program = Path(self.build) / "bench/hosts_bench"
        if not program.exists():
            self.say("hosts: missing: bench/hosts_bench was not built")
            return
        done = subprocess.run([str(program), str(self.options.rounds)], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, check=False)
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        self.rows += [{"contestant": "hosts", **json.loads(line), "family": "hosts"} for line in lines]
        if done.returncode != 0 or not lines:
            words = (done.stderr or done.stdout).strip().splitlines() or [f"status {done.returncode}"]
            self.say(f"hosts: left out: {words[-1]}")

    def run(self, jobs):
        self.missing = {c.name: why for c in self.options.chosen if (why := c.missing(self.build))}
        for contestant in self.options.chosen:
            if contestant.name in self.missing:
                self.say(f"{contestant.title}: {self.missing[contestant.name]}")
                self.ours_lost |= contestant.name in OURS_AND_LIMIT
        try:
            for job in jobs:
                self.race(job)
        finally:
            for group in self.groups.values():
                group.end()
            self.lobby.close()
        if "hosts" in self.options.families:
            self.hosts()


def references_of(run):
    """The ways of the limit that a run is compared with: the faster one counts."""
    if run.contestant == "reshard-process" and run.way == "in place":
        return ("vm_readv",)
    return ("memcpy", "nt", "flag", "spin and yield")


def ratio(over, under):
    """Of times, the median over rounds."""
    return statistics.median(a / b for a, b in zip(over, under))


def rows_of(job, runs, idle):
    rows = []
    limits = [run for run in runs if run.contestant == contestants.REFERENCE]
    ours = [run for run in runs if run.contestant in contestants.OURS]
    for run in runs:
        median = statistics.median(run.seconds) / job.parts
        row = {"job": job.name, "family": job.family, "ranks": job.ranks, "bytes": job.size or job.payload,
               "contestant": run.contestant, "way": run.way, "ms": median * 1e3,
               "least_ms": min(run.seconds) / job.parts * 1e3, "most_ms": max(run.seconds) / job.parts * 1e3,
               "rounds": len(run.seconds), "calls": run.calls, "idle": round(idle, 2)}
        if job.payload:
            row["GB/s"] = job.payload / median * 1e-9
        candidates = [limit for limit in limits if limit.way in references_of(run)]
        if candidates:
            limit = min(candidates, key=lambda candidate: statistics.median(candidate.seconds))
            row["ratio"] = ratio(limit.seconds, run.seconds)
        if run.contestant not in OURS_AND_LIMIT:
            row["ours"] = {f"{own.contestant}/{own.way}": ratio(run.seconds, own.seconds) for own in ours}
        rows.append(row)
    return rows


def available_bytes():
    for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) << 10
    return 1 << 62


def idle_share(interval_s=0.3):
    def idle_ticks():
        return int(Path("/proc/stat").read_text(encoding="ascii").split()[4])
    before, began = idle_ticks(), time.monotonic()
    time.sleep(interval_s)
    ticks = (idle_ticks() - before) / os.sysconf("SC_CLK_TCK")
    return min(1.0, ticks / (time.monotonic() - began) / os.cpu_count())


def wait_for_quiet(patience_s):
    """Waits until little else runs, but not for long; the idle share as it was last."""
    end = time.monotonic() + patience_s
    idle = idle_share()
    while idle < QUIET and time.monotonic() < end:
        idle = idle_share()
    return idle


def families_of(text):
    wanted = [name for part in text.split(",") for name in (OPERATIONS if part == "collectives" else (part,))]
    unknown = [name for name in wanted if name not in FAMILIES]
    if unknown:
        raise ValueError(f"no job {', '.join(unknown)}; there are {', '.join(FAMILIES)}, and collectives")
    return wanted


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release", help="build folder (%(default)s)")
    parser.add_argument("--jobs", default=",".join(FAMILIES), metavar="A,B", help="of %(default)s; or collectives")
    parser.add_argument("--ranks", default="", metavar="2,4", help="only jobs with so many ranks")
    parser.add_argument("--contestants", default="", metavar="A,B", help="of " + ",".join(c.name for c in contestants.ALL))
    parser.add_argument("--rounds", type=int, help="timed repetitions of each (9; 3 with --quick)")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that everything works")
    parser.add_argument("--timeout", type=float, default=60, metavar="S", help="for any one answer (%(default)s)")
    parser.add_argument("--patience", type=float, metavar="S", help="for others' work to end before each job (5; 0 with --quick)")
    parser.add_argument("--json", metavar="FILE", help="one object per job and way")
    parser.add_argument("--document", metavar="FILE", help="write the table between the markers there")
    options = parser.parse_args(arguments)
    options.chosen = contestants.chosen([name for name in options.contestants.split(",") if name])
    options.families = families_of(options.jobs)
    options.ranks = [int(ranks) for ranks in options.ranks.split(",") if ranks]
    options.rounds = options.rounds or (3 if options.quick else 9)
    options.patience = (0 if options.quick else 5) if options.patience is None else options.patience
    return options


def main(arguments):
    try:
        options = parse(arguments)
    except ValueError as error:
        print(f"contest: {error}", file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # leaves no process behind, as Ctrl-C
    build = (ROOT / options.build).resolve()
    contest = Contest(options, build, lambda text: print(text, file=sys.stderr, flush=True))
    contest.run([job for job in all_jobs(options.quick) if job.family in options.families
                 and (not options.ranks or job.ranks in options.ranks)])
    if options.json:
        Path(options.json).write_text("".join(json.dumps(row) + "\n" for row in contest.rows), encoding="utf-8")
    rendered = table.render(contest.rows, contest.missing)
    print(rendered)
    if options.document:
        table.write(Path(options.document), rendered)
    return 1 if contest.wrong or contest.ours_lost else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
