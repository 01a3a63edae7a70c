#!/usr/bin/env bash
# Measures compare.table: whether `reshard compare --all` prints, for eight meshes, the figures of the table in
# docs/design/compare.md. compare.table.sh [RESHARD]
set -euo pipefail
cd "$(dirname "$0")/../.."
reshard=${1:-build/dev/tools/reshard}

# mesh; of the pairs: all, greedy > bound, graph > bound; sums of greedy, graph; worst of greedy, graph; peak of greedy;
# sum and worst of the permute family. A dash: the table has no figure.
python3 - "$reshard" <<'TABLE'
import json, subprocess, sys

TABLE = """
4      6    0%   0%   1.00  1.00  1   1    1.0  -     -
8      6    0%   0%   1.00  1.00  1   1    1.0  -     -
2,2    72   44%  39%  1.51  1.37  4   4    2.0  1.07  2.0
2,4    72   44%  39%  1.85  1.37  8   4.6  4.0  1.15  2.7
4,2    72   44%  39%  1.55  1.32  8   5    2.4  -     -
4,4    72   44%  39%  1.96  1.42  16  8    4.0  1.04  2.4
2,2,2  702  72%  66%  2.26  1.82  10  10   4.0  1.07  2.3
2,2,4  702  72%  66%  2.91  1.73  22  12   8.0  -     -
"""
rows = [line.split() for line in TABLE.strip().splitlines()]
meshes = [argument for row in rows for argument in ("--all", row[0])]
found = json.loads(subprocess.run([sys.argv[1], "compare", "--json", *meshes], check=True, capture_output=True).stdout)


def printed(number, pattern):
    """As precisely as the pattern was written down."""
    if pattern == "-":
        return "-"
    if pattern.endswith("%"):
        return f"{100 * number:.0f}%"
    return f"{number:.{len(pattern.partition('.')[2])}f}"


differences = 0
for row, mesh in zip(rows, found["meshes"], strict=True):
    greedy, graph, permute = mesh["dtensor_greedy"], mesh["dtensor_graph"], mesh["permute_family"]
    numbers = [mesh["pairs"], greedy["above_bound"] / mesh["pairs"], graph["above_bound"] / mesh["pairs"], greedy["sum"],
               graph["sum"], greedy["worst"], graph["worst"], greedy["peak"], permute["sum"], permute["worst"]]
    here = [printed(number, pattern) for number, pattern in zip(numbers, row[1:], strict=True)]
    same = here == row[1:] and mesh["direct"]["above_bound"] == 0 and ",".join(map(str, mesh["mesh"])) == row[0]
    print(row[0], *here, "" if same else f"differs from {' '.join(row[1:])}", file=sys.stderr)
    differences += not same
print(json.dumps({"measured": differences == 0, "note": f"{len(rows)} meshes, {differences} differ"}))
TABLE
