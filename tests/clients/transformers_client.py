"""transformers reads what tril exports, and tril imports what transformers saved, with the same logits, ids and
greedy text. usage: transformers_client.py FOLDER (an empty one, to work in)."""
import json
import pathlib
import shutil
import sys

import torch
import transformers
from transformers import AutoModelForCausalLM, AutoTokenizer, GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

from common import LIMIT, difference, finish, greedy, logits, tell, train, tril

transformers.utils.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()
torch.set_num_threads(1)
NAME = f"transformers {transformers.__version__}"
TEXT = "Once there was a small dog. It ran to the 123 houses, didn't it?\n"
NEW = 40


def compare(what, run, folder):
    model, info = AutoModelForCausalLM.from_pretrained(folder, output_loading_info=True)
    model.eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    ids = tokenizer(TEXT, return_tensors="pt").input_ids
    with torch.no_grad():
        theirs = model(ids).logits[0].double().tolist()
    trouble = {key: sorted(value) for key, value in info.items() if value}
    tell(NAME, f"{what}: weights", not trouble, "none missing, none unexpected" if not trouble else trouble)
    largest, scale = difference(logits(run, TEXT), theirs)
    tell(NAME, f"{what}: logits", largest <= LIMIT * scale, f"largest difference {largest:.2e}, limit {LIMIT * scale:.1e}")
    prompt = tokenizer("Once there was", return_tensors="pt").input_ids
    made = model.generate(prompt, attention_mask=torch.ones_like(prompt), do_sample=False, max_new_tokens=NEW)
    their_ids = made[0, prompt.shape[1]:].tolist()
    ends = model.generation_config.eos_token_id
    if their_ids and ends is not None and their_ids[-1] in (ends if isinstance(ends, list) else [ends]):
        their_ids.pop()  # tril does not tell the end token
    our_ids = greedy(run, "Once there was", NEW)
    tell(NAME, f"{what}: greedy text", our_ids == their_ids, f"{len(our_ids)} tokens equal" if our_ids == their_ids
         else f"{our_ids} and {their_ids}")


def save(model, folder, tokenizer_from, **options):
    model.eval().save_pretrained(folder, **options)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(tokenizer_from / name, folder / name)


def randomise(model):
    """Weights of a size that makes the logits differ (the library's own first weights give nearly equal ones)."""
    torch.manual_seed(7)
    for name, parameter in model.named_parameters():
        torch.nn.init.normal_(parameter, mean=1.0 if "norm" in name or ".ln_" in name and "weight" in name else 0.0, std=0.2)
    return model


def main():
    folder = pathlib.Path(sys.argv[1])
    gpt2 = train(folder, "gpt2", "model.heads=4", "model.bias=true", "model.attention_bias=true", "model.activation=gelu_tanh")
    plain = train(folder, "plain-gelu", "model.heads=4", "model.bias=false", "model.attention_bias=false",
                  "model.activation=gelu", "model.tied=false")
    relu2 = train(folder, "relu2", "model.heads=4", "model.activation=relu2", "model.norm_gain=false")
    llama = train(folder, "llama", "model.heads=6", "model.kv_heads=2")
    turned = train(folder, "llama-interleaved", "model.heads=6", "model.kv_heads=3", "model.tied=false",
                   "model.rope_pairing=interleaved", "model.bias=true", "model.attention_bias=true")
    for run in (gpt2, plain, relu2, llama, turned):
        out = folder / f"{run.name}-hf"
        tril("export", run, "--to", "hf", "--out", out)
        compare(f"exported {run.name}", run, out)

    tokenizer = folder / "gpt2-hf"
    size = json.loads((tokenizer / "config.json").read_text())["vocab_size"]
    small = dict(vocab_size=size, bos_token_id=None, eos_token_id=size - 1)
    models = {
        "random GPT-2": GPT2LMHeadModel(GPT2Config(n_positions=64, n_embd=48, n_layer=2, n_head=3, **small)),
        "random GPT-2, untied, gelu": GPT2LMHeadModel(GPT2Config(n_positions=64, n_embd=48, n_layer=2, n_head=3,
                                                      activation_function="gelu", tie_word_embeddings=False, **small)),
        "random Llama, 2 of 6 kv heads": LlamaForCausalLM(LlamaConfig(
            max_position_embeddings=64, hidden_size=48, intermediate_size=96, num_hidden_layers=2,
            num_attention_heads=6, num_key_value_heads=2, rope_parameters={"rope_type": "default", "rope_theta": 500000.0}, **small)),
        "random Llama, biases, head_dim 16, tied": LlamaForCausalLM(LlamaConfig(
            max_position_embeddings=64, hidden_size=48, intermediate_size=96, num_hidden_layers=2, head_dim=16,
            num_attention_heads=4, num_key_value_heads=2, attention_bias=True, mlp_bias=True, tie_word_embeddings=True, **small)),
    }
    for what, model in models.items():
        for shards in (False, True):
            out, run = folder / "saved", folder / "imported"
            save(randomise(model), out, tokenizer, **({"max_shard_size": "30KB"} if shards else {}))
            tril("import", out, "--out", run)
            compare(f"imported {what}{' (sharded)' if shards else ''}", run, out)
            shutil.rmtree(out), shutil.rmtree(run)
    half = models["random Llama, 2 of 6 kv heads"].to(torch.bfloat16)
    save(half, folder / "half", tokenizer)
    tril("import", folder / "half", "--out", folder / "half-run")
    half.float().save_pretrained(folder / "half32")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(tokenizer / name, folder / "half32" / name)
    compare("imported random Llama in bf16", folder / "half-run", folder / "half32")
    finish()


main()
