#!/usr/bin/env bash
# Measures convert.rate: converting a 1 GiB checkpoint to an inference mesh against `cp -r` of the same bytes, from a warm
# page cache, at equal durability: `convert --no-sync` against `cp -r`, which leaves the disk to the system, and `convert`,
# which syncs, against `cp -r` and a sync. Rounds take all four in turn; the first warms up, medians of five are compared,
# and the lesser ratio is the result.
source "$(dirname "$0")/stamped.sh"
stamped source 1GiB

copy() { cp -r "$work/source" "$work/out"; }
copy_and_sync() { copy && sync -f "$work/out"; }
convert() { "$reshard" convert "$work/source" "$work/out" "${to_inference[@]}" "$@"; }

seconds() {  # seconds NAME COMMAND..: appends to the file NAME
  rm -rf "$work/out"
  sync
  local start=$EPOCHREALTIME
  "${@:2}" >&2
  awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }' >>"$work/$1"
}
median() { tail -n +2 "$work/$1" | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

for round in 0 1 2 3 4 5; do
  seconds copy copy
  seconds convert_unsynced convert --no-sync
  seconds copy_synced copy_and_sync
  seconds convert_synced convert
done
awk -v a="$(median copy)" -v b="$(median convert_unsynced)" -v c="$(median copy_synced)" -v d="$(median convert_synced)" \
  'BEGIN { r = a / b; s = c / d
           printf "{\"measured\": %.2f, \"note\": \"cp -r %.2f s, convert --no-sync %.2f s; cp -r and sync %.2f s, convert %.2f s\"}\n",
             r < s ? r : s, a, b, c, d }'
