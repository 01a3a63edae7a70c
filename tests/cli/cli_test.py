#!/usr/bin/python3
"""cli_test.py RESHARD [Golden|Errors|..]: runs the command line and looks at what comes out.

cli_test.py RESHARD --update writes tests/golden/cli anew; read the difference before committing it.
"""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden" / "cli"
REAL = "tests/data/real/"
LADDER = "examples/ladder/"
BROKEN = "tests/corpus/programs/"
RESHARD = ""

ROWS = "f32[4,2] on (r=4) {0: r}"
BLOCKS = "f32[4,2] on (y=2, x=2) {0: y, 1: x}"

# Name of the golden file: arguments.
CASES = {
    "explain_4x1_2x2": ["explain", ROWS, BLOCKS],
    "explain_4x1_2x2_colour": ["explain", ROWS, BLOCKS, "--color", "always"],
    "explain_4x1_2x2_json": ["explain", ROWS, BLOCKS, "--json"],
    "explain_one_layout": ["explain", "f32[10,7] on (dp=2, tp=3) {1: tp}"],
    "explain_one_dimension_uneven": ["explain", "f32[10] on (a=4) {0: a}", "f32[10] on (a=3)@4 {0: a:balanced}"],
    "explain_empty_shards": ["explain", "bf16[5] on (a=4) {0: a}", "bf16[5] on (a=8) {0: a}"],
    "explain_lcm": ["explain", "f32[12] on (a=4) {0: a}", "f32[12] on (a=6) {0: a}"],
    "explain_replicas": ["explain", "f32[4,4] on (dp=2, tp=2) {1: tp}", "f32[4,4] on (tp=4)@4 {0: tp}"],
    "explain_strided": ["explain", "f32[12,4] on (tp=2) {0: tp:strided(3)}", "f32[12,4] on (tp=2) {0: tp}"],
    "explain_three_dimensions": ["explain", "f32[4,6,8] on (a=2, b=2, c=2) {0: a, 1: b, 2: c}",
                                 "f32[4,6,8] on (a=8) {2: a}"],
    "explain_elided": ["explain", "f32[4096,4096] on (a=64) {0: a}", "f32[4096,4096] on (a=64) {1: a}"],
    "explain_zero_size": ["explain", "f32[0,4] on (a=2) {0: a}", "f32[0,4] on (a=2) {1: a}"],
    "explain_scalar": ["explain", "f32[] on (a=2) {}", "f32[] on (a=2)@2 {}"],
    "explain_stage": ["explain", "f32[16] on (pp=4, tp=2) {0: tp, pp: at(2)}"],
    "explain_pending_sum": ["explain", "f32[8] on (a=2) {a: partial(sum)}"],
    "explain_view": ["explain", "bf16[6144,4096][0:4096, :] on (tp=4) {0: tp}"],
    "explain_as_dtensor": ["explain", "--as", "dtensor", "f32[8,8] on (dp=2, tp=2) {0: tp dp}", BLOCKS],
    "explain_as_jax": ["explain", "--as", "jax", BLOCKS],
    "explain_as_hlo": ["explain", "--as", "hlo", "f32[8,8] on (dp=2, tp=4) {1: tp}", BLOCKS],
    "m2m_4x1_2x2": ["explain", ROWS, BLOCKS, "--m2m"],
    "m2m_4x1_2x2_json": ["explain", ROWS, BLOCKS, "--m2m", "--json"],
    "m2m_copies": ["explain", "f32[6] on (dp=2) {}", "bf16[6] on (a=5) {}", "--m2m"],
    "m2m_partial": ["explain", "f32[6,4] on (a=2, b=3) {a: partial(sum), b: partial(sum)}", "f32[6,4] on (c=2)@6 {1: c}",
                    "--m2m"],
    "trace_4x1_2x2": ["explain", ROWS, BLOCKS, "--trace"],
    "trace_4x1_2x2_json": ["explain", ROWS, BLOCKS, "--trace", "--json"],
    "trace_partial": ["explain", "f32[6,4] on (a=2, b=3) {0: b, a: partial(avg)}", "bf16[6,4] on (c=2)@6 {0: c}", "--trace"],
    "trace_scalar": ["explain", "f32[] on (a=2) {}", "f32[] on (a=3)@2 {}", "--trace"],
    "trace_elided": ["explain", "f32[32,32] on (a=32) {0: a}", "f32[32,32] on (a=32) {1: a}", "--trace"],
    "plan_tensor": ["plan", "bf16[8192,8192] on (dp=2, tp=4) {0: tp dp}", "bf16[8192,8192] on (tp=6)@8 {1: tp}",
                    "--matrix", "--verify"],
    "plan_tensor_json": ["plan", ROWS, BLOCKS, "--json", "--matrix"],
    "plan_rounds": ["plan", "f32[8,8] on (a=8) {0: a}", "f32[8,8] on (a=8) {1: a}", "--rounds", "--ranks-per-host", "4"],
    "plan_rounds_json": ["plan", ROWS, BLOCKS, "--rounds", "--ranks-per-host", "2", "--json"],
    "plan_relabel": ["plan", "f32[30] on (a=3) {0: a}", "f32[30] on (a=3)@[1,2,0] {0: a}", "--relabel", "--verify"],
    "plan_relabel_json": ["plan", "f32[8] on (a=4) {0: a}", "f32[8] on (a=4)@2 {0: a}", "--relabel", "--json"],
    "plan_out": ["plan", ROWS, BLOCKS, "--out", "-"],
    "plan_many_ranks": ["plan", "f32[64,64] on (a=64) {0: a}", "f32[64,64] on (a=64)@64 {1: a}", "--matrix",
                        "--ranks-per-host", "8"],
    "plan_modulo": ["plan", "f32[64] on (a=4) {}", "f32[64] on (a=8)@4 {0: a}", "--policy", "modulo", "--matrix"],
    "plan_partial": ["plan", "f32[64,3] on (a=4) {a: partial(sum)}", "f32[64,3] on (a=4)", "--matrix", "--verify"],
    "plan_partial_json": ["plan", "f32[8] on (a=4) {a: partial(avg)}", "f32[8] on (a=4)", "--json", "--verify"],
    "plan_partial_out": ["plan", "f32[2] on (a=2) {a: partial(max)}", "f32[2] on (a=2) {0: a}", "--out", "-"],
    "plan_model": ["plan", "--model", REAL + "llama3.1-70b.shapes.tsv", "--from", "models/llama.yaml", "--from-mesh",
                   "trainer(pp=4, dp=2, tp=8)", "--to", "models/llama.yaml", "--to-mesh", "inference(dp=4, tp=4)@64",
                   "--matrix", "--verify"],
    "plan_model_packed": ["plan", "--model", REAL + "all-minilm-l6-v2.shapes.tsv", "--from", "models/bert.yaml", "--from-mesh",
                          "trainer(fsdp=2, tp=2)", "--to", "models/bert.yaml", "--to-mesh", "inference(tp=3)@2",
                          "--staging", "192KiB", "--pack-below", "16KiB", "--verify"],
    "boxes": ["boxes", "f32[6,4] on (a=2, b=2) {0: a, 1: b}"],
    "boxes_json": ["boxes", "f32[6,4] on (a=2) {0: a}", "--json"],
    "boxes_plan": ["boxes", "f32[6,4] on (a=3) {0: a}", "f32[6,4] on (b=2)@2 {1: b}"],
    "megatron": ["megatron", "tests/data/megatron/windows.json", "--verify", "--layouts"],
    "megatron_experts": ["megatron", "tests/data/megatron/experts.json", "--verify"],
    "megatron_rank": ["megatron", "tests/data/megatron/experts.json", "--rank", "4", "--rule", "megatron"],
    "megatron_json": ["megatron", "tests/data/megatron/windows.json", "--verify", "--layouts", "--json"],
    "compare_places_change": ["compare", "f32[64,64] on (dp=4, tp=4) {0: dp, 1: tp}",
                              "f32[64,64] on (dp=4, tp=4) {0: tp, 1: dp}"],
    "compare_json": ["compare", "f32[4,4] on (a=2, b=2) {0: a, 1: b}", "f32[4,4] on (a=2, b=2) {0: b, 1: a}", "--json"],
    "compare_uneven": ["compare", "f32[10,7] on (a=2, b=3) {0: a b}", "f32[10,7] on (a=2, b=3) {1: b}"],
    "compare_order": ["compare", "f32[16] on (a=2, b=4) {0: b a}", "f32[16] on (a=2, b=4) {0: a b}"],
    "compare_two_meshes": ["compare", ROWS, BLOCKS],
    "compare_in_place": ["compare", BLOCKS, BLOCKS],
    "compare_all": ["compare", "--all", "4", "--all", "2,2", "--all", "2,2,2"],
    "compare_all_uneven_json": ["compare", "--all", "2,2", "--shape", "6,5", "--json"],
    "predict_two_sites": ["predict", "bf16[8192,8192] on (dp=4, tp=8) {1: tp, 0: dp}",
                          "bf16[8192,8192] on (dp=4, tp=8)@32 {1: tp}", "--topology", "topologies/two-sites.yaml",
                          "--rounds"],
    "predict_one_to_all": ["predict", "u8[16777216] on (r=1) {}", "u8[16777216] on (r=32) {}", "--topology",
                           "topologies/4x8-network.yaml"],
    "predict_nothing_in_common": ["predict", "f32[64,64] on (r=8) {0: r}", "f32[64,64] on (r=8) {1: r}", "--topology",
                                  "topologies/one-host.yaml"],
    "predict_nothing_moves": ["predict", ROWS, ROWS, "--topology", "topologies/one-host.yaml"],
    "predict_json": ["predict", "f32[5,2] on (r=1)@3 {}", "f32[5,2] on (r=3) {}", "--topology",
                     "topologies/one-host.yaml", "--rounds", "--json"],
    "op_gather": ["op", "gather_from_copy_to", "f64[10,3] on (x=4) {0: x:balanced}", "--axis", "x", "--explain"],
    "op_transpose": ["op", "transpose", "i64[3,5] on (x=2) {1: x:balanced}", "--axis", "x", "--check"],
    "op_widen": ["op", "widen", "i64[8] on (x=4) {0: x}", "--lo", "3", "--hi", "3", "--explain", "--check"],
    "op_move_json": ["op", "move", "f32[4] on (x=2) {x: partial(sum)}", "f32[4] on (x=2) {0: x}", "--json"],
    "inspect": ["inspect", "tests/golden/cli/tiny.safetensors"],
    "inspect_json": ["inspect", "tests/golden/cli/tiny.safetensors", "--json"],
    "program_show": ["program", "show", LADDER + "15_all_to_all", "--mode", "hand"],
    "program_show_json": ["program", "show", LADDER + "15_all_to_all.builtin.rp", "--json"],
    "program_show_rank": ["program", "show", LADDER + "15_all_to_all.rp", "--mode", "hand", "--ranks", "3", "--rank", "1",
                          "--call", "2"],
    "program_show_rank_json": ["program", "show", BROKEN + "01_constant_flag.fixed.rp", "-P", "2", "--rank", "0", "--json"],
    "program_lower": ["program", "lower", LADDER + "15_all_to_all.rp", "--mode", "builtin"],
    "program_diff_phases": ["program", "diff", LADDER + "13_all_gather", "--phases"],
    "program_diff_same": ["program", "diff", LADDER + "15_all_to_all"],
    "program_verify": ["program", "verify", LADDER + "15_all_to_all.rp", "--mode", "builtin"],
    "program_check_fixed": ["program", "check", BROKEN + "02_one_round.fixed.rp", "--calls", "3", "-P", "2,3"],
    "program_simulate_cost": ["program", "simulate", LADDER + "15_all_to_all.rp", "--mode", "builtin", "-d", "3,1,2", "--cost"],
    "program_simulate_json": ["program", "simulate", LADDER + "15_all_to_all.hand.rp", "--set", "n=2", "--calls", "1", "--json"],
    "program_simulate_seeds": ["program", "simulate", LADDER + "15_all_to_all.hand.rp", "-P", "3", "--seeds", "0-19"],
    "program_run_thread": ["program", "run", LADDER + "15_all_to_all.rp", "--mode", "hand", "-d", "0,1,2,3"],
    "program_run_shm": ["program", "run", LADDER + "15_all_to_all.rp", "--mode", "builtin", "-d", "0,1,2,3", "--fabric",
                        "shm", "--verbose"],
    "program_run_json": ["program", "run", LADDER + "15_all_to_all.rp", "--mode", "builtin", "--set", "n=3", "--json"],
}
# The same for commands that find something wrong: exit 1.
FOUND = {
    "program_diff": ["program", "diff", LADDER + "15_all_to_all.hand.rp", LADDER + "15_all_to_all.trap.rp"],
    "program_diff_json": ["program", "diff", LADDER + "12_broadcast", "--json"],
    "program_verify_faults": ["program", "verify", "tests/golden/cli/program_faults.rp"],
    "program_verify_faults_json": ["program", "verify", "tests/golden/cli/program_faults.rp", "-P", "2", "--json"],
    "program_check_trap": ["program", "check", BROKEN + "02_one_round.broken.rp", "--ranks", "2", "--calls", "2"],
    "program_check_json": ["program", "check", BROKEN + "02_one_round.broken.rp", "--json"],
    "program_check_replay": ["program", "check", BROKEN + "02_one_round.broken.rp", "--replay", "--step", "12"],
    "program_check_deadlock": ["program", "check", BROKEN + "11_wait_first.broken.rp"],
    "program_simulate_deadlock": ["program", "simulate", BROKEN + "11_wait_first.broken.rp", "-P", "3"],
    "program_simulate_seeds_wrong": ["program", "simulate", BROKEN + "06_no_fence.broken.rp", "-P", "2", "--seeds", "0-49"],
}


