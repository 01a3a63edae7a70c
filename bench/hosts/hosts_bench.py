#!/usr/bin/python3
"""hosts_bench.py PROGRAMS [ROUNDS [FABRIC..]]: job b between two hosts that are network namespaces, beside raw TCP, and
over MPI beside what MPI has for it. Prints one JSON object for each fabric: ucx, mpi. Needs root; ends with status 1
where hosts cannot be made, or an answer is wrong.
"""
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "hosts"))
import hosts as network

SECONDS = 600


def start_ucx(hosts, folder, programs, rounds):
    for host in range(2):
        hosts.start(host, [str(programs / "ucx_race"), hosts.address(0), folder, rounds],
                    env={**os.environ, "HOST": str(host)})


# Debian turns off the one-sided messages that work over TCP.
def start_mpi(hosts, folder, programs, rounds):
    command, environment = hosts.mpirun(folder, [0, 1], ["--mca", "osc", "pt2pt"],
                                        [str(programs / "mpi_race"), hosts.address(0), rounds])
    hosts.start(0, command, env={**os.environ, **environment})


def main():
    programs = Path(sys.argv[1])
    rounds = sys.argv[2] if len(sys.argv) > 2 else "15"
    reason = network.why_not()
    if reason is not None:
        print(f"no hosts can be made here: {reason}", file=sys.stderr)
        return 1
    built = {fabric: start for fabric, start in (("ucx", start_ucx), ("mpi", start_mpi))
             if (programs / f"{fabric}_race").exists()}
    status = 0
    for fabric in sys.argv[3:] or built:
        with network.Hosts(2) as hosts, tempfile.TemporaryDirectory() as folder:
            built[fabric](hosts, folder, programs, rounds)
            status = max([status, *(abs(process.wait(SECONDS)) for process in hosts.processes)])
    return status


if __name__ == "__main__":
    sys.exit(main())
