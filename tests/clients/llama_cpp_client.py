"""llama.cpp (through llama-cpp-python) reads tril's GGUF files and tril those that llama.cpp quantised; and tril
imports SmolLM2-135M-Instruct (Q4_1) and writes what llama.cpp does from it. usage: llama_cpp_client.py FOLDER (an empty
one, to work in)."""
import importlib.util
import os
import pathlib
import shutil
import sys

import gguf
import llama_cpp
import numpy as np

from common import LIMIT, ROOT, finish, greedy, logits, smollm2_path, tell, train, tril

NAME = f"llama-cpp-python {llama_cpp.__version__}"
TEXT = "Once there was a small dog. It ran to the 123 houses, didn't it?\n"
TEXTS = [TEXT, "  two  blanks\t\n\n and lines \n", "naïve café — 中文 🙂 x", "don't WE'LL I'm", "1234567 3.14", ""]
FIXTURES = pathlib.Path(os.environ.get("TRIL_SHARED", ROOT.parent / "shared")) / "fixtures/text"  # more texts, where it is there
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


def texts():
    """Texts whose ids are compared: those above, and the fixtures that are UTF-8 and not too long for one call."""
    found = list(TEXTS)
    for path in sorted(FIXTURES.glob("*.txt")):
        try:
            text = path.read_bytes().decode()
        except UnicodeDecodeError:
            continue
        if len(text) < 20000 and not text.startswith("\ufeff"):
            found.append(text)
    return found


def equal_ids(model, run, folder):
    """How many texts have the same ids in both programs, and those that have not."""
    all_texts = texts()
    apart = [text[:20] for text in all_texts if model.tokenize(text.encode(), add_bos=False, special=False) != our_ids(run, folder, text)]
    return not apart, f"ids of {len(all_texts)} texts", f"{len(all_texts) - len(apart)} equal" + (f", not {apart}" if apart else "")


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
                same, of, figures = equal_ids(model, run, folder)
                tell(NAME, f"exported {kind}: {of}", same, figures)
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


def quantised(folder):
    """Files that llama.cpp itself writes, in each type that tril reads: the weights are those that the gguf package
    takes from them, bit for bit, and the logits near llama.cpp's own."""
    for name in ("F16", "BF16", "Q8_0", "Q4_0", "Q4_1"):
        path, run = folder / f"their-{name}.gguf", folder / f"their-{name}"
        options = llama_cpp.llama_model_quantize_default_params()
        options.ftype, options.pure, options.nthread = getattr(llama_cpp, f"LLAMA_FTYPE_MOSTLY_{name}"), True, 1
        failed = llama_cpp.llama_model_quantize(str(folder / "llama-f32.gguf").encode(), str(path).encode(), options)
        if failed:
            tell(NAME, f"imported llama.cpp's {name}", False, "llama.cpp could not write it")
            continue
        tril("import", path, "--out", run)
        tril("export", run, "--to", "gguf", "--type", "f32", "--out", folder / "back.gguf")
        ours, theirs = ({tensor.name: tensor for tensor in gguf.GGUFReader(at).tensors} for at in (folder / "back.gguf", path))
        numbers = {key: gguf.quants.dequantize(tensor.data, tensor.tensor_type) for key, tensor in theirs.items()}
        same = [np.array_equal(np.asarray(ours[key].data).ravel(), numbers[key].ravel()) for key in theirs]
        types = sorted({tensor.tensor_type.name for tensor in theirs.values()})
        tell(f"gguf in {NAME}", f"imported llama.cpp's {name}: weights", len(ours) == len(theirs) and all(same),
             f"{sum(same)} of {len(theirs)} tensors ({', '.join(types)}) equal bit for bit")
        model = open_model(path)
        ids = model.tokenize(TEXT.encode(), add_bos=False, special=False)
        mine, other = np.array(logits(run, TEXT)), their_logits(model, ids)
        largest, limit = float(np.abs(mine - other).max()), QUANTISED * max(1.0, float(np.abs(mine).max()))
        tell(NAME, f"imported llama.cpp's {name}: logits", largest <= limit, f"largest difference {largest:.2e}, limit {limit:.1e}")


def parting(own, made, rows):
    """Where two greedy texts part, and what llama.cpp's own logits are apart there."""
    for i, (a, b) in enumerate(zip(own, made)):
        if a != b:
            return f"part at token {i + 1}, where llama.cpp's two logits are {rows[i][b] - rows[i][a]:.4f} apart", rows[i][b] - rows[i][a]
    return f"{min(len(own), len(made))} tokens equal", 0.0


def smollm2(folder):
    path = smollm2_path()
    if path is None:
        return
    run = folder / "smollm2"
    tril("import", path, "--out", run)
    model = open_model(path, context=128)
    compare_smollm2("imported SmolLM2 (Q4_1)", run, model)
    scored_smollm2(run, model)
    through_transformers(run, folder / "smollm2-hf")
    for type_name in ("q8_0", "f32"):
        out = folder / f"smollm2-{type_name}.gguf"
        tril("export", run, "--to", "gguf", "--type", type_name, "--out", out)
        compare_smollm2(f"exported SmolLM2 ({type_name})", run, open_model(out, context=128))
        out.unlink()


def scored_smollm2(run, model):
    """Each token's log-probability, by tril score and by llama.cpp."""
    ids = model.tokenize(TEXT.encode(), add_bos=False, special=False)
    theirs = their_logits(model, ids)
    scored = tril("score", run, "--text", TEXT)["tokens"]
    ours = [token["logprob"] for token in scored if token["logprob"] is not None]
    apart = max(abs(own - log_softmax(theirs[i])[ids[i + 1]]) for i, own in enumerate(ours))
    limit = QUANTISED * max(1.0, float(np.abs(theirs).max()))
    tell(NAME, "imported SmolLM2 (Q4_1): score", len(ours) == len(ids) - 1 and apart <= limit,
         f"{len(ours)} log-probabilities, largest difference {apart:.2e}, limit {limit:.1e}")


def through_transformers(run, out):
    """SmolLM2, exported for transformers: dequantised by tril, so both compute in f32."""
    if importlib.util.find_spec("transformers") is None:
        tell("transformers", "SmolLM2 exported to hf", False, "the package is not installed: scripts/setup_peers.sh clients")
        return
    import torch
    import transformers

    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    name = f"transformers {transformers.__version__}"
    tril("export", run, "--to", "hf", "--out", out)
    model = transformers.AutoModelForCausalLM.from_pretrained(out, dtype=torch.float32).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(out)
    for prompt in PROMPTS[:2]:
        ids = tokenizer(prompt, return_tensors="pt").input_ids
        with torch.no_grad():
            theirs = model(ids).logits[0].double().numpy()
        ours = np.array(logits(run, prompt))
        limit, largest = LIMIT * max(1.0, float(np.abs(ours).max())), float(np.abs(ours - theirs).max())
        made = model.generate(ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=NEW)[0, ids.shape[1]:].tolist()
        own = greedy(run, prompt, NEW)
        same = made[:len(own)] == own and len(made) - len(own) in (0, 1)  # tril does not tell the end token
        tell(name, f"exported SmolLM2 (hf), {prompt!r}", largest <= limit and same,
             f"largest logit difference {largest:.2e}, limit {limit:.1e}; greedy: " + (f"{len(own)} tokens equal" if same else f"{own} {made}"))
    shutil.rmtree(out)


def compare_smollm2(what, run, model):
    same, of, figures = equal_ids(model, run, run.parent)
    tell(NAME, f"{what}: {of}", same, figures)
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
    quantised(folder)
    smollm2(folder)
    finish()


main()
