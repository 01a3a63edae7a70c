#!/usr/bin/python3
"""hosts_test.py PROGRAMS SUITE..: ranks on hosts that are network namespaces (hosts.py), joined by a wire that can be
counted, throttled and cut. PROGRAMS is the folder of the rank programs.

Exits 77, which ctest shows as skipped, where namespaces cannot be had.
"""
import os
import re
import signal
import sys
import tempfile
import time
import unittest
from pathlib import Path

import hosts as network
from hosts import Hosts

PROGRAMS = ""
PATIENCE = 120  # seconds, for what must succeed on a machine that is busy
DEADLINE = 4  # seconds that ranks wait before they give up, where something fails
SKIPPED = 77


class Ranks:
    """The ranks of one run: how they are started is for subclasses to say. Ranks print lines that name them."""

    def __init__(self, hosts, placement, folder, scenario="moves", timeout=PATIENCE, rounds=1, edge=100):
        self.folder = folder
        self.numbers = range(len(placement))
        self.arguments = [scenario, ",".join(map(str, placement)), str(int(timeout * 1000)), str(rounds), str(edge)]
        self.environment = dict(os.environ)
        self.start(hosts, placement)

    def text(self):
        """All that they have printed."""
        text = ""
        for path in sorted(Path(self.folder).glob("*.txt")):
            text += path.read_text(encoding="utf-8")
        return text

    def last_words(self, number):
        """The last line in which a rank names itself."""
        return ([""] + re.findall(rf"^rank {number}: .*", self.text(), re.M))[-1]

    def wait_for_round(self, number):
        deadline = time.monotonic() + PATIENCE
        while f"round {number}\n" not in self.text():
            if time.monotonic() > deadline or self.has_ended():
                raise AssertionError(f"no round {number}: {self.text()}")
            time.sleep(0.005)

    def payloads(self):
        """Bytes that left each host, by host, as the ranks have planned them."""
        return {int(host): int(count) for host, count in re.findall(r"^sent (\d+) (\d+)$", self.text(), re.M)}

    def wait_for(self, processes, seconds):
        """Until all have ended. Returns how long that took."""
        start = time.monotonic()
        for process in processes:
            process.wait(max(0.1, start + seconds - time.monotonic()))
        return time.monotonic() - start


class UcxRanks(Ranks):
    """Over UCX: a process each, that find each other through a folder."""

    def start(self, hosts, placement):
        self.processes = []
        for number, host in enumerate(placement):
            variables = {**self.environment, "RANK": str(number), "FOLDER": os.path.join(self.folder, "exchange"),
                         "JOB": "1"}
            with open(os.path.join(self.folder, f"rank{number}.txt"), "w", encoding="utf-8") as file:
                self.processes.append(hosts.start(host, [os.path.join(PROGRAMS, "ucx_rank"), *self.arguments],
                                                  stdout=file, stderr=file, env=variables))

    def send_signal(self, number, what):
        self.processes[number].send_signal(what)

    def has_ended(self):
        return any(process.poll() is not None for process in self.processes)

    def wait(self, seconds, but=()):
        return self.wait_for([self.processes[number] for number in self.numbers if number not in but], seconds)

    def code(self, number):
        return self.processes[number].returncode


class MpiRanks(Ranks):
    """Over Open MPI: one mpirun on the first host, which starts ranks on the others by what stands in for ssh."""
    def start(self, hosts, placement):
        self.session = os.path.join(self.folder, "session")
        os.mkdir(self.session)
        command, environment = hosts.mpirun(self.session, placement, [],
                                            [os.path.join(PROGRAMS, "mpi_rank"), *self.arguments])
        self.environment.update(environment)
        with open(os.path.join(self.folder, "ranks.txt"), "w", encoding="utf-8") as file:
            self.mpirun = hosts.start(0, command, stdout=file, stderr=file, env=self.environment)

    def processes(self):
        """The process of each rank that runs."""
        found = {}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ", "rb") as file:
                    variables = dict(line.partition(b"=")[::2] for line in file.read().split(b"\0"))
                is_rank = os.readlink(f"/proc/{pid}/exe").endswith("/mpi_rank")
            except OSError:
                continue
            if is_rank and variables.get(b"TMPDIR") == self.session.encode():
                found[int(variables[b"OMPI_COMM_WORLD_RANK"])] = int(pid)
        return found

    def send_signal(self, number, what):
        os.kill(self.processes()[number], what)

    def has_ended(self):
        return self.mpirun.poll() is not None

    def wait(self, seconds, but=()):
        del but  # mpirun ends when all have
        return self.wait_for([self.mpirun], seconds)

    def code(self, number):
        del number  # mpirun's is that of one that ended badly, if any
        return self.mpirun.returncode


