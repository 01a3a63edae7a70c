#!/usr/bin/env bash
# Sourced: op_rate FIELD prints the least FIELD of the transposes of bench/op, over Open MPI and MPICH.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

op_rate() {
  {
    scripts/install_deps.sh fabrics
    scripts/lane.sh build release
  } >&2
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  local rows
  rows=$(mktemp)
  for ranks in 2 4; do
    mpirun.openmpi -n $ranks --oversubscribe --bind-to none build/release/bench/op/op_bench_openmpi
  done | tee "$rows" >&2
  mpiexec.mpich -n 2 build/release/bench/op/op_bench_mpich | tee -a "$rows" >&2
  /usr/bin/python3 - "$rows" "$1" <<'PYTHON'
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
least = min((row for row in rows if row["job"].startswith("transpose")), key=lambda row: row[sys.argv[2]])
print(json.dumps({"measured": least[sys.argv[2]], "note": f"{least['ranks']} ranks, {least['job']}"}))
PYTHON
  rm -f "$rows"
}
