"""llama.cpp in float32, by llama-cpp-python: GPT-2 124M or a Llama of 15M with random weights.

usage: llama_cpp_rate.py --model gpt2-124m|llama-15m --what decode|prompt [--threads N] [--serve]

decode: tokens one after another behind a short prompt; prompt: 512 tokens at once. `rate` is tokens a second. The weights don't
change the time, so they are random; the file has no tokenizer, and tokens are ids.
"""
import pathlib
import tempfile
import time

import gguf
import numpy as np
from llama_cpp import Llama, __version__

from peer import arguments, rounds

a = arguments(model="gpt2-124m", what="decode").parse_args()
random = np.random.default_rng(0)


def draw(*shape):
    return 0.02 * random.standard_normal(shape, np.float32)


def begin(path, arch, vocabulary, context, width, hidden, heads, layers):
    w = gguf.GGUFWriter(path, arch)
    w.add_context_length(context)
    w.add_embedding_length(width)
    w.add_feed_forward_length(hidden)
    w.add_head_count(heads)
    w.add_head_count_kv(heads)
    w.add_block_count(layers)
    w.add_vocab_size(vocabulary)
    w.add_tokenizer_model("no_vocab")
    w.add_file_type(0)
    return w


def write_gpt2(path, d=768):
    w = begin(path, "gpt2", 50257, 1024, d, 4 * d, 12, 12)
    w.add_layer_norm_eps(1e-5)
    w.add_tensor("token_embd.weight", draw(50257, d))
    w.add_tensor("position_embd.weight", draw(1024, d))
    for norm in ["output_norm", *(f"blk.{i}.{n}" for i in range(12) for n in ("attn_norm", "ffn_norm"))]:
        w.add_tensor(norm + ".weight", np.ones(d, np.float32))
        w.add_tensor(norm + ".bias", np.zeros(d, np.float32))
    for i in range(12):
        for name, rows, columns in (("attn_qkv", 3 * d, d), ("attn_output", d, d), ("ffn_up", 4 * d, d), ("ffn_down", d, 4 * d)):
            w.add_tensor(f"blk.{i}.{name}.weight", draw(rows, columns))
            w.add_tensor(f"blk.{i}.{name}.bias", np.zeros(rows, np.float32))
    return w


def write_llama(path, d=288, hidden=768):
    w = begin(path, "llama", 32000, 256, d, hidden, 6, 6)
    w.add_layer_norm_rms_eps(1e-5)
    w.add_rope_dimension_count(d // 6)
    w.add_tensor("token_embd.weight", draw(32000, d))
    w.add_tensor("output_norm.weight", np.ones(d, np.float32))
    for i in range(6):
        for norm in ("attn_norm", "ffn_norm"):
            w.add_tensor(f"blk.{i}.{norm}.weight", np.ones(d, np.float32))
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            w.add_tensor(f"blk.{i}.{name}.weight", draw(d, d))
        for name, rows, columns in (("ffn_gate", hidden, d), ("ffn_up", hidden, d), ("ffn_down", d, hidden)):
            w.add_tensor(f"blk.{i}.{name}.weight", draw(rows, columns))
    return w


with tempfile.TemporaryDirectory() as folder:
    path = str(pathlib.Path(folder) / "model.gguf")
    writer, context, count = (write_gpt2(path), 1024, 24) if a.model == "gpt2-124m" else (write_llama(path), 256, 200)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    llama = Llama(path, n_ctx=context, n_threads=a.threads, n_threads_batch=a.threads, n_batch=512, verbose=False)

vocabulary = 50257 if a.model == "gpt2-124m" else 32000
tokens = random.integers(0, vocabulary, 512).tolist()


def run():
    llama.reset()
    if a.what == "prompt":
        start = time.perf_counter()
        llama.eval(tokens)
        rate = 512 / (time.perf_counter() - start)
    else:
        llama.eval(tokens[:9])
        start = time.perf_counter()
        for token in tokens[9: 9 + count]:
            llama.eval([token])
        rate = count / (time.perf_counter() - start)
    return {"rate": rate, "version": "llama-cpp-python " + __version__}


rounds(a, run)