class HostsTest:
    """What both fabrics share: `ranks_of` starts ranks."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def start(self, hosts, placement, **options):
        return self.ranks_of(hosts, placement, self.folder.name, **options)

    def expect_done(self, ranks):
        ranks.wait(PATIENCE)
        for number in ranks.numbers:
            self.assertEqual(ranks.code(number), 0, ranks.text())
            self.assertEqual(ranks.last_words(number), f"rank {number}: done", ranks.text())

    def expect_errors(self, ranks, of, within, lost=()):
        """Each survivor ends in time, with an error that names a rank, and what was being done."""
        took = ranks.wait(within + PATIENCE / 4, but=lost)
        self.assertLess(took, within, ranks.text())
        for number in ranks.numbers:
            if number in lost:
                continue
            self.assertEqual(ranks.code(number), 3, ranks.text())
            last = ranks.last_words(number)
            self.assertRegex(last, rf"^rank {number}: ({of}): ", ranks.text())
            message = last.split(": ", 2)[2]
            self.assertRegex(message, r"\brank \d+\b")
            self.assertRegex(message, r"signal|barrier|creation|window|redistribute|tensor", message)

    def expect_on_wire(self, hosts, ranks, before):
        for host, payload in ranks.payloads().items():
            sent = hosts.sent(host) - before[host]
            self.assertGreaterEqual(sent, payload, f"host {host}: payload did not take the wire")
            self.assertLessEqual(sent, 1.2 * payload, f"host {host}: {sent} bytes for a payload of {payload}")

    def expect_no_trace(self):
        self.assertEqual([name for name in network.namespaces() if name.startswith(f"reshard-{os.getpid()}-")], [])


class Moves(HostsTest):
    """Each element, and each byte on the wire."""

    def test_two_hosts_each_element_and_each_byte(self):
        with Hosts(2) as hosts:
            before = [hosts.sent(host) for host in range(2)]
            ranks = self.start(hosts, [0, 1], rounds=3, edge=1500)
            self.expect_done(ranks)
            self.assertEqual(set(ranks.payloads()), {0, 1})
            self.expect_on_wire(hosts, ranks, before)
        self.expect_no_trace()

    def test_three_hosts_with_uneven_ranks(self):
        with Hosts(3) as hosts:
            before = [hosts.sent(host) for host in range(3)]
            ranks = self.start(hosts, [0, 0, 1, 2, 2], rounds=2, edge=1700)
            self.expect_done(ranks)
            self.expect_on_wire(hosts, ranks, before)

    def test_ranks_of_a_host_that_are_not_neighbours(self):
        with Hosts(3) as hosts:
            self.expect_done(self.start(hosts, [2, 0, 1, 0, 2, 0], rounds=2, edge=200))

    def test_a_small_wire(self):
        with Hosts(2, mtu=1500) as hosts:
            self.expect_done(self.start(hosts, [0, 1, 0], rounds=3, edge=300))

    def test_a_throttled_host(self):
        with Hosts(3) as hosts:
            hosts.throttle(1, "200mbit")
            self.expect_done(self.start(hosts, [0, 1, 2], rounds=2, edge=900))

    def test_ranks_of_one_host_leave_the_wire_alone(self):
        with Hosts(2) as hosts:
            before = hosts.sent(0)
            ranks = self.start(hosts, [0, 0, 0], rounds=2, edge=1000)
            self.expect_done(ranks)
            self.assertLess(hosts.sent(0) - before, 100_000)


class Faults(HostsTest):
    """Somebody is missing."""

    def endless(self, hosts, placement):
        ranks = self.start(hosts, placement, scenario="endless", timeout=DEADLINE, edge=1200)
        ranks.wait_for_round(2)
        return ranks

    def test_a_stopped_rank(self):
        with Hosts(3) as hosts:
            ranks = self.endless(hosts, [0, 1, 1, 2])
            ranks.send_signal(1, signal.SIGSTOP)
            self.expect_errors(ranks, "timeout|peer lost", within=4 * DEADLINE, lost=[1])
        self.expect_no_trace()


class UcxMoves(Moves, unittest.TestCase):
    ranks_of = UcxRanks


class UcxFaults(Faults, unittest.TestCase):
    ranks_of = UcxRanks

    def test_a_cut_wire(self):
        with Hosts(2) as hosts:
            ranks = self.endless(hosts, [0, 1])
            hosts.cut(1)
            self.expect_errors(ranks, "timeout|peer lost", within=4 * DEADLINE)
        self.expect_no_trace()

    def test_a_host_that_is_cut_off_from_two(self):
        with Hosts(3) as hosts:
            ranks = self.endless(hosts, [0, 1, 2, 2])
            hosts.cut(2)
            self.expect_errors(ranks, "timeout|peer lost", within=4 * DEADLINE)
        self.expect_no_trace()

    def test_a_killed_rank(self):
        with Hosts(3) as hosts:
            ranks = self.endless(hosts, [0, 0, 1, 2])
            ranks.send_signal(2, signal.SIGKILL)
            self.expect_errors(ranks, "peer lost", within=2 * DEADLINE, lost=[2])
        self.expect_no_trace()

    def test_a_rank_that_does_not_come(self):
        with Hosts(2) as hosts:
            ranks = self.start(hosts, [0, 1], timeout=DEADLINE)
            ranks.send_signal(1, signal.SIGKILL)
            took = ranks.wait(4 * DEADLINE)
            self.assertLess(took, 3 * DEADLINE)
            self.assertIn("rank 1", ranks.last_words(0))
            self.assertEqual(ranks.code(0), 3, ranks.text())


class MpiMoves(Moves, unittest.TestCase):
    ranks_of = MpiRanks


class MpiFaults(Faults, unittest.TestCase):
    ranks_of = MpiRanks

    def expect_nothing_left(self, hosts, ranks):
        self.assertEqual(ranks.processes(), {})
        for host in range(hosts.count):
            self.assertEqual(network.run("ip", "netns", "pids", hosts.name(host)).split(), [])
        left = [os.path.join(place, name) for place, folders, names in os.walk(ranks.session) for name in folders + names]
        self.assertEqual({os.path.basename(path) for path in left} - {"agent.sh", "places"}, set())

    def test_mpirun_ends_all_when_one_is_killed(self):
        with Hosts(3) as hosts:
            memory = set(os.listdir("/dev/shm"))
            ranks = self.endless(hosts, [0, 0, 1, 2])
            ranks.send_signal(2, signal.SIGKILL)
            self.assertLess(ranks.wait(PATIENCE), 4 * DEADLINE, ranks.text())
            self.assertNotEqual(ranks.code(0), 0)
            self.expect_nothing_left(hosts, ranks)
            self.assertEqual(set(os.listdir("/dev/shm")), memory)
        self.expect_no_trace()

    def test_a_cut_wire(self):
        """mpirun has no other wire to its agents: it does not end, nor does it hear from ranks on hosts that are cut off."""
        with Hosts(2) as hosts:
            ranks = self.endless(hosts, [0, 1])
            hosts.cut(1)
            deadline = time.monotonic() + 4 * DEADLINE
            while not ranks.last_words(0):
                self.assertLess(time.monotonic(), deadline, ranks.text())
                time.sleep(0.01)
            self.assertRegex(ranks.last_words(0), r"^rank 0: (timeout|peer lost): .*\brank 1\b")
        self.expect_no_trace()


def main():
    global PROGRAMS
    PROGRAMS = sys.argv.pop(1)
    reason = network.why_not()
    if reason is not None:
        print(f"SKIPPED: no hosts can be made here: {reason}")
        return SKIPPED
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    return not unittest.main(verbosity=2, exit=False).result.wasSuccessful()


if __name__ == "__main__":
    sys.exit(main())
