#!/usr/bin/python3
"""Measures the claims of claims/claims.yaml, each of which is one sentence with a number that README or docs state.

  claims.py [--ids ID..] [--json FILE]   measure, print, write docs/claims.md; exit 1 when a claim does not hold
  claims.py --check-docs                 exit 1 where README or docs state a number that the claims do not

A claim's command prints, as the last line of its output, one JSON object {"measured": number, bool or string}; it may
add "note", a string that is shown beside it.

A document quotes a claim between tags, and `claims.py` keeps the measured values up to date:
  <!-- claim:ID -->0.7<!-- /claim -->             the number of the target
  <!-- claim:ID measured -->0.93<!-- /claim -->   what was measured last
"""
import argparse
import datetime
import difflib
import json
import math
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import yaml

OPERATORS = {
    ">=": lambda a, b: a >= b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    "<": lambda a, b: a < b,
    "==": lambda a, b: a == b,
}
FIELDS = {"id", "sentence", "command", "target", "timeout_s"}
TAG = re.compile(r"<!-- claim:([\w.-]+)( measured)? -->(.*?)<!-- /claim -->")
# A rate or a comparison is a claim wherever it stands in prose; a size or a deadline may be a mere description.
NUMBER = re.compile(r"\b\d[\d,.]*\s*(?:[KMGT]i?B/s|(?:plans|tensors|messages|runs|elements)/s|times (?:faster|slower)|x (?:faster|slower))")


class UsageError(Exception):
    pass


class Target:
    """'>= 0.7', '<= 60', '== true', '== "text"'."""

    def __init__(self, text, claim_id):
        match = re.fullmatch(r"\s*(>=|<=|==|>|<)\s*(\S.*?)\s*", text) if isinstance(text, str) else None
        if not match:
            raise UsageError(f'{claim_id}: target {text!r} is not of the form ">= 0.7", "<= 60" or "== true"')
        self.operator = match[1]
        try:
            self.value = json.loads(match[2])
        except ValueError:
            raise UsageError(f"{claim_id}: target value {match[2]} is not a number, true, false or a quoted string") from None
        self._refuse_what_cannot_fail(text, claim_id)

    def _refuse_what_cannot_fail(self, text, claim_id):
        numeric = is_number(self.value)
        if numeric and not math.isfinite(self.value):
            raise UsageError(f"{claim_id}: target {text!r} is not finite")
        if not numeric and self.operator != "==":
            raise UsageError(f"{claim_id}: target {text!r} orders what has no order; use ==")
        if not numeric and not isinstance(self.value, (bool, str)):
            raise UsageError(f"{claim_id}: target {text!r} compares with neither a number, a bool nor a string")
        # Counts, rates, sizes and times are never negative.
        if numeric and ((self.operator == ">=" and self.value <= 0) or (self.operator == ">" and self.value < 0)):
            raise UsageError(f"{claim_id}: target {text!r} holds for every measurement; a claim must be able to fail")

    def holds(self, measured):
        if is_number(self.value) != is_number(measured) or isinstance(self.value, str) != isinstance(measured, str):
            return False
        if is_number(measured) and not math.isfinite(measured):
            return False
        return OPERATORS[self.operator](measured, self.value)

    def number(self):
        return shown(self.value)

    def __str__(self):
        return f"{self.operator} {self.number()}"


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def shown(value):
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def load(path):
    entries = yaml.safe_load(path.read_text(encoding="utf-8"))
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise UsageError(f"{path}: is not a list of claims, each with id, sentence, command, target")
    claims = {}
    for entry in entries:
        claim_id = entry.get("id", "?")
        if not FIELDS >= entry.keys() >= FIELDS - {"timeout_s"}:
            raise UsageError(f"{claim_id}: a claim has id, sentence, command, target, and may have timeout_s; "
                             f"this one has {', '.join(entry)}")
        if claim_id in claims:
            raise UsageError(f"{claim_id}: stands twice in {path}")
        if not str(entry["command"]).strip():
            raise UsageError(f"{claim_id}: has no command")
        target = Target(entry["target"], claim_id)
        sentence = " ".join(entry["sentence"].split()).replace("{target}", target.number())
        claims[claim_id] = {**entry, "sentence": sentence, "target": target}
    if not claims:
        raise UsageError(f"{path}: holds no claims")
    return claims


def chosen(claims, ids):
    for claim_id in ids:
        if claim_id not in claims:
            near = difflib.get_close_matches(claim_id, claims, n=3, cutoff=0.3) or list(claims)
            raise UsageError(f"no claim {claim_id}; the nearest are {', '.join(near)}")
    return [claims[claim_id] for claim_id in ids or claims]


def measure(claim, root):
    """The measured value and a note; None when there is no measurement."""
    command = subprocess.Popen(claim["command"], shell=True, cwd=root, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               text=True, start_new_session=True)
    limit = claim.get("timeout_s", 1800)
    try:
        output, _ = command.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(command.pid, signal.SIGKILL)  # its children too: they hold the pipe
        command.communicate()
        return None, f"no answer within {limit:g} s"
    if command.returncode != 0:
        return None, f"the command ended with {command.returncode}"
    lines = output.strip().splitlines()
    try:
        answer = json.loads(lines[-1])
        measured = answer["measured"]
    except (IndexError, ValueError, KeyError, TypeError):
        return None, 'the last line of output is not {"measured": ..}'
    if not isinstance(measured, (bool, int, float, str)):
        return None, f"measured {json.dumps(measured)}, which is neither a number, a bool nor a string"
    return measured, str(answer.get("note", ""))


