"""The scalar program of tests/parity in plain Python, timed: the training loop of `tril train microgpt`.

usage: microgpt.py NAMES.txt [STEPS]     (default 100 of the 1,000 steps; each takes about the same time)

As in microgpt.py, each product and each sum is a node of its own here. (tests/parity/microgpt_scalar.py makes one node for
a whole dot product, which gives the same losses several times as fast.) The tape stands in for microgpt.py's sorting of
the graph before each backward pass. Prints one JSON line: steps_per_second, first_loss, last_loss.
"""
import json
import pathlib
import platform
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/parity"))
import microgpt_scalar as scalar  # noqa: E402

if len(sys.argv) < 2:
    sys.exit(__doc__)


def dot(a, b):
    total = scalar.multiplied(a[0], b[0])
    for x, y in zip(a[1:], b[1:]):
        total = scalar.add(total, scalar.multiplied(x, y))
    return total


steps, times = int(sys.argv[2]) if len(sys.argv) > 2 else 100, []
scalar.dot, scalar.SAMPLES = dot, 0
result = scalar.run(sys.argv[1], 42, steps, report=lambda step, loss: times.append(time.perf_counter()))
print(json.dumps({"steps_per_second": (steps - 1) / (times[-1] - times[0]), "first_loss": result["losses"][0],
                  "last_loss": result["losses"][-1], "version": "Python " + platform.python_version(),
                  "settings": {"steps": steps}}))
