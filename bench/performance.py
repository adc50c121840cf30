"""Writes docs/performance.md: the ratios against other programs, where a step's time goes, and how far each op is from the machine.

usage: bench/performance.py --peers PEERS.json… --kernels KERNELS.json [--page docs/performance.md]
A row that is not met is told with the reason that bench/reasons.toml gives for it, or as one without a reason.
The documents are what `tril bench peers --json` and `tril bench kernels --json` print; the profiles of a step are taken here, of
three runs each the fastest. Let nothing else run. Leaves out: measuring the ratios.
"""
import argparse
import collections
import json
import pathlib
import subprocess
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROFILED = [  # preset and what makes the step that of the row
    ("one-head-smoke", []),
    ("microgpt-16", []),
    ("tiny-gpt-abc", []),
    ("shakespeare-char", ["--data", "tales"]),
    ("gpt2-124m", ["--data", "tales", "--set", "train.batch=4", "--set", "train.block=64", "--set", "data.split=tail"]),
]
NAMES = ROOT / "tests/parity/villages.txt"


def own_times(events):
    """Milliseconds of each op and direction, an op inside another counted once; and of the phases that hold no op."""
    spans = sorted((e for e in events if e["ph"] == "X" and e["cat"] in ("phase", "forward", "backward")),
                   key=lambda e: (e["ts"], -e["dur"]))
    total, stack = collections.Counter(), []
    for span in spans:
        while stack and span["ts"] >= stack[-1][0] - 1e-6:
            stack.pop()
        name = span["name"] if span["cat"] == "phase" else f"{span['name']}, {span['cat']}"
        total[name] += span["dur"]
        if stack:
            total[stack[-1][1]] -= span["dur"]
        stack.append((span["ts"] + span["dur"], name))
    return {name: time / 1000 for name, time in total.items()}


def profile(preset, more):
    best = None
    for _ in range(3):
        with tempfile.TemporaryDirectory() as folder:
            words = [ROOT / "tril", "train", preset, "--steps", "5", "--profile", "--quiet", "--out", folder + "/run", *more]
            if preset.startswith("microgpt"):
                words += ["--data", NAMES]
            subprocess.run(words, check=True, capture_output=True)
            times = own_times(json.loads(pathlib.Path(folder + "/run/profile.json").read_text())["traceEvents"])
        if best is None or sum(times.values()) < sum(best.values()):
            best = times
    return best


def short(number):
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.3g}{letter}"
    return f"{number:.3g}"


def not_met(peers):
    reasons = tomllib.loads((ROOT / "bench/reasons.toml").read_text())
    lines = []
    for row in peers["rows"]:
        if not row["met"]:
            given = reasons.get(row["name"], {})
            why = next((text for peer, text in given.items() if row["against"].startswith(peer)), "no reason is known")
            lines.append(f"- {row['name']}, {row['against']}: {row['ratio']:.2f} of {row['goal']:g}. {why.strip()}")
    return ["", "Rows that are not met, why, and what would meet them:", "", *lines] if lines else []


def ratios(peers):
    lines = ["| work | tril | peer | ratio | goal | met | against |", "|---|---|---|---|---|---|---|"]
    for row in peers["rows"]:
        met = "yes" if row["met"] else "no" if row["same_work"] else "not the same work"
        lines.append(f"| {row['name']} | {short(row['tril'])} {row['unit']} | {short(row['peer'])} | **{row['ratio']:.2f}** | "
                     f"{row['goal']:g} | {met} | {row['against']} |")
    for row in peers["skipped"]:
        lines.append(f"| {row['name']} | {short(row['tril'])} {row['unit']} | | | | skipped | {row['peer']}: {row['why']} |")
    lines += not_met(peers)
    lines += ["", "Published for other machines, beside ours:", ""]
    lines += [f"- {row['name']}: {row['tril']} here; {row['figure']} ({row['machine']})" for row in peers["published"]]
    return lines


def shares(preset, times):
    whole = sum(times.values())
    lines = [f"### {preset}: {whole:.3g} ms a step", "", "| what | ms | share |", "|---|---|---|"]
    ranked = sorted(times.items(), key=lambda each: -each[1])
    for name, time in ranked[:8]:
        lines.append(f"| {name} | {time:.3g} | {time / whole:.0%} |")
    rest = sum(time for _, time in ranked[8:])
    lines += [f"| all else | {rest:.3g} | {rest / whole:.0%} |", ""]
    return lines


def rooflines(kernels):
    lines = ["| op | where | forward | of the machine | backward | of the machine | gain over plain loops |", "|---|---|---|---|---|---|---|"]
    for row in kernels["kernels"]:
        def side(part):
            found = row.get(part)
            return f"{found['rate']:.3g} {found['unit']} | {found['share']:.0%}" if found else " | "
        lines.append(f"| {row['op']} | {row['place']} | {side('forward')} | {side('backward')} | {row['gain']:.3g} |")
    lines += ["", "Gains below 1.2, each with its reason:", ""]
    lines += [f"- {row['op']}, {row['place']}: {row['gain']:.2g}; {row['why']}" for row in kernels["slow"]]
    return lines


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--peers", required=True, nargs="+")
    parser.add_argument("--kernels", required=True)
    parser.add_argument("--page", default=str(ROOT / "docs/performance.md"))
    a = parser.parse_args()
    runs, kernels = [json.loads(pathlib.Path(path).read_text()) for path in a.peers], json.loads(pathlib.Path(a.kernels).read_text())
    peers = {key: sum((run[key] for run in runs), []) for key in ("rows", "skipped")}
    peers |= {"machine": runs[0]["machine"], "published": list({json.dumps(each): each for run in runs for each in run["published"]}.values())}
    machine = {**peers["machine"], **kernels["machine"]}
    page = ["# Performance", "",
            "Written by `bench/performance.py` from `./tril bench peers` and `./tril bench kernels`, with nothing else running. A ratio is",
            "of two programs in one run. [bench](bench.md) tells how each row is measured, and what makes it count.", "",
            f"The machine: {machine['threads']} threads, vector level {machine['vector_level']}, oneDNN {machine['onednn']}; "
            f"{machine['gflops']:.0f} GFLOP/s by multiply-adds on registers ({machine['gflops_one_core']:.0f} on one core), "
            f"{machine['read_gb_per_second']:.0f} GB/s read from memory ({machine['read_gb_per_second_one_core']:.0f}).", "",
            "## Beside other programs", "", *ratios(peers), "",
            "## Where a step's time goes", "",
            "The fifth step of a run, by `--profile`; an op inside another counts once. The text of gpt2-124m is tales here, whose BPE has",
             "fewer ids than 50,257.", ""]
    for preset, more in PROFILED:
        page += shares(preset, profile(preset, more))
    page += ["## How far each op is from the machine", "",
             "A product's share is of the multiply-adds that all cores can do, any other op's of the bytes that they can read; what lies in",
             "a cache may exceed the share of memory.", "", *rooflines(kernels)]
    pathlib.Path(a.page).write_text("\n".join(page) + "\n")


if __name__ == "__main__":
    main()
