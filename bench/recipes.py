"""The recipe study: shakespeare-char with each choice of recipes/modern.toml alone, and modern without each, by steps and by seconds.

usage: bench/recipes.py TINYSHAKESPEARE [--seeds 3] [--steps 400] --page PAGE
Runs ./tril one training after another (22 variants, then the two times to a loss), prints a line for each, and writes the tables
of the page between its marks (`<!-- measured -->` and `<!-- end -->`). Let nothing else run. Leaves out: other programs (tril bench peers).
"""
import argparse
import json
import math
import pathlib
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
TARGET = 1.88  # nats a character: nanoGPT's README after 2,000 steps, there estimated over 20 batches; the whole tail needs more

# name, the setting in modern, the setting in the preset
CHOICES = [
    ("rotary positions", {"model.position": "rotary"}, {"model.position": "learned"}),
    ("RMS norm", {"model.norm": "rms"}, {"model.norm": "layer"}),
    ("QK-norm", {"model.qk_norm": "true"}, {"model.qk_norm": "false"}),
    ("ReLU²", {"model.activation": "relu2"}, {"model.activation": "gelu"}),
    ("zero-initialised outputs", {"model.zero_init": "true"}, {"model.zero_init": "false"}),
    ("untied head", {"model.tied": "false"}, {"model.tied": "true"}),
    ("soft-cap 15", {"model.softcap": "15"}, {"model.softcap": "0"}),
    ("Muon", {"train.optimizer": "muon", "train.muon_learning_rate": "0.02"}, {"train.optimizer": "adamw"}),
    ("rate 6e-3", {"train.learning_rate": "6e-3"}, {"train.learning_rate": "1e-3"}),
    ("rate 3e-3", {"train.learning_rate": "3e-3"}, {"train.learning_rate": "1e-3"}),
    ("linear to 0, warm-up 20", {"train.schedule": "linear", "train.min_learning_rate": "0", "train.warmup": "20"},
     {"train.schedule": "cosine", "train.min_learning_rate": "1e-4", "train.warmup": "40"}),
]
LEFT_OUT = {"soft-cap 15", "rate 3e-3"}  # tried, and not in modern


def train(data, seed, steps, recipe, settings):
    words = [ROOT / "tril", "train", "shakespeare-char", "--data", data, "--json", "--quiet", "--seed", str(seed), "--steps", str(steps)]
    values = {"train.recipe": recipe, "train.eval_every": str(steps), **settings}
    with tempfile.TemporaryDirectory() as folder:
        words += ["--out", folder + "/run"]
        for key, value in values.items():
            words += ["--set", f"{key}={value}"]
        made = subprocess.run(words, capture_output=True, text=True)
        if made.returncode:
            raise SystemExit(made.stderr)
        return json.loads(made.stdout)


def variant(data, seeds, steps, recipe, settings):
    runs = [train(data, seed, steps, recipe, settings) for seed in range(seeds)]
    losses = [run["validation_loss"] for run in runs]
    return {"loss": statistics.median(losses), "spread": max(losses) - min(losses),
            "seconds": min(run["seconds"]["train"] for run in runs)}


def reaches(data, seeds, steps, recipe, every):
    """Seconds of training until an evaluation is at or below TARGET, evaluations not counted; the median of the seeds."""
    took = []
    for seed in range(seeds):
        run = train(data, seed, steps, recipe, {"train.eval_every": str(every)})
        first = next((point["step"] for point in run["trace"] if (point["validation_loss"] or math.inf) <= TARGET), None)
        took.append(math.inf if first is None else run["seconds"]["train"] * first / steps)
    return statistics.median(took), took


def row(name, made, base):
    return (f"| {name} | {made['loss']:.3f} | {made['spread']:.3f} | {made['loss'] - base['loss']:+.3f} | "
            f"{made['loss'] / math.log(2):.3f} | {made['seconds']:.2f} | {made['seconds'] / base['seconds']:.2f} |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--page", required=True)
    a = parser.parse_args()
    head = "|  | loss | spread | difference | bits per byte | seconds | times |\n|---|---|---|---|---|---|---|"
    tables = []
    for recipe, title in (("none", "Each choice alone, on the preset"), ("modern", "Modern without each choice, or with one that it leaves out")):
        def settings(name, with_it, without):
            if recipe == "none":
                return with_it
            return with_it if name in LEFT_OUT else without
        base = variant(a.data, a.seeds, a.steps, recipe, {"train.warmup": "40"} if recipe == "none" else {})
        lines = [f"### {title}", "", head, row("the preset" if recipe == "none" else "modern", base, base)]
        print(lines[-1], flush=True)
        for name, with_it, without in CHOICES:
            sign = "+" if recipe == "none" or name in LEFT_OUT else "−"
            changed = settings(name, with_it, without)
            if recipe == "none":
                changed = {"train.warmup": "40", **changed}
            lines.append(row(f"{sign} {name}", variant(a.data, a.seeds, a.steps, recipe, changed), base))
            print(lines[-1], flush=True)
        tables.append("\n".join(lines))
    lines = [f"### Seconds to a validation loss of {TARGET}", "", "| recipe | steps in all | seconds, median | of each seed |", "|---|---|---|---|"]
    for recipe, steps, every in (("none", 2500, 100), ("modern", a.steps, 25)):
        median, took = reaches(a.data, a.seeds, steps, recipe, every)
        name = "the preset's (nanoGPT's)" if recipe == "none" else "modern"
        lines.append(f"| {name} | {steps:,} | {median:.1f} | {', '.join(f'{each:.1f}' for each in took)} |")
        print(lines[-1], flush=True)
    tables.append("\n".join(lines))
    page = pathlib.Path(a.page)
    text = page.read_text()
    start, end = text.index("<!-- measured -->"), text.index("<!-- end -->")
    page.write_text(text[:start] + "<!-- measured -->\n" + "\n\n".join(tables) + "\n" + text[end:])


if __name__ == "__main__":
    main()
