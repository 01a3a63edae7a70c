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

import hosts as network
from hosts import Hosts

PROGRAMS = ""
PATIENCE = 120  # seconds, for what must succeed on a machine that is busy
DEADLINE = 4  # seconds that ranks wait before they give up, where something fails
SKIPPED = 77


class Rank:
    def __init__(self, number, host, process, output):
        self.number = number
        self.host = host
        self.process = process
        self.output = output

    def text(self):
        with open(self.output, encoding="utf-8") as file:
            return file.read()


class Ranks:
    """The ranks of one run, over UCX: a process each, that find each other through a folder."""

    def __init__(self, hosts, placement, folder, scenario="moves", timeout=PATIENCE, rounds=1, edge=100, environment=None):
        self.folder = folder
        self.ranks = []
        for number, host in enumerate(placement):
            output = os.path.join(folder, f"rank{number}.txt")
            variables = {**os.environ, "RANK": str(number), "FOLDER": os.path.join(folder, "exchange"), "JOB": "1",
                         **(environment or {})}
            command = [os.path.join(PROGRAMS, "ucx_rank"), scenario, ",".join(map(str, placement)),
                       str(int(timeout * 1000)), str(rounds), str(edge)]
            with open(output, "w", encoding="utf-8") as file:
                process = hosts.start(host, command, stdout=file, stderr=file, env=variables)
            self.ranks.append(Rank(number, host, process, output))

    def __getitem__(self, number):
        return self.ranks[number]

    def __iter__(self):
        return iter(self.ranks)

    def text(self):
        return "".join(rank.text() for rank in self.ranks)

    def wait(self, seconds, but=()):
        """Until all have ended. Returns how long that took."""
        start = time.monotonic()
        for rank in self.ranks:
            if rank.number not in but:
                rank.process.wait(max(0.1, start + seconds - time.monotonic()))
        return time.monotonic() - start

    def wait_for_round(self, number):
        deadline = time.monotonic() + PATIENCE
        while f"round {number}\n" not in self.ranks[0].text():
            if time.monotonic() > deadline or any(rank.process.poll() is not None for rank in self.ranks):
                raise AssertionError(f"no round {number}: {self.text()}")
            time.sleep(0.005)

    def payloads(self):
        """Bytes that left each host, by host, as the ranks have planned them."""
        return {int(host): int(count) for host, count in re.findall(r"^sent (\d+) (\d+)$", self.text(), re.M)}


class HostsTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def start(self, hosts, placement, **options):
        return Ranks(hosts, placement, self.folder.name, **options)

    def expect_done(self, ranks):
        ranks.wait(PATIENCE)
        for rank in ranks:
            self.assertEqual(rank.process.returncode, 0, ranks.text())
            self.assertIn(f"rank {rank.number}: done", rank.text())

    def expect_errors(self, ranks, of, within, lost=()):
        """Each survivor ends in time, with an error that names a rank, and what was being done."""
        took = ranks.wait(within + PATIENCE / 4, but=lost)
        self.assertLess(took, within, ranks.text())
        for rank in ranks:
            if rank.number in lost:
                continue
            self.assertEqual(rank.process.returncode, 3, ranks.text())
            last = rank.text().splitlines()[-1]
            self.assertRegex(last, rf"^rank {rank.number}: ({of}): ", ranks.text())
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
    def endless(self, hosts, placement):
        ranks = self.start(hosts, placement, scenario="endless", timeout=DEADLINE, edge=1200)
        ranks.wait_for_round(2)
        return ranks

    def test_a_killed_rank(self):
        with Hosts(3) as hosts:
            ranks = self.endless(hosts, [0, 0, 1, 2])
            ranks[2].process.send_signal(signal.SIGKILL)
            self.expect_errors(ranks, "peer lost", within=2 * DEADLINE, lost=[2])
        self.expect_no_trace()

    def test_a_stopped_rank(self):
        with Hosts(3) as hosts:
            ranks = self.endless(hosts, [0, 1, 1, 2])
            ranks[1].process.send_signal(signal.SIGSTOP)
            self.expect_errors(ranks, "timeout|peer lost", within=4 * DEADLINE, lost=[1])
        self.expect_no_trace()

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

    def test_a_rank_that_does_not_come(self):
        with Hosts(2) as hosts:
            ranks = self.start(hosts, [0, 1], timeout=DEADLINE)
            ranks[1].process.kill()
            took = ranks.wait(4 * DEADLINE)
            self.assertLess(took, 3 * DEADLINE)
            self.assertIn("rank 1", ranks[0].text())
            self.assertEqual(ranks[0].process.returncode, 3, ranks.text())


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