def run(args, stdin="", **settings):
    environment = {"PATH": os.environ["PATH"], "COLUMNS": "100", "TERM": "xterm"} | settings.pop("env", {})
    return subprocess.run([RESHARD, *args], input=stdin, capture_output=True, text=True, cwd=ROOT, env=environment,
                          timeout=120, **settings)


def without_times(text):
    text = re.sub(r"\bin \d+\.\d+ (ms|s)\b", "in TIME", text)
    return re.sub(r'("\w+_seconds": )[-\d.e]+', r"\1TIME", text)


class Golden(unittest.TestCase):
    maxDiff = None

    def test_output_is_as_committed(self):
        for name, args in (CASES | FOUND).items():
            with self.subTest(name):
                done = run(args)
                self.assertEqual((done.returncode, done.stderr), (int(name in FOUND), ""))
                self.assertEqual(without_times(done.stdout), (GOLDEN / f"{name}.txt").read_text(encoding="utf-8"))

    def test_no_file_is_left_over(self):
        self.assertEqual({path.stem for path in GOLDEN.glob("*.txt")}, set(CASES | FOUND))

    def test_the_picture_of_the_running_example(self):
        lines = [line.strip() for line in run(CASES["explain_4x1_2x2"]).stdout.splitlines()]
        text = "\n".join(lines)
        for part in ("┌────┰────┐", "│r0.0┃r0.1│", "│r1.0┃r1.1│", "┝━━━━╋━━━━┥  ← target cut lines (1 row cut + 1 col cut)",
                     "│r2.0┃r2.1│", "│r3.0┃r3.1│", "└────┸────┘", "( lcm(4,2), lcm(1,2) ) = 4×2"):
            self.assertIn(part, text)
        moves = ["0 · (0,0)   ──▶       0 · (0,0)", "0 · (0,1)   ──▶       1 · (0,0)", "1 · (0,0)   ──▶       0 · (1,0)",
                 "1 · (0,1)   ──▶       1 · (1,0)", "2 · (0,0)   ──▶       2 · (0,0)", "2 · (0,1)   ──▶       3 · (0,0)",
                 "3 · (0,0)   ──▶       2 · (1,0)", "3 · (0,1)   ──▶       3 · (1,0)"]
        self.assertIn("source rank·idx       target rank·idx\n" + "─" * 15 + " " * 7 + "─" * 15 + "\n" + "\n".join(moves), text)

    def test_the_trace_of_the_running_example(self):
        lines = [line.strip() for line in run(CASES["trace_4x1_2x2"]).stdout.splitlines()]
        for line in ("base = max(middle) + 1 = 5", "enc  = rank·25 + c₀·5 + c₁", "src rank3 ─► │r3.0│r3.1│   enc 75, 76",
                     "e.g. r3.1 → enc = 3·25 + 0·5 + 1 = 76",
                     "76 % 5 = 1, 76 // 5 = 15  │  15 % 5 = 0, 15 // 5 = 3"):
            self.assertIn(line, lines)
        # The same table in all three.
        tables = [run(CASES[name]).stdout.split("target rank·idx\n")[1].split("\n")[:9]
                  for name in ("trace_4x1_2x2", "m2m_4x1_2x2", "explain_4x1_2x2")]
        self.assertEqual(tables[0], tables[1])
        self.assertEqual(tables[0], tables[2])

    def test_the_readme_shows_what_is_printed(self):
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
        blocks = re.findall(r"```\n\$ reshard (.*?)\n(.*?)```", readme, re.DOTALL)
        self.assertTrue(blocks)
        for command, output in blocks:
            self.assertEqual(without_times(run(shlex.split(command)).stdout), without_times(output))

    def test_lines_keep_to_the_width(self):
        for width in (80, 100, 160):
            done = run(["explain", "f32[64,64] on (a=32) {1: a}", "f32[64,64] on (a=8, b=4) {0: a, 1: b}", "--width", str(width)])
            pictures = [line for line in done.stdout.split("3. The map")[0].splitlines() if re.match(" *[┌│├┝└]", line)]
            self.assertGreater(len(pictures), 10)
            self.assertLessEqual(max(map(len, pictures)), width)


