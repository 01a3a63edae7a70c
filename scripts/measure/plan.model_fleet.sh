#!/usr/bin/env bash
# Measures plan.model_fleet: seconds for the certificate of all tensors and ranks of a model.
source "$(dirname "$0")/model_plan.sh"
echo "{\"measured\": $(field fleet_s), \"note\": \"$(field transfers) transfers, $(field messages) messages when packed, $(field pairs) pairs of ranks\"}"
