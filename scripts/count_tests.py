#!/usr/bin/python3
"""count_tests.py JUNIT..: sums test results over several ctest runs.

Prints one line a run, then a last line of the exact form `N passed, N failed`. A test that neither passed nor was
skipped counts as failed; a file that is missing or unreadable is a failed run and counts as one.
"""
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path


def count(path):
    cases = ElementTree.parse(path).getroot().iter("testcase")
    passed = failed = skipped = 0
    for case in cases:
        status = case.get("status")
        if status == "run":
            passed += 1
        elif status in ("notrun", "disabled") or case.find("skipped") is not None:
            skipped += 1
        else:
            failed += 1
    return passed, failed, skipped


def main(paths):
    total_passed = total_failed = 0
    for path in map(Path, paths):
        try:
            passed, failed, skipped = count(path)
        except (OSError, ElementTree.ParseError) as error:
            passed, failed, skipped = 0, 1, 0
            print(f"{path}: no results: {error}")
        else:
            print(f"{path}: {passed} passed, {failed} failed, {skipped} skipped")
        total_passed += passed
        total_failed += failed
    print(f"{total_passed} passed, {total_failed} failed")


if __name__ == "__main__":
    main(sys.argv[1:])
