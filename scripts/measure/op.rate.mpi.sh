#!/usr/bin/env bash
# Measures op.rate.mpi.
source "$(dirname "$0")/op_rate.sh"
op_rate x_mpi
