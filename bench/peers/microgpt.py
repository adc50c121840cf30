"""The scalar program of tests/parity in plain Python, timed: the training loop of `tril train microgpt`.

usage: microgpt.py NAMES.txt [STEPS]     (default 100 of the 1,000 steps; each takes about the same time)

This program makes one node for a dot product where microgpt.py makes one for each product and sum, so it is several
times as fast as that one, with the same numbers. Prints one JSON line: steps_per_second, first_loss, last_loss.
"""
import json
import pathlib
import platform
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/parity"))
import microgpt_scalar  # noqa: E402

if len(sys.argv) < 2:
    sys.exit(__doc__)
steps, times = int(sys.argv[2]) if len(sys.argv) > 2 else 100, []
microgpt_scalar.SAMPLES = 0
result = microgpt_scalar.run(sys.argv[1], 42, steps, report=lambda step, loss: times.append(time.perf_counter()))
print(json.dumps({"steps_per_second": (steps - 1) / (times[-1] - times[0]), "first_loss": result["losses"][0],
                  "last_loss": result["losses"][-1], "version": "Python " + platform.python_version(),
                  "settings": {"steps": steps}}))
