"""The first corpus of the fuzz targets: small sound files, one or two a reader, written by NumPy, safetensors, gguf and
by hand. usage: make_corpus.py (in the environment of `tril setup peers`); writes tests/fuzz/corpus."""
import base64
import json
import pathlib
import struct
import zlib

import gguf
import numpy as np
from safetensors.numpy import save

FOLDER = pathlib.Path(__file__).resolve().parent / "corpus"


def put(reader, name, data):
    path = FOLDER / reader / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())


put("safetensors", "two", save({"w": np.ones((2, 3), np.float32), "h": np.ones(4, np.float16)}, {"format": "pt"}))
np.savez(FOLDER / "x.npz", w=np.arange(6, dtype=np.float32).reshape(2, 3))
np.savez_compressed(FOLDER / "y.npz", f=np.asfortranarray(np.ones((2, 3))))
for name in ("x", "y"):
    put("npz", name, (FOLDER / f"{name}.npz").read_bytes())
    (FOLDER / f"{name}.npz").unlink()
np.save(FOLDER / "z.npy", np.arange(3, dtype=np.int64))
put("npz", "z", (FOLDER / "z.npy").read_bytes())
(FOLDER / "z.npy").unlink()

# The same archive with a 64-bit directory, which NumPy writes for arrays beyond 4 GiB only.
member = (FOLDER / "npz/z").read_bytes()
start = struct.pack("<4sHHHHHIIIHH", b"PK\3\4", 45, 0, 0, 0, 33, zlib.crc32(member), len(member), len(member), 5, 0) + b"z.npy" + member
extra = struct.pack("<HHQQQ", 1, 24, len(member), len(member), 0)
entry = struct.pack("<4sHHHHHHIIIHHHHHII", b"PK\1\2", 45, 45, 0, 0, 0, 33, zlib.crc32(member), 2**32 - 1, 2**32 - 1, 5, len(extra), 0, 0, 0, 0,
                    2**32 - 1) + b"z.npy" + extra
end = struct.pack("<4sQHHIIQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, 1, 1, len(entry), len(start))
locator = struct.pack("<4sIQI", b"PK\6\7", 0, len(start) + len(entry), 1)
put("npz", "large", start + entry + end + locator + struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, 65535, 65535, 2**32 - 1, 2**32 - 1, 0))

writer = gguf.GGUFWriter(FOLDER / "g.gguf", "llama")
for key, value in {"embedding_length": 32, "attention.head_count": 2, "attention.head_count_kv": 1, "block_count": 1,
                   "context_length": 4, "feed_forward_length": 32}.items():
    writer.add_uint32(f"llama.{key}", value)
writer.add_float32("llama.attention.layer_norm_rms_epsilon", 1e-5)
writer.add_tokenizer_model("gpt2")
writer.add_tokenizer_pre("gpt-2")
writer.add_token_list(["a", "b", "ab", "<|endoftext|>"])
writer.add_token_types([1, 1, 1, 3])
writer.add_token_merges(["a b"])
writer.add_eos_token_id(3)
writer.add_tensor("token_embd.weight", gguf.quants.quantize(np.ones((4, 32), np.float32), gguf.GGMLQuantizationType.Q8_0),
                  raw_dtype=gguf.GGMLQuantizationType.Q8_0)
writer.add_tensor("w", gguf.quants.quantize(np.ones((2, 32), np.float32), gguf.GGMLQuantizationType.Q4_1),
                  raw_dtype=gguf.GGMLQuantizationType.Q4_1)
writer.write_header_to_file(), writer.write_kv_data_to_file(), writer.write_tensors_to_file(), writer.close()
put("gguf", "llama", (FOLDER / "g.gguf").read_bytes())
(FOLDER / "g.gguf").unlink()


# A tensor of each type that is read, and one that is not.
writer = gguf.GGUFWriter(FOLDER / "g.gguf", "llama")
for kind in (np.float16, np.float64, np.int8, np.int16, np.int32, np.int64):
    writer.add_tensor(np.dtype(kind).name, np.arange(2).astype(kind))
for kind in ("BF16", "Q4_0", "Q4_1", "Q8_0"):
    kind = gguf.GGMLQuantizationType[kind]
    writer.add_tensor(kind.name, gguf.quants.quantize(np.linspace(-1, 1, 32, dtype=np.float32)[None], kind), raw_dtype=kind)
