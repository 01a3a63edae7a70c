#!/usr/bin/env bash
# Measures op.periodic: whether a ring of two ever takes one side for the other.
source "$(dirname "$0")/tests_failed.sh"
tests_failed build/dev/tests/multi/halo/halo_test '*DelayedHalo*'
