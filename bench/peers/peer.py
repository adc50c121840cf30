"""What the peers share: the line of JSON that a round gives, and when rounds run. Leaves out: work of any kind.

A round's line has `rate` (units of work a second), `seconds`, `version`, and where they make sense `first_loss`,
`last_loss` and `digest`. With --serve a script runs one round for each line on its standard input, so that `tril bench
peers` can interleave it with tril's own; without, the best of --repeat rounds is printed.
"""
import argparse
import json
import os
import sys
import time


def arguments(**defaults):
    """A parser with the options of every peer; defaults name further ones (typed by their value)."""
    parser = argparse.ArgumentParser()
    common = dict(threads=len(os.sched_getaffinity(0)), repeat=3)
    for name, value in {**common, **defaults}.items():
        parser.add_argument("--" + name.replace("_", "-"), type=type(value), default=value)
    parser.add_argument("--serve", action="store_true", help="one round for each line on standard input")
    return parser


def rounds(a, run):
    """run() does one round and gives its line, without `seconds`."""
    def timed():
        start = time.perf_counter()
        line = run()
        return {**line, "seconds": time.perf_counter() - start}

    if a.serve:
        for _ in sys.stdin:
            print(json.dumps(timed()), flush=True)
    else:
        print(json.dumps(max((timed() for _ in range(a.repeat)), key=lambda line: line["rate"])))


def keep_to_one_processor():
    """For libraries that take no number of threads; call it before they are imported."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
