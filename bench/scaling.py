"""Training by several ranks over links of known speed: sums and steps, measured, for the tables of docs/scaling.md.

usage: bench/scaling.py TEXT [--page docs/scaling.md]      (as root: it lays network namespaces)
Runs tril alone, then over tests/mpi_over_network.sh, and writes the tables of the page between its marks; what a table predicts
is the formula of src/tril/plan/scaling.h, and src/tril/plan/scaling_test.cc holds the page to it. The best of the steps counts. Let
nothing else run. Leaves out: real switches and machines that differ.
"""
import argparse
import json
import math
import os
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
TRIL = os.environ.get("TRIL_PROGRAM", str(ROOT / "build/release/tril"))
CORES = os.cpu_count()
STEPS = 20
LINKS = ["50mbit", "100mbit"]
GPT2 = {"bytes": 497.8e6, "last": 154.4e6, "buckets": 52}  # 124,439,808 numbers; the token table comes last
CLUSTERS = [("1 Gbit/s", 50e-6, 118e6), ("10 Gbit/s", 30e-6, 1.18e9), ("100 Gbit/s", 3e-6, 11.8e9)]


def over(ranks, rate, words):
    command = [str(ROOT / "tests/mpi_over_network.sh"), "--ranks", str(ranks), "--rate", rate, TRIL, *words]
    made = subprocess.run(command, capture_output=True, text=True)
    if made.returncode:
        raise SystemExit(made.stderr)
    return made.stdout


def words(out, text, batch):
    """Few multiplications for many numbers, so that the link counts: every word of the text is in the vocabulary."""
    return ["train", "one-head-smoke", "--data", text, "--out", out, "--steps", str(STEPS), "--threads", "1", "--json", "--quiet",
            "--set", "data.vocabulary=0", "--set", "data.min_count=1", "--set", f"train.batch={batch}", "--set", "train.log_every=1",
            "--set", "train.eval_examples=64", "--set", "train.eval_every=1000"]


def best_step(out):
    seconds = [json.loads(line)["seconds"] for line in open(out + "/metrics.jsonl")]
    return min(b - a for a, b in zip(seconds[2:], seconds[3:]))


def alone(text, folder, batch):
    out = f"{folder}/alone{batch}"
    subprocess.run([TRIL, *words(out, text, batch)], check=True, capture_output=True)
    return best_step(out)


def sum_seconds(ranks, size, buckets, latency, speed):
    return 2 * (buckets * latency * math.ceil(math.log2(ranks)) + (ranks - 1) / ranks * size / speed)


def step_seconds(ranks, batch, fixed, example, size, last, buckets, latency, speed):
    own = example * batch / ranks
    if ranks == 1:
        return fixed + own
    hidden = sum_seconds(ranks, size, buckets, latency, speed) - 2 / 3 * own
    tail = sum_seconds(ranks, last, 1, latency, speed)
    return fixed + own + max(tail, hidden) + 4 * math.ceil(math.log2(ranks)) * latency


def gpt2_example(folder, text):
    """Seconds of one rank with all cores for a block of 64 tokens, and for what a step takes besides."""
    times = {}
    for batch in (1, 16):
        out = f"{folder}/gpt2-{batch}"
        subprocess.run([TRIL, "train", "gpt2-124m", "--data", text, "--out", out, "--steps", "6", "--quiet", "--set", f"train.batch={batch}",
                        "--set", "train.block=64", "--set", "train.log_every=1", "--set", "train.eval_examples=64"],
                       check=True, capture_output=True)
        times[batch] = best_step(out)
    example = (times[16] - times[1]) / 15
    if not 0 < example < times[1]:
        raise SystemExit("this machine is too busy to tell what an example of gpt2-124m takes")
    return times[1] - example, example


