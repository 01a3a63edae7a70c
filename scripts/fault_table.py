#!/usr/bin/python3
"""fault_table.py BUILD [--json]: every fault against every operation on every fabric, as one table.

Runs the programs fault_matrix* of the build folder, whose lines begin with `cell`. A cell is ok, or BAD with what was
wrong below the table; "-" where a fault cannot be on a fabric. Ends with exit code 1 where a cell is bad, or none ran.
With --json prints one line {"measured": bad cells, "note": ..}.
"""
import json
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

CELL = re.compile(r"^cell (\S+) (\S+) (\S+) (ok|BAD): (.*)", re.MULTILINE)
# Where ranks are processes of a launcher.
LAUNCHERS = {
    "fault_matrix_openmpi": ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none", "-n", "4"],
}
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def cells_of(program):
    launcher = LAUNCHERS.get(program.name, [])
    if launcher and not shutil.which(launcher[0]):
        return {}
    done = subprocess.run([*launcher, program, "--gtest_brief=1"], capture_output=True, text=True, errors="replace",
                          env={**os.environ, **ROOT}, timeout=1200)
    cells = {}
    for fabric, fault, operation, verdict, what in CELL.findall(done.stdout):
        key = fabric, fault, operation
        if key not in cells or verdict == "BAD":  # ranks that run in step print one line each
            cells[key] = verdict, what
    if done.returncode != 0 and all(verdict == "ok" for verdict, _ in cells.values()):
        cells[program.name, "exit", str(done.returncode)] = "BAD", done.stderr.strip()[-1000:]
    return cells


def in_order(values):
    return list(dict.fromkeys(values))


def table(cells):
    fabrics = in_order(fabric for fabric, _, _ in cells)
    rows = in_order((fault, operation) for _, fault, operation in cells)
    widths = [max(8, len(fabric)) for fabric in fabrics]
    lines = [f"{'fault':6} {'operation':15}" + "".join(f" {name:>{width}}" for name, width in zip(fabrics, widths))]
    for fault, operation in rows:
        verdicts = [cells.get((fabric, fault, operation), ("-", ""))[0] for fabric in fabrics]
        lines.append(f"{fault:6} {operation:15}" + "".join(f" {it:>{width}}" for it, width in zip(verdicts, widths)))
    return "\n".join(lines)


def main(build, as_json):
    programs = [p for p in sorted(Path(build, "tests/faults").glob("fault_matrix*")) if p.is_file() and os.access(p, os.X_OK)]
    cells = {}
    with ThreadPoolExecutor(2) as both:  # ranks that wait for one that has stopped need no core
        for found in both.map(cells_of, programs):
            cells.update(found)
    bad = {key: what for key, (verdict, what) in cells.items() if verdict == "BAD"}
    out = sys.stderr if as_json else sys.stdout
    print(table(cells), file=out)
    for key, what in bad.items():
        print(" ".join(key) + ": " + what, file=out)
    fabrics = in_order(fabric for fabric, _, _ in cells)
    note = f"of {len(cells)} cells on {', '.join(fabrics) or 'no fabric'}"
    print(json.dumps({"measured": len(bad) if cells else 1000, "note": note}) if as_json else f"{len(bad)} bad {note}")
    return 1 if bad or not cells else 0


if __name__ == "__main__":
    arguments = [a for a in sys.argv[1:] if a != "--json"]
    if len(arguments) != 1:
        sys.exit(__doc__)
    code = main(arguments[0], "--json" in sys.argv)
    sys.exit(0 if "--json" in sys.argv else code)