writer.add_tensor("Q4_K", np.zeros((1, 144), np.uint8), raw_dtype=gguf.GGMLQuantizationType.Q4_K)
writer.write_header_to_file(), writer.write_kv_data_to_file(), writer.write_tensors_to_file(), writer.close()
put("gguf", "types", (FOLDER / "g.gguf").read_bytes())
(FOLDER / "g.gguf").unlink()


def whole_model(name, keys, shapes, file=None, width=4, hidden=6, pre="gpt-2", bos=False):
    """A model with all its tensors: every number is different. Rows of 32 are Q4_1."""
    writer = gguf.GGUFWriter(FOLDER / "g.gguf", name)
    for key, value in {"embedding_length": width, "attention.head_count": 2, "block_count": 1, "context_length": 3, "feed_forward_length": hidden}.items():
        writer.add_uint32(f"{name}.{key}", value)
    if bos:
        writer.add_bos_token_id(3), writer.add_add_bos_token(True)
    for key, value in keys.items():
        writer.add_float32(key, value) if isinstance(value, float) else writer.add_uint32(key, value)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(["a", "b", "ab", "<|endoftext|>"])
    writer.add_token_types([1, 1, 1, 3])
    writer.add_token_merges(["a b"])
    writer.add_eos_token_id(3)
    q4_1 = gguf.GGMLQuantizationType.Q4_1
    for i, (tensor, shape) in enumerate(shapes.items()):
        numbers = np.sin(np.arange(np.prod(shape), dtype=np.float32) + i).reshape(shape)
        packed = len(shape) == 2 and shape[1] % 32 == 0
        writer.add_tensor(tensor, gguf.quants.quantize(numbers, q4_1) if packed else numbers, raw_dtype=q4_1 if packed else None)
    writer.write_header_to_file(), writer.write_kv_data_to_file(), writer.write_tensors_to_file(), writer.close()
    put("gguf", file or f"whole_{name}", (FOLDER / "g.gguf").read_bytes())
    (FOLDER / "g.gguf").unlink()


whole_model("llama", {"llama.attention.head_count_kv": 1, "llama.attention.layer_norm_rms_epsilon": 1e-5}, {
    "token_embd.weight": (4, 4), "blk.0.attn_norm.weight": (4,), "blk.0.attn_q.weight": (4, 4), "blk.0.attn_k.weight": (2, 4),
    "blk.0.attn_v.weight": (2, 4), "blk.0.attn_output.weight": (4, 4), "blk.0.ffn_norm.weight": (4,), "blk.0.ffn_gate.weight": (6, 4),
    "blk.0.ffn_up.weight": (6, 4), "blk.0.ffn_down.weight": (4, 6), "output_norm.weight": (4,), "output.weight": (4, 4)})
whole_model("llama", {"llama.attention.head_count_kv": 1, "llama.attention.layer_norm_rms_epsilon": 1e-5}, {
    "token_embd.weight": (4, 32), "blk.0.attn_norm.weight": (32,), "blk.0.attn_q.weight": (32, 32), "blk.0.attn_k.weight": (16, 32),
    "blk.0.attn_v.weight": (16, 32), "blk.0.attn_output.weight": (32, 32), "blk.0.ffn_norm.weight": (32,), "blk.0.ffn_gate.weight": (6, 32),
    "blk.0.ffn_up.weight": (6, 32), "blk.0.ffn_down.weight": (32, 6), "output_norm.weight": (32,)}, "packed_llama", 32, pre="smollm", bos=True)
whole_model("gpt2", {"gpt2.attention.layer_norm_epsilon": 1e-5}, {
    "token_embd.weight": (4, 4), "position_embd.weight": (3, 4), "output_norm.weight": (4,), "output_norm.bias": (4,),
    **{f"blk.0.{name}.{end}": shape if end == "weight" else shape[:1] for end in ("weight", "bias") for name, shape in {
        "attn_norm": (4,), "attn_qkv": (12, 4), "attn_output": (4, 4), "ffn_norm": (4,), "ffn_up": (6, 4), "ffn_down": (4, 6)}.items()}})

put("tokenizer", "bpe", json.dumps({
    "added_tokens": [{"id": 3, "content": "<s>", "special": True}], "normalizer": None,
    "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Digits", "individual_digits": True}, {"type": "ByteLevel"}]},
    "post_processor": {"type": "ByteLevel"}, "decoder": {"type": "ByteLevel"},
    "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}}))
