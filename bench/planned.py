"""Planned against measured: what `tril train … --dry-run` says a run will take, beside what the whole command then takes.

usage: bench/planned.py [--only NAME]… [--text FILE] [--page docs/plan.md] [--json]      (let nothing else run)
Each row is planned, run, and planned again; the plan that counts is the first, as a user would see it. Time is that of the whole
command, start to exit; bytes are peak_bytes of its result. Without --text a text is made here. Leaves out: presets that take
minutes.
"""
import argparse
import json
import os
import pathlib
import random
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
TRIL = os.environ.get("TRIL_PROGRAM", str(ROOT / "build/release/tril"))
# name: the words after `tril train`; TEXT stands for the text
RUNS = {
    "smoke": ["one-head-smoke"],
    "abc": ["tiny-gpt-abc"],
    "microgpt": ["microgpt", "--engine", "fast"],
    "shakespeare-300": ["shakespeare-char", "--data", "TEXT", "--steps", "300"],
    "shakespeare": ["shakespeare-char", "--data", "TEXT"],
    "names": ["names-char"],
    "bpe": ["tales-bpe", "--steps", "60"],
    "gpt2": ["gpt2-124m", "--data", "TEXT", "--steps", "3", "--set", "train.block=64"],
    "dial": ["TEXT", "--minutes", "0.2"],
}


def made_text(path, size=1_100_000):
    """Lines of made-up words, as frequent as words are."""
    draw = random.Random(1)
    letters = "etaoinshrdlucmfwypvbgkqjxz"
    words = ["".join(draw.choice(letters[: draw.randint(8, 26)]) for _ in range(draw.randint(1, 9))) for _ in range(5000)]
    with open(path, "w") as file:
        while file.tell() < size:
            file.write(" ".join(words[min(4999, int(draw.paretovariate(0.7)))] for _ in range(draw.randint(4, 11))) + ".\n")


def run(words, folder):
    begun = time.monotonic()
    made = subprocess.run([TRIL, "train", *words, "--json"], capture_output=True, text=True, cwd=folder)
    seconds = time.monotonic() - begun
    if made.returncode:
        raise SystemExit(f"{' '.join(words)}: {made.stderr}")
    return json.loads(made.stdout), seconds


def shown(words):
    return " ".join(words).replace("TEXT", "my.txt")


def row(name, text):
    words = [text if word == "TEXT" else word for word in RUNS[name]]
    with tempfile.TemporaryDirectory() as folder:
        plan, planning = run([*words, "--dry-run"], folder)
        found, seconds = run([*words, "--out", "run"], folder)
    return {"name": name, "words": shown(RUNS[name]), "planned": plan["planned_seconds"], "measured": seconds, "planning": planning,
            "planned_bytes": plan["planned_bytes"], "peak_bytes": found["peak_bytes"], "parts": plan["seconds"],
            "seconds": found["seconds"], "steps": found["steps"], "step_seconds": plan["step_seconds"]}


def table(rows):
    lines = ["| tril train | planned, s | measured, s | planned / measured | planned, MB | measured, MB | planned / measured |",
             "|---|---|---|---|---|---|---|"]
    for r in rows:
        lines.append(f"| `{r['words']}` | {r['planned']:.2f} | {r['measured']:.2f} | {r['planned'] / r['measured']:.2f} | "
                     f"{r['planned_bytes'] / 1e6:.1f} | {r['peak_bytes'] / 1e6:.1f} | {r['planned_bytes'] / r['peak_bytes']:.2f} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", action="append", choices=list(RUNS))
    parser.add_argument("--text")
    parser.add_argument("--page")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        text = os.path.abspath(given.text) if given.text else folder + "/my.txt"
        if not given.text:
            made_text(text)
        rows = []
        for name in given.only or RUNS:
            rows.append(row(name, text))
            print(json.dumps(rows[-1]) if given.json else table(rows[-1:]).split("\n")[-1], flush=True)
    if given.page:
        page = pathlib.Path(given.page)
        before, rest = page.read_text().split("<!-- measured -->")
        after = rest.split("<!-- end -->")[1]
        page.write_text(f"{before}<!-- measured -->\n{table(rows)}\n<!-- end -->{after}")


if __name__ == "__main__":
    main()
