#!/usr/bin/env bash
# Measures plan.crossmesh: how many plans between small layouts on meshes that are the same, overlap by half, or do not
# meet are verified, in two processes at once, with one in a hundred carried out on threads. 0 when one of them is wrong
# or two minutes are over.
source "$(dirname "$0")/in_halves.sh"
in_halves build/dev/tests/property/crossmesh_test "*/0:*/2:*/4:*/6" "*/1:*/3:*/5:*/7"
((milliseconds < 120000)) || plans=0
echo "{\"measured\": $plans, \"note\": \"$((milliseconds / 1000)) s, $(sum "moves on threads" 4) of them carried out\"}"
