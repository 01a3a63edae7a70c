# Sourced by the measurements of `convert`: makes stamped checkpoints in a temporary folder.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
reshard=$PWD/${BUILD:-build/dev}/tools/reshard
work=$(mktemp -d "${TMPDIR:-/tmp}/reshard.XXXXXX")
trap 'rm -rf "$work"' EXIT

stamped() {  # stamped NAME SIZE
  "$reshard" stamp tests/data/real/qwen2.5-14b.shapes.tsv "$work/$1" --layers-only --at-least "$2" >&2
}
to_trainer=(--to models/qwen2.yaml --to-mesh "trainer(fsdp=2, tp=2)" --quiet)
to_inference=(--to models/qwen2-packed.yaml --to-mesh "inference(tp=3)" --quiet)
