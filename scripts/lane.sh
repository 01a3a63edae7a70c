#!/usr/bin/env bash
# lane.sh build|test PRESET [JOBS]: configures and builds one preset, and runs its tests. The results lie in
# build/PRESET/junit.xml, where scripts/count_tests.py finds them.
set -euo pipefail
cd "$(dirname "$0")/.."
action=$1 preset=$2 jobs=${3:-$(nproc)}

mkdir -p build
cmake --preset "$preset" >build/"$preset".configure.log 2>&1 || { cat build/"$preset".configure.log >&2; exit 1; }
cmake --build --preset "$preset" -j "$jobs"
[[ $action == test ]] || exit 0

# The thread sanitizer's shadow memory does not survive a very random address space.
run=()
[[ $preset == tsan ]] && setarch "$(uname -m)" -R true 2>/dev/null && run=(setarch "$(uname -m)" -R)
results=$PWD/build/$preset/junit.xml
rm -f "$results"
"${run[@]}" ctest --preset "$preset" -j "$jobs" --output-junit "$results" --progress
