"""Other people's programs, built by their own instructions and timed as they are: in a folder of their own, with the files
that they look for, by what they print.

usage: program.py --program NAME --path PATH [--data NAMES.txt] [--serve]
  microgpt.py                      Python: the first 100 of its steps; rate in steps a second
  microgpt-c, microgpt-c-64        c_names_demo of enjector/microgpt-c: the training rate that it prints, in names a second
  microgpt.cpp, microgpt.cpp-64    Charbel199/microgpt.cpp: the whole program, 1,000 steps of a name, in names a second
  llm.c                            train_gpt2 of karpathy/llm.c: steps of 4 × 64 tokens over random weights and text, in targets a second
  llama2.c                         run of karpathy/llama2.c: a Llama of 15M random weights, in tokens a second
-64: the same built with width 64. Leaves out: building them.
"""
import contextlib
import os
import pathlib
import platform
import re
import shutil
import struct
import subprocess
import tempfile
import time

from peer import arguments, rounds

a = arguments(program="", path="", data="").parse_args()
program, path = a.program.removesuffix("-64"), str(pathlib.Path(a.path).resolve())
data = pathlib.Path(a.data).resolve() if a.data else None


class Enough(Exception):
    pass


def microgpt_py(steps=100):
    """Its own source, run here with a print that counts the steps and ends it."""
    times, losses = [], []

    def told(*words, **_):
        found = re.match(r"step +\d+ / +\d+ \| loss ([\d.]+)", " ".join(map(str, words)))
        if found:
            times.append(time.perf_counter())
            losses.append(float(found[1]))
        if len(times) == steps:
            raise Enough

    shutil.copy(data, "input.txt")
    with contextlib.suppress(Enough):
        exec(compile(pathlib.Path(path).read_text(), path, "exec"), {"__name__": "__main__", "print": told})
    return {"rate": (steps - 1) / (times[-1] - times[0]), "version": "Python " + platform.python_version()}


def run(*words, **more):
    return subprocess.run([path, *words], capture_output=True, text=True, check=True, **more)


def microgpt_c():
    for name in ("names.txt", "c_names.txt", "input.txt"):
        shutil.copy(data, name)
    out = run().stdout
    log = "".join(p.read_text() for p in pathlib.Path(".").glob("*.log"))
    batch = int(re.search(r"batch=(\d+)", log)[1])
    return {"rate": float(re.search(r"([\d.]+) steps/s", out)[1]) * batch, "version": f"c_names_demo, batch {batch}"}


def microgpt_cpp():
    shutil.copy(data, "input.txt")
    start = time.perf_counter()
    run()
    return {"rate": 1000 / (time.perf_counter() - start), "version": "whole program"}


def llm_c(steps=4):
    """A checkpoint of version 3 with random weights, and two files of random tokens; ended after some steps."""
    import numpy as np
    random = np.random.default_rng(0)
    header = np.zeros(256, np.int32)
    header[:8] = 20240326, 3, 1024, 50257, 12, 12, 768, 50304
    count = 50304 * 768 + 1024 * 768 + 12 * (12 * 768 * 768 + 13 * 768) + 2 * 768
    if not os.path.exists("gpt2_124M.bin"):
        with open("gpt2_124M.bin", "wb") as file:
            file.write(header.tobytes())
            for start in range(0, count, 1 << 22):
                numbers = random.standard_normal(min(1 << 22, count - start), np.float32)
                file.write((0.02 * numbers).tobytes())
        os.makedirs("dev/data/tinyshakespeare")
        for part in ("train", "val"):
            header = np.zeros(256, np.int32)
            header[:3] = 20240520, 1, 32768
            tokens = random.integers(0, 50257, 32768).astype(np.uint16)
            pathlib.Path(f"dev/data/tinyshakespeare/tiny_shakespeare_{part}.bin").write_bytes(header.tobytes() + tokens.tobytes())
    environment = {**os.environ, "OMP_NUM_THREADS": str(a.threads)}
    child = subprocess.Popen([path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment)
    found = []
    for line in child.stdout:
        if match := re.match(r"step \d+: train loss ([\d.]+) \(took ([\d.]+) ms\)", line):
            found.append((float(match[1]), float(match[2])))
        if len(found) > steps:
            break
    child.kill()
    child.wait()
    return {"rate": 256 * steps / sum(ms / 1000 for _, ms in found[1:]), "version": f"OpenMP, {a.threads} threads"}


def llama2_c():
    """Its first format: seven integers, then the weights; and a tokenizer of 32,000 pieces."""
    import numpy as np
    dim, hidden, layers, heads, vocabulary, context = 288, 768, 6, 6, 32000, 256
    if not os.path.exists("model.bin"):
        count = vocabulary * dim + layers * (4 * dim * dim + 3 * dim * hidden + 2 * dim) + dim + context * (dim // heads)
        weights = 0.02 * np.random.default_rng(0).standard_normal(count, np.float32)
        head = struct.pack("7i", dim, hidden, layers, heads, heads, vocabulary, context)
        pathlib.Path("model.bin").write_bytes(head + weights.tobytes())
        pieces = [b"<unk>", b"<s>", b"</s>"] + [b"<0x%02X>" % n for n in range(256)]
        pieces += [b"p%05d" % n for n in range(vocabulary - len(pieces))]
        tokenizer = struct.pack("i", 8) + b"".join(struct.pack("fi", 0, len(p)) + p for p in pieces)
        pathlib.Path("tokenizer.bin").write_bytes(tokenizer)
    best = 0
    for count in sorted({1, a.threads}):
        out = run("model.bin", "-t", "0", "-n", "200", "-s", "1", env={**os.environ, "OMP_NUM_THREADS": str(count)}).stderr
        best = max(best, float(re.search(r"achieved tok/s: ([\d.]+)", out)[1]))
    return {"rate": best, "version": f"the better of 1 and {a.threads} threads"}


work = {"microgpt.py": microgpt_py, "microgpt-c": microgpt_c, "microgpt.cpp": microgpt_cpp, "llm.c": llm_c, "llama2.c": llama2_c}
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    rounds(a, work[program])
