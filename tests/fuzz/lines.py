"""The lines of a reader's sources that its corpus runs, from llvm-cov's summary on standard input.
usage: lines.py READER. The exit code is 1 where they are below 90 in 100 together."""
import json
import pathlib
import sys

LEAST = 90
files = {pathlib.Path(file["filename"]).name: file["summary"]["lines"] for file in json.load(sys.stdin)["data"][0]["files"]}
covered, count = (sum(lines[key] for lines in files.values()) for key in ("covered", "count"))
each = ", ".join(f"{name} {100 * lines['covered'] / lines['count']:.0f} %" for name, lines in sorted(files.items()))
print(f"{sys.argv[1]:12} {100 * covered / count:5.1f} % of {count} lines ({each})")
sys.exit(100 * covered < LEAST * count)
