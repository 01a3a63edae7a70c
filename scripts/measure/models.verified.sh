#!/usr/bin/env bash
# Measures models.verified: how many tensors of whole published models are planned between real meshes and every
# distinct plan proved right; 0 when there is a fault. models.verified.sh [RESHARD]
set -euo pipefail
cd "$(dirname "$0")/../.."
reshard=${1:-build/dev/tools/reshard}
total=0
faults=0

# model, rules and mesh of the source, rules and mesh of the target
verified() {
  local report status=0
  report=$("$reshard" plan --model "tests/data/real/$1.shapes.tsv" --config "tests/data/real/$1.config.json" \
    --from "models/$2.yaml" --from-mesh "$3" --to "models/$4.yaml" --to-mesh "$5" --verify --json) || status=$?
  ((status <= 1)) || exit "$status"
  local tensors
  tensors=$(python3 -c '
import json, sys
report = json.load(sys.stdin)
print(report["tensors"])
print("{}: {:,} tensors, {:,} distinct plans in {:.2f} s, verified in {:.2f} s, {:.1f} GiB sent (bound {:.1f}), {} faults".format(
    sys.argv[1], report["tensors"], report["distinct_plans"], report["plan_seconds"], report["verify_seconds"],
    report["sent"] / 2**30, report["needed"] / 2**30, len(report["faults"])), file=sys.stderr)
if report["faults"] or report["sent"] != report["needed"]:
    sys.exit("\n".join(report["faults"][:10]) or "more is sent than the lower bound")
' "$1 $3 -> $5" <<<"$report") || faults=1
  total=$((total + tensors))
}

verified llama3.1-70b llama "trainer(pp=4, dp=2, tp=8)" llama "inference(dp=4, tp=4)@64"
verified llama3.1-70b llama "trainer(pp=4, dp=2, tp=8)" llama "inference(dp=4, tp=4)"
verified mixtral-8x22b mixtral "trainer(ep=8, tp=2)" mixtral "inference(tp=8)@16"
verified qwen3.5-moe-25b qwen3-moe "trainer(fsdp=2, ep=4)" qwen3-moe "inference(tp=8)@8"
verified qwen2.5-14b qwen2 "trainer(tp=8)" qwen2 "inference(tp=6)@8"
verified qwen1-72b qwen1 "trainer(pp=2, dp=2, tp=4)" qwen1 "inference(tp=8)"
((faults == 0)) || total=0
echo "{\"measured\": $total}"
