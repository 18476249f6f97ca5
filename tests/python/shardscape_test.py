"""The Python module: designs, reports, searches, errors. Run by ctest with PYTHONPATH set."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

import shardscape

try:
    import numpy
except ImportError:  # searches need it, and nothing else
    numpy = None


def command_line(*words):
    done = subprocess.run([os.environ["SHARDSCAPE_CLI"], *words], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


class ShardscapeTest(unittest.TestCase):
    def test_a_report_is_that_of_the_command_line(self):
        design = shardscape.Design(model="llama3-70b", tp=8, pp=4, dp=2, sequence_parallel=True, seq=4096)
        words = "--model llama3-70b --tp 8 --pp 4 --dp 2 --sequence-parallel --seq 4096".split()
        self.assertEqual(design.report(), command_line("report", "--json", *words))
        self.assertEqual(design.gpus, 64)
        self.assertEqual(design.name, "Llama 3 70B on 64 GPUs")

    def test_lists_and_replaced_settings(self):
        design = shardscape.Design(model="llama3-8b", pp=4, dp=2, stage_layers=[9, 8, 8, 7])
        self.assertEqual(design.settings()["stage_layers"], "9,8,8,7")
        other = design.replace(recompute="full", overlap_grad_reduce=False)
        self.assertEqual(other.settings()["recompute"], "full")
        self.assertEqual(design.settings()["recompute"], "none")
        self.assertNotEqual(design, other)
        self.assertEqual(design, other.replace(recompute="none", overlap_grad_reduce=design.settings()["overlap_grad_reduce"]))

    def test_mistakes_carry_the_problem(self):
        with self.assertRaises(shardscape.ProblemError) as raised:
            shardscape.Design(model="llama3-8b", tp="many", frobnicate=1)
        self.assertEqual([p["where"] for p in raised.exception.problems], ["tp", "frobnicate"])
        self.assertEqual(raised.exception.code, "not-a-number")
        self.assertIn("whole number", raised.exception.accepted)
        with self.assertRaises(shardscape.ProblemError) as raised:
            shardscape.Design(model="llama3-8b", tp=5).report()
        self.assertEqual(raised.exception.code, "heads-indivisible-by-tp")
        self.assertTrue(raised.exception.fixes[0]["settings"])
        with self.assertRaises(shardscape.ProblemError):
            shardscape.Design(model="absent")
        self.assertTrue(issubclass(shardscape.ProblemError, ValueError))

    @unittest.skipUnless(numpy, "NumPy is not installed")
    def test_a_search_has_columns(self):
        base = shardscape.Design(model="llama3-8b", dp=8)
        found = shardscape.search(base, gpus=8, tp=[1, 2, 4], microbatch=[1, 2], top=4)
        best = found["best"]
        self.assertIsInstance(best["step_seconds"], numpy.ndarray)
        self.assertEqual(len(best["step_seconds"]), len(found["designs"]))
        self.assertEqual(best["tp"].dtype, numpy.int64)
        self.assertTrue((numpy.diff(best["tokens_per_second"]) <= 0).all())
        self.assertEqual(found["counts"]["enumerated"], 6)
        first = found["designs"][0].report()
        self.assertAlmostEqual(first["time"]["step_seconds"] / best["step_seconds"][0], 1, delta=0.01)
        with self.assertRaises(shardscape.ProblemError) as raised:
            shardscape.search(base, gpus=8, tp="1..", objective="beauty")
        self.assertEqual(raised.exception.code, "unknown-objective")

    # A search of years. Where Ctrl+C does not end it, the alarm ends the test.
    @unittest.skipUnless(numpy, "NumPy is not installed")
    def test_an_interrupt_ends_a_search(self):
        base = shardscape.Design(model="llama3-8b", dp=8)
        searching = threading.Event()

        def interrupt():
            searching.wait()
            signal.raise_signal(signal.SIGINT)

        # The thread gets the interpreter's lock when the search releases it, and not before.
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e6)
        handler = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background of a shell
        signal.alarm(300)
        thread = threading.Thread(target=interrupt)
        thread.start()
        try:
            with self.assertRaises(KeyboardInterrupt):
                searching.set()
                shardscape.search(base, tp="1..64", dp="1..64", pp="1..32", batch="1..4096", seq="1024..4096")
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGINT, handler)
            sys.setswitchinterval(interval)
        thread.join()

    def test_files_and_comparisons(self):
        design = shardscape.Design(model="llama3-8b", dp=8, tp=2)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "my.shardscape.json")
            design.save(path)
            self.assertEqual(shardscape.Design(file=path), design)
        figures = shardscape.compare([design, design.replace(tp=1, dp=16)])
        self.assertEqual(len(figures["step_seconds"]), 2)

    def test_threads_work_at_once(self):
        designs = [shardscape.Design(model="llama3-8b", tp=tp, dp=4) for tp in (1, 2, 4, 8)]
        results = [None] * len(designs)

        def work(i):
            results[i] = designs[i].report()["time"]["step_seconds"]

        threads = [threading.Thread(target=work, args=(i,)) for i in range(len(designs))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(results, [design.report()["time"]["step_seconds"] for design in designs])

    def test_the_tables(self):
        self.assertIn("tp", [knob["id"] for knob in shardscape.knobs()])
        self.assertIn("llama3-8b", [preset["id"] for preset in shardscape.presets()])
        self.assertTrue(shardscape.__version__)


if __name__ == "__main__":
    unittest.main()
