#!/usr/bin/python3
"""Runs the commands of the tutorial and compares what they print with what its pages say.

  check_tutorial.py RESHARD [PAGE..] [--update]   exit 1 where a page says something else

In a block ```console each line `$ reshard ..` is run in the root of the repository, and the lines up to the next one are
what it prints, on both streams. `...` stands for anything in a line, and on a line of its own for any lines: for times,
and for what the page leaves out. --update writes what was printed into blocks without it.

A block ```rp NAME is a run of whole lines of examples/ladder/NAME.
"""
import argparse
import difflib
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FENCE = re.compile(r"^```(.*?)$\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def pattern_of(expected):
    parts = []
    for line in expected.splitlines():
        if line.strip() == "...":
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append(r".*?".join(re.escape(part) for part in line.split("...")) + r"\n")
    return re.compile("".join(parts))


def sessions_of(block):
    """[(command, what it prints)]"""
    sessions = []
    for line in block.splitlines(keepends=True):
        if line.startswith("$ "):
            sessions.append((line[2:].strip(), ""))
        elif not sessions:
            raise ValueError(f"a block begins with {line.strip()!r}, not with a command")
        else:
            sessions[-1] = (sessions[-1][0], sessions[-1][1] + line)
    return sessions


def output_of(command, reshard, root):
    path = str(Path(reshard).resolve().parent) + os.pathsep + os.environ.get("PATH", "")
    run = subprocess.run(command, shell=True, cwd=root, env={**os.environ, "PATH": path}, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True, timeout=120)
    lines = [line.rstrip() for line in run.stdout.splitlines()]
    return "".join(line + "\n" for line in lines)


def difference(expected, printed, where):
    lines = difflib.unified_diff(expected.splitlines(), printed.splitlines(), "the page", "printed", lineterm="", n=1)
    return f"{where}\n" + "".join(f"  {line}\n" for line in lines)


class Page:
    def __init__(self, path, reshard, root):
        self.path, self.reshard, self.root = path, reshard, root
        self.faults = []

    def check(self, update):
        text = self.path.read_text()
        new = FENCE.sub(self._block, text)
        if update and new != text:
            self.path.write_text(new)
        return self.faults

    def _block(self, match):
        kind, block = match[1], match[2]
        if kind == "console":
            block = "".join(self._session(*session) for session in sessions_of(block))
        elif kind.startswith("rp "):
            self._program(kind[3:], block)
        return f"```{kind}\n{block}```"

    def _session(self, command, expected):
        printed = output_of(command, self.reshard, self.root)
        if not pattern_of(expected).fullmatch(printed):
            self.faults.append(difference(expected, printed, f"{self.path.name}: $ {command}"))
            if "..." not in expected:
                expected = printed
        return f"$ {command}\n{expected}"

    def _program(self, name, block):
        text = (self.root / "examples" / "ladder" / name).read_text()
        if "\n" + block not in "\n" + text:
            self.faults.append(f"{self.path.name}: these are no lines of {name}:\n" + block)


def main(arguments, root=ROOT):
    parser = argparse.ArgumentParser(description="Compares the tutorial with what its commands print.")
    parser.add_argument("reshard", help="the program")
    parser.add_argument("pages", nargs="*", type=Path, help="all of docs/tutorial unless given")
    parser.add_argument("--update", action="store_true", help="write what was printed into the pages")
    options = parser.parse_args(arguments)
    pages = options.pages or sorted((root / "docs" / "tutorial").glob("*.md"))
    faults = [fault for page in pages for fault in Page(page, options.reshard, root).check(options.update)]
    print("".join(faults), end="")
    print(f"{len(pages)} pages, {len(faults)} faults")
    return 1 if faults or not pages else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
