#!/usr/bin/env bash
# Measures fabric.redistribute.gloo: jobs a, b and c beside gloo and PyTorch.
exec "$(dirname "$0")/in_contest.sh" a,b,c limit,reshard-process,gloo,torch over gloo,torch