class Errors(unittest.TestCase):
    def refused(self, args, *words, stdin=""):
        done = run(args, stdin)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertEqual(done.stderr.count("reshard: "), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_megatron_names_what_is_wrong(self):
        record = {"name": "w", "owner_rank": 0, "shape": [3], "dtype": "f32"}
        sharded = record | {"is_tp": True, "tensor_parallel_group_ranks": [0, 1]}
        packed = [sharded | {"owner_rank": rank, "partition_sizes": [2, 1]} for rank in (0, 1)]
        plain = [sharded | {"owner_rank": rank} for rank in (0, 1)]

        def rosters(sources, targets):
            return json.dumps({"sources": {"parameters": sources},
                               "targets": {"rank_offset": 8, "parameters": targets}})

        self.refused(["megatron", "-"], "no JSON", stdin="{")
        self.refused(["megatron", "tests/data/megatron/windows.json", "--rank", "99"], "--rank 99", "no record")
        self.refused(["megatron", "-"], "-1", "no rank with offset 4", stdin=json.dumps(
            {"groups": {"g": [-1, 0]}, "sources": {"parameters": []}, "targets": {
                "rank_offset": 4, "parameters": [record | {"is_tp": True, "tensor_parallel_group_ranks": "g"}]}}))
        self.refused(["megatron", "-"], "sources: parameter 0, 'w'", "\"shap\"",
                     stdin=rosters([record | {"shap": [3]}], [record]))
        self.refused(["megatron", "-"], "'w'", "[3]", "[4]", stdin=rosters([record], [record | {"shape": [4]}]))
        self.refused(["megatron", "-"], "covered 3 of 6 elements of target rank 8 from ranks [0]",
                     stdin=rosters([sharded], [record | {"shape": [6]}]))
        self.refused(["megatron", "-"], "mixed packing", "rank 8", stdin=rosters(packed, plain))
        for reading, boxes in (("plain", 5), ("packed", 2)):
            done = run(["megatron", "-", "--mixed", reading, "--json", "--verify"], rosters(packed, plain))
            self.assertEqual((done.returncode, len(json.loads(done.stdout)["operations"])), (0, boxes), done.stderr)
        self.refused(["megatron", "-", "--mixed", "guess"], "guess", "reshard megatron --help")
        self.refused(["megatron", "-", "--rank", "1", "--verify"], "--rank", stdin=rosters([record], [record]))
        self.refused(["megatron", "/no/such/file"], "/no/such/file")

    def test_bad_usage_and_input_are_one_message_and_2(self):
        self.refused(["explain"], "required", "reshard explain --help")
        self.refused(["nonsense"], "nonsense")
        self.refused(["explain", "f32[4,2 on (r=4) {0: r}"])
        self.refused(["explain", ROWS, "f32[4,3] on (r=4) {0: r}"], "[4,3]")
        self.refused(["explain", ROWS, BLOCKS, "--color", "pink"], "--color pink")
        self.refused(["explain", "f32[4] on (a=1000000) {}"], "1,000,000")
        self.refused(["explain", ROWS, BLOCKS, "--svg", "/no/such/folder/x.svg"], "/no/such/folder/x.svg")
        self.refused(["explain", "f32[4] on (a=2) {a: partial(sum)}", "f32[4] on (a=2) {0: a}"], "partial")
        self.refused(["plan", "f32[4] on (a=4) {a: partial(sum)}", "f32[4] on (a=4)", "--out", "-"], "two plans",
                     "f32[4] on (a=4) {0: a}")
        self.refused(["plan", ROWS, BLOCKS, "--ranks-per-host", "99999999999999999999"], "--ranks-per-host", "whole number")
        self.refused(["plan", "complex64[4] on (a=2) {a: partial(max)}", "complex64[4] on (a=2)"], "complex64", "max")
        self.refused(["explain", ROWS, "--m2m"], "two layouts")
        self.refused(["explain", "f32[10] on (a=4) {0: a}", "f32[10] on (a=5) {0: a}", "--m2m"], "dimension 0", "plan()")
        self.refused(["explain", ROWS, BLOCKS, "--m2m", "--policy", "modulo"], "--policy")
        self.refused(["explain", ROWS, BLOCKS, "--trace", "--svg", "x.svg"], "--svg")
        self.refused(["explain", "f32[4096,32] on (a=4096) {0: a}", "f32[4096,32] on (a=32) {1: a}", "--trace"],
                     "131072 tagged cells", "--m2m")
        self.refused(["plan", ROWS], "two layouts")
        self.refused(["plan", ROWS, BLOCKS, "--policy", "fastest"], "--policy fastest", "optimal, modulo or megatron")
        self.refused(["plan", ROWS, BLOCKS, "--ranks-per-host", "4", "--ranks-per-rack", "6"], "--ranks-per-rack 6")
        self.refused(["plan", ROWS, BLOCKS, "--from", "a.yaml"], "--model")
        self.refused(["plan", "--model", "nowhere.shapes.tsv", "--from", "models/llama.yaml", "--to", "models/llama.yaml"],
                     "nowhere.shapes.tsv")
        self.refused(["plan", "--model", REAL + "llama3.1-70b.shapes.tsv"], "--from")
        self.refused([*CASES["plan_model"], "--relabel"], "--relabel")
        self.refused(["plan", ROWS, BLOCKS, "--pack-below", "1KiB"], "--pack-below", "--model")
        self.refused(["compare", ROWS], "two layouts", "--all")
        self.refused(["compare", ROWS, "f32[4,3] on (r=4) {0: r}"], "[4,3]")
        self.refused(["compare", ROWS, BLOCKS, "--all", "2,2"], "not both")
        self.refused(["compare", ROWS, BLOCKS, "--shape", "8,8"], "--shape")
        self.refused(["compare", "--all", "2,x"], "--all 2,x")
        self.refused(["compare", "--all", "2,1"], "axis 1", "size 1")
        self.refused(["compare", "--all", "2,2,2,2,2"], "at most 4 axes")
        self.refused(["compare", "--all", "2,2", "--shape", "8"], "--shape 8")
        self.refused(["op", "halo", ROWS], "\"halo\"", "gather_from_copy_to")
        self.refused(["op", "copy_to", ROWS], "--axis")
        self.refused(["op", "copy_to", ROWS, "--axis", "r"], "axis \"r\" is to be invariant")
        self.refused(["op", "move", ROWS], "layout to move to")
        self.refused(["op", "gather_from", ROWS, BLOCKS, "--axis", "r"], "follows from one layout")
        self.refused(["op", "move", "f32[4] on (x=2) {x: varying}", "f32[4] on (x=2) {0: x}"], "from varying to cut")
        self.refused(["op", "scatter_to", "f32[4] on (x=2)", "--axis", "x", "--split", "evenly"], "evenly")
        self.refused(["op", "widen", "f32[4] on (x=2) {0: x}", "--edge", "cliff"], "--edge cliff")
        self.refused(["predict", ROWS, BLOCKS], "--topology")
        self.refused(["predict", ROWS, "--topology", "topologies/one-host.yaml"], "two layouts")
        self.refused(["predict", ROWS, BLOCKS, "--topology", "/no/such/topology.yaml"], "/no/such/topology.yaml")
        self.refused(["predict", "f32[9] on (r=9) {0: r}", "f32[9] on (r=9) {}", "--topology", "topologies/one-host.yaml"],
                     "rank 8", "ranks 0-7")
        self.refused(["predict", "f32[8] on (a=2) {a: partial(sum)}", "f32[8] on (a=2) {}", "--topology",
                      "topologies/one-host.yaml"], "reduce it first")
        self.refused(["inspect", "tests/golden"], "tests/golden")
        self.refused(["inspect", "README.nowhere"], "README.nowhere")
        self.refused(["verify", "/no/such/plan.json"], "/no/such/plan.json")
        self.refused(["verify", "-"], stdin="{}")
        self.refused(["verify", "-"], stdin="not json")

    def test_program_usage_and_input(self):
        hand = LADDER + "15_all_to_all.hand.rp"
        self.refused(["program"], "reshard program --help")
        self.refused(["program", "show"], "file is required", "reshard program show --help")
        self.refused(["program", "show", "nowhere.rp"], "nowhere.rp")
        self.refused(["program", "show", LADDER + "15_all_to_all.rp", "--mode", "foot"], "15_all_to_all.foot.rp")
        self.refused(["program", "show", "-"], "standard input", "1:", stdin="progra x")
        self.refused(["program", "show", hand, "--rank", "1"], "--ranks")
        self.refused(["program", "show", hand, "-P", "2", "--rank", "2"], "--rank 2", "0 to 1")
        self.refused(["program", "show", hand, "-P", "0"], "--ranks")
        self.refused(["program", "check", hand, "--set", "m=3"], "--set m=3", "its sizes: n")
        self.refused(["program", "check", hand, "--set", "n"], "NAME=NUMBER")
        self.refused(["program", "check", hand, "-P", "2,x"], "--ranks 2,x")
        self.refused(["program", "check"], "--replay")
        self.refused(["program", "check", hand, "--step", "2"], "--replay")
        self.refused(["program", "check", "--replay", "README.md"], "README.md", "--save")
        self.refused(["program", "diff", "-", "-"], "standard input", stdin="program x")
        self.refused(["program", "diff", "-"], "hand", "builtin", stdin="program x")
        self.refused(["program", "simulate", hand, "-d", "0,0"], "twice")
        self.refused(["program", "simulate", hand, "-d", "0,1,2", "-P", "2"], "3 ranks")
        self.refused(["program", "simulate", hand, "--slow", "7"], "7")
        self.refused(["program", "simulate", hand, "--seeds", "5-1"], "--seeds 5-1")
        self.refused(["program", "simulate", hand, "--seeds", "1-2", "--seed", "3"], "--seed")
        self.refused(["program", "run", hand, "--fabric", "pigeon"], "--fabric pigeon")
        self.refused(["program", "run", hand, "--calls", "0"], "--calls")

    def test_a_program_that_fails_when_it_runs_is_1(self):
        late = run(["program", "run", BROKEN + "11_wait_first.broken.rp", "-P", "2", "--timeout", "0.3"])
        self.assertEqual((late.returncode, late.stdout), (1, ""))
        self.assertRegex(late.stderr, r"^reshard: program wait_first, operation 3 of rank \d \(wait ready.*\n$")
        few = run(["program", "run", LADDER + "10_all_reduce_ring.hand.rp", "-P", "1", "--json"])
        self.assertEqual(few.stderr, "")
        failed = run(["program", "run", BROKEN + "11_wait_first.broken.rp", "--timeout", "0.3", "--json", "--fabric", "shm"])
        self.assertEqual((failed.returncode, json.loads(failed.stdout)["correct"]), (1, False))

    def test_a_run_is_traced_whether_it_ends_well_or_not(self):
        for program, code in (LADDER + "15_all_to_all.rp", 0), (BROKEN + "11_wait_first.broken.rp", 1):
            for fabric in "thread", "shm":
                with tempfile.TemporaryDirectory() as folder:
                    file = Path(folder, "run.json")
                    done = run(["program", "run", program, "-P", "3", "--fabric", fabric, "--timeout",
                                "30" if code == 0 else "0.3", "--trace", str(file)]
                               + (["--mode", "hand"] if code == 0 else []))
                    self.assertEqual(done.returncode, code, done.stderr)
                    self.assertEqual(os.listdir(folder), ["run.json"])
                    events = json.loads(file.read_text())["traceEvents"]
                self.assertEqual([e["args"]["name"] for e in events if e["ph"] == "M"], ["rank 0", "rank 1", "rank 2"])
                self.assertIn("wait", {e["cat"] for e in events if e["ph"] == "X"})
                if code == 0:
                    self.assertGreater(len([e for e in events if e["ph"] == "f"]), 0)

    def test_nothing_asked_shows_the_help_and_2(self):
        done = run([])
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("explain", done.stderr)

    def test_a_broken_plan_is_1_with_its_faults(self):
        plan = json.loads(run(CASES["plan_out"]).stdout)
        self.assertEqual(run(["verify", "-"], json.dumps(plan)).returncode, 0)
        plan["transfers"].pop(3)
        done = run(["verify", "-"], json.dumps(plan))
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertIn("not sound: 1 fault\n  rank 1: 1 of 2 target elements are written", done.stdout)


class Json(unittest.TestCase):
    def test_explain_and_plan_agree_and_are_exact(self):
        source, target = "bf16[8191,3] on (dp=2, tp=4) {0: tp dp}", "bf16[8191,3] on (tp=6)@8 {0: tp}"
        shown = json.loads(run(["explain", source, target, "--json"]).stdout)
        planned = json.loads(run(["plan", source, target, "--json", "--matrix", "--verify"]).stdout)
        self.assertEqual(shown["certificate"]["sent"], 8191 * 3 * 2)
        self.assertEqual(planned["sent"], 8191 * 3 * 2)
        self.assertEqual(sum(entry["bytes"] for entry in planned["matrix"]), 8191 * 3 * 2)
        self.assertEqual(planned["faults"], [])
        # Every element of the tensor arrives once.
        rows = [row for entry in shown["transfers"] for begin, end in entry["slice"][0] for row in range(begin, end)]
        self.assertEqual(sorted(rows), list(range(8191)))

    def test_tags_read_give_the_map(self):
        source, target = "f32[12,6] on (dp=2, y=3) {1: y}", "bf16[12,6] on (x=4, z=2)@[3,9,1,8,0,7,6,5] {0: x, 1: z}"
        shown = json.loads(run(["explain", source, target, "--m2m", "--json"]).stdout)
        traced = json.loads(run(["explain", source, target, "--trace", "--json"]).stdout)
        self.assertEqual(traced["map"], shown)
        self.assertEqual((shown["middle"], shown["source_num_slicers"], shown["target_num_slicers"]), ([4, 6], [4, 2], [1, 3]))
        found = {}
        for reading in traced["readings"]:
            column, row, source_rank = reading["tag"] % 7, reading["tag"] // 7 % 7, str(reading["tag"] // 49)
            targets = found.setdefault(source_rank, {}).setdefault(f"{row},{column}", [])
            targets.append([reading["target"], reading["target_cell"]])
        self.assertEqual(found, shown["m2m_map"])

    def test_rounds_are_cut_where_that_saves_time(self):
        staircase = ["u8[40,1048576] on (a=3) {0: a:sizes[10,10,20]}", "u8[40,1048576] on (b=3)@3 {0: b:sizes[6,22,12]}"]
        rounds = json.loads(run(["plan", *staircase, "--rounds", "--json"]).stdout)["rank_rounds"]
        self.assertEqual((rounds["greatest_bytes"], rounds["length"]), (22 << 20, 24 << 20))
        self.assertEqual(rounds["in_chunks"], {"least": 1 << 20, "rounds": 3, "length": 22 << 20})
        self.assertIn("cut into chunks of 1.00 MiB or more, 3 rounds take 22.0 MiB\n",
                      run(["plan", *staircase, "--rounds"]).stdout)

    def test_every_policy_is_known_by_name(self):
        for policy in ("local", "balanced", "optimal", "modulo", "megatron"):
            planned = json.loads(run(["plan", "f32[64] on (a=4)", "f32[64] on (b=8)@4", "--policy", policy,
                                      "--ranks-per-host", "2", "--ranks-per-rack", "4", "--json", "--matrix"]).stdout)
            busiest = {"megatron": 8}.get(policy, 2)  # the rule serves all from the first copy
            self.assertEqual((planned["policy"], planned["matrix"][0]["bytes"]), (policy, 256))
            served = [entry["source"] for entry in planned["matrix"]]
            self.assertEqual(max(served.count(rank) for rank in range(4)), busiest)

    def test_totals_of_a_model_are_sums_over_its_ranks(self):
        planned = json.loads(run([*CASES["plan_model"], "--json"]).stdout)
        self.assertEqual(planned["tensors"], 723)
        for side in ("sent", "received"):
            self.assertEqual(sum(rank[side] for rank in planned["ranks"]), planned["sent"])
        # At least one whole copy for each of the four replicas, none of which was there before.
        self.assertGreaterEqual(planned["sent"], 4 * planned["tensor_bytes"])
        self.assertEqual(planned["sent"], planned["needed"])
        packing = planned["packing"]
        self.assertLess(packing["messages"], planned["messages"])
        self.assertGreater(packing["peak_staging"], 0)
        self.assertLessEqual(packing["peak_staging"], packing["staging_limit"])


class Svg(unittest.TestCase):
    def test_every_picture_is_well_formed(self):
        for name, args in CASES.items():
            if args[0] != "explain" or {"--as", "--m2m", "--trace"} & set(args):
                continue
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "picture.svg"
                self.assertEqual(run([*args, "--svg", str(path)]).returncode, 0)
                root = xml.parse(path).getroot()
                self.assertTrue(root.tag.endswith("svg"))
                texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
                self.assertTrue(any("layout" in text for text in texts))
                self.assertNotIn("nan", path.read_text(encoding="utf-8"))

    def test_the_stamps_are_in_the_picture(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "picture.svg"
            run(["explain", ROWS, BLOCKS, "--svg", str(path)])
            text = path.read_text(encoding="utf-8")
        for stamp in ("r0.0", "r0.1", "r1.0", "r2.1", "r3.1"):
            self.assertEqual(text.count(f">{stamp}<"), 1)


class Help(unittest.TestCase):
    def test_examples_work_as_printed(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "reshard").symlink_to(RESHARD)
            environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
            for command in ([], ["explain"], ["plan"], ["predict"], ["boxes"], ["megatron"], ["compare"], ["verify"], ["inspect"],
                            ["tune"], ["program"], *(["program", name] for name in ("show", "lower", "diff", "verify", "check", "simulate", "run"))):
                done = run([*command, "--help"])
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                example = done.stdout.split("Example")[1].split("\n", 1)[1]
                for line in filter(None, map(str.strip, example.splitlines())):
                    ran = subprocess.run(["bash", "-o", "pipefail", "-c", line], cwd=ROOT, env=environment,
                                         capture_output=True, text=True, timeout=120)
                    self.assertEqual(ran.returncode, 0, f"{line}\n{ran.stderr}")
                    self.assertTrue(ran.stdout)

    def test_version(self):
        self.assertRegex(run(["--version"]).stdout, r"^reshard \d+\.\d+\.\d+\n$")


class Programs(unittest.TestCase):
    def test_what_check_writes(self):
        broken = BROKEN + "02_one_round.broken.rp"
        with tempfile.TemporaryDirectory() as folder:
            svg, trace, fixed, timeline = (str(Path(folder) / name) for name in ("t.svg", "t.json", "fixed.rp", "line.json"))
            found = run(["program", "check", broken, "--svg", svg, "--save", trace, "--repaired", fixed])
            self.assertEqual(found.returncode, 1, found.stderr)
            root = xml.parse(svg).getroot()
            self.assertTrue(root.tag.endswith("svg"))
            again = run(["program", "check", "--replay", trace])
            self.assertEqual((again.returncode, again.stderr), (0, ""))
            self.assertEqual(again.stdout, run(["program", "check", broken, "--replay"]).stdout)
            other = run(["program", "check", LADDER + "15_all_to_all.hand.rp", "--replay", trace])
            self.assertEqual((other.returncode, other.stderr.count("\n")), (2, 1), other.stderr)
            self.assertIn("of the trace", other.stderr)
            repaired = run(["program", "check", fixed])
            self.assertEqual(repaired.returncode, 0, repaired.stdout + repaired.stderr)
            drawn = run(["program", "simulate", LADDER + "15_all_to_all.hand.rp", "--timeline", timeline])
            self.assertEqual(drawn.returncode, 0)
            self.assertTrue(json.loads(Path(timeline).read_text())["traceEvents"])

    def test_what_was_found_is_said_even_where_a_file_cannot_be_written(self):
        done = run(["program", "check", BROKEN + "02_one_round.broken.rp", "--svg", "/nonexistent/t.svg"])
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
        self.assertIn("FAULT: race", done.stdout)

    def test_text_written_is_read_again(self):
        for path in sorted((ROOT / LADDER).glob("*.builtin.rp"))[::4]:
            lowered = run(["program", "lower", str(path)]).stdout
            self.assertEqual(run(["program", "show", "-"], lowered).stdout, lowered)
            self.assertEqual(run(["program", "diff", str(path), "-"], lowered).returncode, 0)


class Pipes(unittest.TestCase):
    def test_a_reader_that_leaves_is_no_error(self):
        for prefix in ("", "trap '' PIPE; "):
            done = subprocess.run(["bash", "-c", prefix + '"$0" explain "$1" "$2" --json | head -1', RESHARD,
                                   "f32[4096,4096] on (a=64) {0: a}", "f32[4096,4096] on (a=64) {1: a}"],
                                  capture_output=True, text=True, timeout=120)
            self.assertEqual((done.stdout, done.stderr), ("{\n", ""))

    def test_a_full_disk_is_an_error(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([RESHARD, "--version"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=120)
        self.assertEqual(done.returncode, 2)
        self.assertIn("standard output", done.stderr)

    def test_colour_is_for_terminals(self):
        self.assertNotIn("\x1b", run(["explain", ROWS, BLOCKS]).stdout)
        self.assertIn("\x1b", run(["explain", ROWS, BLOCKS, "--color", "always"]).stdout)


def update():
    for path in GOLDEN.glob("*.txt"):
        path.unlink()
    for name, args in (CASES | FOUND).items():
        done = run(args)
        if done.returncode != int(name in FOUND) or done.stderr:
            sys.exit(f"{name}: exit {done.returncode}\n{done.stderr}")
        (GOLDEN / f"{name}.txt").write_text(without_times(done.stdout), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    RESHARD = str(Path(sys.argv.pop(1)).resolve())
    if sys.argv[1:] == ["--update"]:
        update()
    else:
        unittest.main()
