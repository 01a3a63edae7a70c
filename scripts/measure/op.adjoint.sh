#!/usr/bin/env bash
# Measures op.adjoint: how many tests of the identity of operators and their adjoints fail.
source "$(dirname "$0")/tests_failed.sh"
tests_failed build/dev/tests/unit/op/op_adjoint_test '*'