def clusters(folder, text):
    """What the formula says for more nodes than there are here."""
    fixed, example = gpt2_example(folder, text)
    batch = 512
    lines = [f"`gpt2-124m`, blocks of 64 tokens, on nodes like this machine of {CORES} cores:", "",
              "| a step, ms | an example, ms | gradients, MB | last bucket, MB | buckets |", "|---|---|---|---|---|",
              f"| {1000 * fixed:.0f} | {1000 * example:.1f} | {GPT2['bytes'] / 1e6:.1f} | {GPT2['last'] / 1e6:.1f} | {GPT2['buckets']} |", "",
              "| link | α, us | β, MB/s | nodes | batch | a step, s | of it sums, s | times one node |", "|---|---|---|---|---|---|---|---|"]
    fixed, example = round(fixed, 3), round(example, 4)  # as the page has them
    for name, latency, speed in CLUSTERS:
        for nodes in (8, 64, 512):
            one = step_seconds(1, batch, fixed, example, 0, 0, 1, latency, speed)
            step = step_seconds(nodes, batch, fixed, example, GPT2["bytes"], GPT2["last"], GPT2["buckets"], latency, speed)
            waits = step - fixed - example * batch / nodes
            lines.append(f"| {name} | {1e6 * latency:.0f} | {speed / 1e6:.0f} | {nodes} | {batch} | {step:.3f} | {waits:.3f} | {one / step:.1f} |")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text")
    parser.add_argument("--page", default=str(ROOT / "docs/scaling.md"))
    given = parser.parse_args()
    text = os.path.abspath(given.text)
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        small, large = 32, 512
        times = {batch: alone(text, folder, batch) for batch in (small, large)}
        example = max((times[large] - times[small]) / (large - small), 0)
        fixed = max(times[small] - small * example, 0)
        lines += ["Sums (`tril bench allreduce`); α and β are those of the first row and of the last:", ""]
        sums, links, points = [], {}, []
        for rate in LINKS:
            for ranks in (2, 4):
                link = json.loads(over(ranks, rate, ["bench", "allreduce", "--json", "--seconds", "0.02"]))
                latency, speed = link["latency_seconds"], link["bytes_per_second"]
                links[rate, ranks] = latency, speed
                for row in link["rows"][-3:]:
                    model = sum_seconds(ranks, row["bytes"], 1, latency, speed)
                    sums.append(f"| {rate} | {ranks} | {1e6 * latency:.0f} | {speed / 1e6:.2f} | {row['bytes'] / 1e6:.3f} | "
                                f"{1000 * row['seconds']:.1f} | {1000 * model:.1f} |")
                    print(sums[-1], flush=True)
        for rate in LINKS:
            for batch in (small, large):
                out = f"{folder}/{rate}-{batch}"
                size = json.loads(over(2, rate, words(out, text, batch)))["ranks"]["bytes_a_step"]
                model = step_seconds(2, batch, fixed, example, size, size, 1, *links[rate, 2])
                measured = best_step(out)
                points.append(f"| {rate} | 2 | {batch} | {size / 1e6:.3f} | {1000 * measured:.1f} | {1000 * model:.1f} |")
                print(points[-1], flush=True)
        lines += ["| link | ranks | α, us | β, MB/s | sum of, MB | measured, ms | model, ms |", "|---|---|---|---|---|---|---|", *sums, "",
                  "Steps of one-head-smoke with every word of the text. A rank alone:", "",
                  "| fixed, ms | an example, ms |", "|---|---|", f"| {1000 * fixed:.2f} | {1000 * example:.4f} |", "",
                  "| link | ranks | batch | gradients, MB | measured, ms | model, ms |", "|---|---|---|---|---|---|", *points, ""]
        lines += clusters(folder, text)
    page = pathlib.Path(given.page)
    before, _, rest = page.read_text().partition("<!-- measured -->\n")
    _, _, after = rest.partition("<!-- end -->")
    page.write_text(before + "<!-- measured -->\n" + "\n".join(lines) + "\n<!-- end -->" + after)


if __name__ == "__main__":
    main()
