#!/usr/bin/env bash
# Measures convert.kill: whether killing one process in the middle of a conversion ends the others with an error that
# names its rank, leaves no output, and lets a second run finish with the right bytes.
source "$(dirname "$0")/stamped.sh"
fail() { echo "convert.kill: $*" >&2; echo '{"measured": false}'; exit 0; }
stamped source 1GiB
"$reshard" convert "$work/source" "$work/expected" "${to_trainer[@]}" >&2

# Killed once it has written something; a machine that is faster than that gets another chance.
for attempt in 1 2 3 4 5; do
  rm -rf "$work/out"*
  "$reshard" convert "$work/source" "$work/out" "${to_trainer[@]}" 2>"$work/log" >&2 &
  parent=$!
  until [[ -n $(compgen -G "$work/out.partial/*.unfinished") ]] || ! kill -0 $parent 2>/dev/null; do sleep 0.005; done
  sleep 0.05
  victim=$(pgrep -P $parent | tail -1) && kill -9 "$victim" 2>/dev/null || { wait $parent || true; continue; }
  start=$SECONDS
  status=0
  wait $parent || status=$?
  ((status == 0)) && continue
  break
done
cat "$work/log" >&2
((status == 2)) || fail "exit status $status instead of 2"
((SECONDS - start <= 10)) || fail "the others took $((SECONDS - start)) s to end"
grep -Eq 'rank [0-9]+' "$work/log" || fail "the error names no rank"
[[ ! -e $work/out ]] || fail "an output is visible"
"$reshard" convert "$work/source" "$work/out" "${to_trainer[@]}" --verify >&2 || fail "the second run failed"
diff -r "$work/expected" "$work/out" >&2 || fail "the second run wrote other bytes"
echo '{"measured": true}'
