# Sourced by the measurements of plans of a whole model: 22,213 tensors of a mixture of experts, from 4,096 training
# ranks, where experts are spread over `ep` and cut over `tp` and `fsdp`, to 64 copies of an engine of 16 ranks.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
real=tests/data/real/qwen3.5-moe-25b
measured=$("${BUILD:-build/dev}/bench/batch_bench" "$real.shapes.tsv" "$real.config.json" \
  models/qwen3-moe.yaml "trainer(pp=4, dp=8, fsdp=8, ep=4, tp=4)" models/qwen3-moe.yaml "inference(dp=64, ep=4, tp=4)@4096")
echo "$measured" >&2
field() { python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1" <<<"$measured"; }
