#!/usr/bin/env bash
# Measures op.rate.copy.
source "$(dirname "$0")/op_rate.sh"
op_rate share
