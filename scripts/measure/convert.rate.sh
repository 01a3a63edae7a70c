#!/usr/bin/env bash
# Measures convert.rate: the rate of converting a 1 GiB checkpoint to an inference mesh as a share of that of `cp -r` of
# the same bytes. Five pairs, one after the other, after one pair to warm up; the medians are compared. convert syncs its
# files to disk, cp does not.
source "$(dirname "$0")/stamped.sh"
stamped source 1GiB

seconds() {  # seconds COMMAND..
  local start=$EPOCHREALTIME
  "$@" >&2
  awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }'
}
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

copies=() converts=()
for round in 0 1 2 3 4 5; do
  sync
  copy=$(seconds cp -r "$work/source" "$work/copy")
  rm -rf "$work/copy"
  sync
  convert=$(seconds "$reshard" convert "$work/source" "$work/out" "${to_inference[@]}")
  rm -rf "$work/out"
  echo "round $round: cp -r $copy s, convert $convert s" >&2
  ((round > 0)) || continue
  copies+=("$copy")
  converts+=("$convert")
done
copy=$(printf '%s\n' "${copies[@]}" | median)
convert=$(printf '%s\n' "${converts[@]}" | median)
awk -v a="$copy" -v b="$convert" \
  'BEGIN { printf "{\"measured\": %.3f, \"note\": \"cp -r %.2f s, convert %.2f s\"}\n", a / b, a, b }'
