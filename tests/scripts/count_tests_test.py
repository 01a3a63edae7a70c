"""count_tests.py on results as ctest writes them."""
import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import count_tests

RESULTS = """<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="Linux-c++" tests="4" failures="1" disabled="1" skipped="1" hostname="" time="0">
<testcase name="a" classname="a" time="0.1" status="run"><system-out>2 passed, 9 failed</system-out></testcase>
<testcase name="b" classname="b" time="0.1" status="fail"><failure message=""/><system-out></system-out></testcase>
<testcase name="c" classname="c" time="0.1" status="notrun"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/></testcase>
<testcase name="d" classname="d" time="0.1" status="disabled"></testcase>
</testsuite>
"""

PROGRAMS = """<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="Linux-c++" tests="4" failures="3" disabled="0" skipped="0" hostname="" time="0">
<testcase name="a" status="run"><system-out>[==========] 13 tests from 2 test suites ran. (8 ms total)
[  PASSED  ] 12 tests.
[  SKIPPED ] 1 test, listed below:
[  SKIPPED ] A.B
</system-out></testcase>
<testcase name="b" status="fail"><failure message=""/><system-out>[  FAILED  ] A.B (0 ms)
[==========] 7 tests from 1 test suite ran. (8 ms total)
[  PASSED  ] 5 tests.
[  FAILED  ] 2 tests, listed below:
</system-out></testcase>
<testcase name="c" status="fail"><failure message=""/><system-out>[  PASSED  ] 4 tests.
ERROR: LeakSanitizer: detected memory leaks</system-out></testcase>
<testcase name="d" status="fail"><failure message=""/><system-out>[==========] Running 9 tests</system-out></testcase>
</testsuite>
"""


def last_line(*results):
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for number, text in enumerate(results):
            paths.append(Path(folder, f"{number}.xml"))
            if text is not None:
                paths[-1].write_text(text)
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            count_tests.main(paths)
        return output.getvalue().splitlines()[-1]


class CountTests(unittest.TestCase):
    def test_sums_over_runs(self):
        self.assertEqual(last_line(RESULTS, RESULTS), "2 passed, 2 failed")

    def test_a_run_without_results_is_a_failure(self):
        self.assertEqual(last_line(RESULTS, None), "1 passed, 2 failed")
        self.assertEqual(last_line(RESULTS[:200]), "0 passed, 1 failed")

    def test_a_program_counts_as_its_tests(self):
        self.assertEqual(last_line(PROGRAMS), "21 passed, 4 failed")

    def test_no_runs_count_nothing(self):
        self.assertEqual(last_line(), "0 passed, 0 failed")


if __name__ == "__main__":
    unittest.main()