put("tokenizer", "words", json.dumps({"model": {"type": "WordLevel", "vocab": {"<PAD>": 0, "<UNK>": 1}, "unk_token": "<UNK>"}}))
llama = {"model_type": "llama", "hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2,
         "num_key_value_heads": 1, "vocab_size": 4, "rope_parameters": {"rope_type": "default", "rope_theta": 1e4}, "eos_token_id": [2]}
put("hf_config", "llama", json.dumps(llama))
put("hf_config", "gpt2", json.dumps({"model_type": "gpt2", "n_embd": 8, "n_head": 2, "n_layer": 1, "n_positions": 4,
                                     "vocab_size": 4, "activation_function": "gelu"}))
bytes_of_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
template = {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [], "special_tokens": {"<s>": {"id": "<s>", "ids": [3], "tokens": ["<s>"]}}}
put("tokenizer", "added", json.dumps({
    "added_tokens": [{"id": 3, "content": "<s>", "special": True, "lstrip": True, "rstrip": True},
                     {"id": 4, "content": "12", "single_word": True, "normalized": True}], "normalizer": None,
    "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
        {"type": "Split", "pattern": {"Regex": "[a-z]+|\\s+"}, "behavior": "Isolated", "invert": False},
        {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithNext", "invert": False}, bytes_of_level]},
    "post_processor": template, "decoder": {"type": "ByteLevel"},
    "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]], "unk_token": "a"}}))
put("tokenizer", "tiktoken", "".join(f"{base64.b64encode(bytes([i])).decode()} {i}\n" for i in range(256)) + "YWI= 256\n")
letters = [*map(chr, [*range(33, 127), *range(161, 173), *range(174, 256), *range(256, 324)])]  # the 256 bytes
put("tokenizer", "pair", json.dumps({letter: i for i, letter in enumerate([*letters, "ab"])}) + "\0#version: 0.2\na b\n")
put("hf_config", "generation", json.dumps({"bos_token_id": 1, "eos_token_id": [2, 3]}))
put("hf_config", "index", json.dumps({"weight_map": {"a": "x.safetensors", "b": "y.safetensors"}}))
put("token_bin", "plain", struct.pack("<4H", 1, 2, 3, 299))
put("token_bin", "header", struct.pack("<3I", 20240520, 7, 2) + bytes(1012) + struct.pack("<2I", 5, 6))
numbers = 12 + 4 + 16 + 8 + 8 + 16 + 4 + 16 + 16 + 16 + 4 + 4  # the tables of docs/formats/llama2c.md
put("llama2c", "one", struct.pack("<7i", 4, 4, 1, 2, 1, 3, 2) + np.ones(numbers, np.float32).tobytes())
shapes = {"transformer.wte.weight": (3, 4), "transformer.wpe.weight": (2, 4), "transformer.ln_f.weight": (4,), **{
    f"transformer.h.0.{name}.weight": shape for name, shape in {
        "ln_1": (4,), "attn.c_attn": (12, 4), "attn.c_proj": (4, 4), "ln_2": (4,), "mlp.c_fc": (16, 4), "mlp.c_proj": (4, 16)}.items()}}
arguments = {"n_layer": 1, "n_head": 2, "n_embd": 4, "block_size": 2, "vocab_size": 3, "bias": False}
weights = {name: np.sin(np.arange(np.prod(shape), dtype=np.float32)).reshape(shape) for name, shape in shapes.items()}
put("nanogpt", "one", save(weights, {"model_args": json.dumps(arguments)}))
put("nanogpt", "tied", save({**weights, "lm_head.weight": weights["transformer.wte.weight"]}, {"model_args": json.dumps(arguments)}))
adapter = {"peft_type": "LORA", "task_type": "CAUSAL_LM", "r": 2, "lora_alpha": 4, "target_modules": ["q_proj", "v_proj"], "bias": "none",
           "lora_dropout": 0.1, "init_lora_weights": "gaussian", "rank_pattern": {}, "use_dora": False, "peft_version": "0.21.2", "new": [1]}
layer = "base_model.model.model.layers.0.self_attn."
put("peft", "llama", json.dumps(adapter).encode() + b"\0" + save({
    f"{layer}{name}.lora_{end}.weight": np.ones(shape, np.float32) for name, out in (("q_proj", 4), ("v_proj", 4))
    for end, shape in (("A", (2, 4)), ("B", (out, 2)))}, {"format": "pt"}))
put("peft", "variants", json.dumps({**adapter, "use_dora": True, "rank_pattern": {"q_proj": 3}, "init_lora_weights": "pissa"}) + "\0")
