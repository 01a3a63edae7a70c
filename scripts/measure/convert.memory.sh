#!/usr/bin/env bash
# Measures convert.memory: peak resident bytes of a process of `convert` for 4 GiB divided by those for 1 GiB.
source "$(dirname "$0")/stamped.sh"

peak() {  # peak SIZE
  stamped "source-$1" "$1"
  "$reshard" convert "$work/source-$1" "$work/out-$1" "${to_trainer[@]}" --json |
    sed -n 's/.*"peak_resident_bytes_per_process": \([0-9]*\).*/\1/p'
  rm -rf "$work/source-$1" "$work/out-$1"
}
small=$(peak 1GiB)
large=$(peak 4GiB)
awk -v a="$small" -v b="$large" \
  'BEGIN { printf "{\"measured\": %.3f, \"note\": \"%d MiB for 1 GiB, %d MiB for 4 GiB\"}\n", b / a, a / 1048576, b / 1048576 }'
