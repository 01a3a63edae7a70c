#!/usr/bin/python3
"""hosts_bench.py PROGRAMS [ROUNDS]: job b between two hosts that are network namespaces, beside raw TCP. Prints one JSON
object for each fabric. Needs root; ends with status 1 where hosts cannot be made, or an answer is wrong.
"""
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "hosts"))
import hosts as network

SECONDS = 600


def main():
    programs = Path(sys.argv[1])
    rounds = sys.argv[2] if len(sys.argv) > 2 else "15"
    reason = network.why_not()
    if reason is not None:
        print(f"no hosts can be made here: {reason}", file=sys.stderr)
        return 1
    with network.Hosts(2) as hosts, tempfile.TemporaryDirectory() as folder:
        for host in range(2):
            hosts.start(host, [str(programs / "ucx_race"), hosts.address(0), folder, rounds],
                        env={**os.environ, "HOST": str(host)})
        return max(process.wait(SECONDS) for process in hosts.processes)


if __name__ == "__main__":
    sys.exit(main())
