"""The scalar program of tests/parity in plain Python, timed: the training loop of `tril train microgpt`.

usage: microgpt.py --data NAMES.txt [--steps 100] [--serve]     (100 of the 1,000 steps; each takes about the same time)

As in microgpt.py, each product and each sum is a node of its own here. (tests/parity/microgpt_scalar.py makes one node for
a whole dot product, which gives the same losses several times as fast.) The tape stands in for microgpt.py's sorting of
the graph before each backward pass. `rate` is steps a second. For microgpt.py itself: program.py.
"""
import pathlib
import platform
import sys
import time

from peer import arguments, rounds

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/parity"))
import microgpt_scalar as scalar  # noqa: E402

a = arguments(data="", steps=100).parse_args()


def dot(a, b):
    total = scalar.multiplied(a[0], b[0])
    for x, y in zip(a[1:], b[1:]):
        total = scalar.add(total, scalar.multiplied(x, y))
    return total


def run():
    times = []
    result = scalar.run(a.data, 42, a.steps, report=lambda step, loss: times.append(time.perf_counter()))
    return {"rate": (a.steps - 1) / (times[-1] - times[0]), "first_loss": result["losses"][0],
            "last_loss": result["losses"][-1], "version": "Python " + platform.python_version()}


scalar.dot, scalar.SAMPLES = dot, 0
rounds(a, run)
