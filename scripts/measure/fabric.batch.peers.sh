#!/usr/bin/env bash
# Measures fabric.batch.peers: job d beside the best of all peers.
exec "$(dirname "$0")/in_contest.sh" d limit,reshard-process,openmpi,gloo,torch over openmpi,gloo,torch
