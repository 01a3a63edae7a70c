#!/usr/bin/env bash
# Measures plan.model_rank: milliseconds for one rank's part of all tensors of a model, the slowest of eight ranks.
source "$(dirname "$0")/model_plan.sh"
echo "{\"measured\": $(field rank_ms), \"note\": \"$(field tensors) tensors in $(field classes) classes\"}"