def row_of(claim, root):
    measured, note = measure(claim, root)
    ok = measured is not None and claim["target"].holds(measured)
    row = {"id": claim["id"], "sentence": claim["sentence"], "measured": measured, "target": str(claim["target"]), "ok": ok}
    return row, note


def machine():
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{len(os.sched_getaffinity(0))} cores, {memory:.0f} GiB, {datetime.date.today()}"


HEAD = """# Claims

Every number that README and docs state, as measured last. Written by `make claims` from `claims/claims.yaml`; do not
edit by hand.

| claim | sentence | measured | target | verdict | measured on |
|---|---|---|---|---|---|
"""


def table_row(row, note, where):
    verdict = "holds" if row["ok"] else "does not hold"
    measured = shown(row["measured"]) + (f" ({note})" if note else "")
    return line_of([f"`{row['id']}`", row["sentence"], measured.replace("|", "\\|"), row["target"], verdict, where])


def line_of(cells):
    return "|" + "".join(f" {cell} |" if cell else " |" for cell in cells)


CELL = re.compile(r"(?<!\\)\|")


def rendered_rows(path):
    """The cells of the rows of a claims.md written before, by id: sentence, measured, target, verdict, where."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    cells = [[cell.strip() for cell in CELL.split(line)[1:-1]] for line in lines if line.startswith("| `")]
    return {row[0].strip("`"): row[1:] for row in cells if len(row) == 6}


def render(path, claims, new_rows):
    """Writes new rows, keeps those measured before against the same target, and says of the rest that they are not."""
    rows = []
    for claim_id, claim in claims.items():
        _, measured, target, verdict, where = rendered_rows(path).get(claim_id, [""] * 5)
        if measured == "" or target != str(claim["target"]):
            measured, verdict, where = "", "not yet measured", ""
        rows.append(new_rows.get(claim_id) or line_of([f"`{claim_id}`", claim["sentence"], measured, str(claim["target"]), verdict, where]))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(HEAD + "".join(row + "\n" for row in rows), encoding="utf-8")


def last_measured(root):
    measured = {claim_id: row[1].split(" (")[0] for claim_id, row in rendered_rows(root / "docs/claims.md").items()}
    return {claim_id: value for claim_id, value in measured.items() if value}


def documents(root):
    pages = [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
    return [page for page in pages if page.exists() and page != root / "docs/claims.md"]


def refresh_documents(root):
    measured = last_measured(root)

    def fresh(match):
        value = measured.get(match[1], match[3]) if match[2] else match[3]
        return f"<!-- claim:{match[1]}{match[2] or ''} -->{value}<!-- /claim -->"

    for page in documents(root):
        text = page.read_text(encoding="utf-8")
        updated = TAG.sub(fresh, text)
        if updated != text:
            page.write_text(updated, encoding="utf-8")


def prose_lines(text):
    """Numbered lines outside of code."""
    code = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            code = not code
        elif not code:
            yield number, re.sub(r"`[^`]*`", "", line)


def document_faults(root, claims):
    measured = last_measured(root)
    for page in documents(root):
        name = page.relative_to(root)
        for number, line in prose_lines(page.read_text(encoding="utf-8")):
            for claim_id, last, value in TAG.findall(line):
                if claim_id not in claims:
                    yield f"{name}:{number}: quotes {claim_id}, which is not in claims/claims.yaml"
                    continue
                expected = measured.get(claim_id) if last else claims[claim_id]["target"].number()
                if value.strip() != expected:
                    kind = "last measured" if last else "target"
                    yield f"{name}:{number}: says {value.strip()} for {claim_id}, whose {kind} is {expected}"
            loose = NUMBER.search(TAG.sub("", line))
            if loose:
                yield f"{name}:{number}: \"{loose[0]}\" is measured by no claim; add one, or quote one with <!-- claim:ID -->"


def check_documents(root, claims):
    faults = list(document_faults(root, claims))
    print("\n".join(faults) if faults else "README and docs state no number that is not a claim")
    return 1 if faults else 0


def measure_all(root, claims, ids, json_file):
    rows, rendered, where = [], {}, machine()
    for claim in chosen(claims, ids):
        print(f"{claim['id']}: {claim['sentence']}", flush=True)
        row, note = row_of(claim, root)
        verdict = "ok" if row["ok"] else "NOT OK"
        print(f"    measured {shown(row['measured'])}{f' ({note})' if note else ''}, target {row['target']}: {verdict}", flush=True)
        rows.append(row)
        rendered[row["id"]] = table_row(row, note, where)
    if json_file:
        Path(json_file).write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    render(root / "docs/claims.md", claims, rendered)
    refresh_documents(root)
    failed = [row["id"] for row in rows if not row["ok"]]
    print(f"{len(rows) - len(failed)} of {len(rows)} claims hold on {where}" + (f"; not {', '.join(failed)}" if failed else ""))
    return 1 if failed else 0


def main(arguments, root):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ids", nargs="+", default=[], metavar="ID", help="only these claims")
    parser.add_argument("--json", metavar="FILE", help="write the rows {id, sentence, measured, target, ok} there")
    parser.add_argument("--check-docs", action="store_true", help="measure nothing; check what README and docs quote")
    options = parser.parse_args(arguments)
    try:
        claims = load(root / "claims/claims.yaml")
        if options.check_docs:
            return check_documents(root, claims)
        return measure_all(root, claims, options.ids, options.json)
    except (UsageError, OSError, yaml.YAMLError) as error:
        print(f"claims: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], Path(__file__).resolve().parent.parent))
