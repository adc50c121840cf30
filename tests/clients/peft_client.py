"""peft (over transformers) and tril fine-tune the same model from the same adapter on the same batches: the losses are
equal, each reads the other's adapter, and the merged model goes out as GGUF. Dropout is 0; SmolLM2-135M-Instruct (Q4_1)
is turned into f32 by each program itself. usage: peft_client.py FOLDER (an empty one, to work in)."""
import importlib.util
import json
import os
import pathlib
import sys
import warnings

os.environ.setdefault("TQDM_DISABLE", "1")

import peft
import torch
import transformers
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import AutoModelForCausalLM, GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

from common import LIMIT, ROOT, difference, finish, logits, smollm2_path, tell, train, tril

warnings.simplefilter("ignore")
transformers.utils.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()
torch.set_num_threads(1)
NAME = f"peft {peft.__version__}"
TEXT = "Once there was a small dog. It ran to the 123 houses, didn't it?\n"
SHARED = pathlib.Path(os.environ.get("TRIL_SHARED", ROOT.parent / "shared"))
STEPS, BATCH, SEED, RATE, DECAY, CLIP = 20, 4, 5, 1e-3, 0.1, 1.0


def text_file(folder):
    """The first part of tinystories.txt, or tales where there is none."""
    path, shared = folder / "text.txt", SHARED / "data/tinystories.txt"
    if shared.exists():
        path.write_text(shared.read_bytes()[:60000].decode(errors="ignore").replace("<|endoftext|>", ""))
    else:
        tales = tril("data", "tales", "--count", 200, "--seed", 3, quiet=False)
        path.write_text(tales)
    return path


def fine_tune(base, text, out, block, *settings):
    """tril's run: all text trains, in one stream; AdamW on A and B."""
    values = {"train.seed": SEED, "train.batch": BATCH, "train.block": block, "train.learning_rate": RATE,
              "train.weight_decay": DECAY, "train.clip": CLIP, "train.log_every": 1, "data.split": "none",
              "data.documents": "whole"}
    values.update(setting.split("=", 1) for setting in settings)
    options = [word for key, value in values.items() for word in ("--set", f"{key}={value}")]
    done = tril("train", "--from", base, "--data", text, "--out", out, "--steps", STEPS, *options)
    lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    return done, [line["train_batch_loss"] for line in lines]


def batches(run, text, block):
    """The batches that tril draws: starts by randint(0, starts - 1) of the generator seeded train.seed, which an adapter
    that is given leaves untouched. One document is one stream, without an end token behind it."""
    ids = torch.tensor(tril("data", "tokenize", text, "--tokenizer", run)["ids"])
    targets = json.loads((run / "data.json").read_text())["audit"]["targets"]["train"]
    assert len(ids) == targets + 1, (len(ids), targets)
    generator = torch.Generator().manual_seed(SEED)
    for _ in range(STEPS):
        at = torch.randint(0, len(ids) - block - 1, (BATCH,), generator=generator).tolist()
        yield torch.stack([ids[i:i + block] for i in at]), torch.stack([ids[i + 1:i + 1 + block] for i in at])


def their_losses(model, run, text, block):
    model.train()
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=RATE, weight_decay=DECAY)
    losses = []
    for x, y in batches(run, text, block):
        out = model(x).logits
        loss = torch.nn.functional.cross_entropy(out.flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(trained, CLIP)
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    return losses


def compare_losses(what, ours, theirs):
    apart = max(abs(a - b) for a, b in zip(ours, theirs))
    tell(NAME, f"{what}: {len(ours)} losses", len(ours) == len(theirs) == STEPS and apart <= LIMIT,
         f"largest difference {apart:.2e}, limit {LIMIT:.0e}; from {ours[0]:.4f} to {ours[-1]:.4f}")


def compare_logits(what, run, model, ids):
    with torch.no_grad():
        theirs = model(torch.tensor([ids])).logits[0].double().tolist()
    largest, scale = difference(logits(run, TEXT), theirs)
    tell(NAME, f"{what}: logits", largest <= LIMIT * scale, f"largest difference {largest:.2e}, limit {LIMIT * scale:.1e}")


def ids_of(run):
    path = run.parent / "prompt.txt"
    path.write_text(TEXT)
    return tril("data", "tokenize", path, "--tokenizer", run)["ids"]


def exported(run, out, *more):
    tril("export", run, "--out", out, *more)
    return out


def new_adapter(model, folder, targets):
    """A fresh adapter of peft's: A drawn, B zero."""
    torch.manual_seed(11)
    adapted = get_peft_model(model, LoraConfig(r=8, lora_alpha=16, lora_dropout=0.0, target_modules=targets,
                                               fan_in_fan_out="c_attn" in targets, task_type="CAUSAL_LM"))
    adapted.save_pretrained(folder)
    return adapted


def both_ways(what, folder, base, open_base, targets, block):
    """tril from peft's adapter, and both from the adapter that tril then saved."""
    text = text_file(folder)
    adapted = new_adapter(open_base(), folder / f"{what}-fresh", targets)
    done, ours = fine_tune(base, text, folder / f"{what}-run", block, f"lora.adapter={folder / f'{what}-fresh'}")
    run = pathlib.Path(done["run"])
    count = sum(p.numel() for p in adapted.parameters() if p.requires_grad)
    tell(NAME, f"{what}: trained parameters", done["trained_parameters"] == count, f"{count} of {done['parameters']}")
    compare_losses(f"{what}, from peft's adapter", ours, their_losses(adapted, run, text, block))

    saved = exported(run, folder / f"{what}-saved", "--to", "peft")
    ids = ids_of(run)
    loaded = PeftModel.from_pretrained(open_base(), saved, is_trainable=True)
    compare_logits(f"{what}, tril's adapter in peft", run, loaded.eval(), ids)
    again, ours = fine_tune(base, text, folder / f"{what}-again", block, f"lora.adapter={saved}")
    compare_losses(f"{what}, from tril's adapter", ours, their_losses(loaded, pathlib.Path(again["run"]), text, block))
    return run, ids


def random_model(model, folder, tokenizer_from):
    """Weights of a size that makes the logits differ, saved with a tokenizer of tril's."""
    torch.manual_seed(7)
    for name, parameter in model.named_parameters():
        gain = "norm" in name or ".ln_" in name and "weight" in name
        torch.nn.init.normal_(parameter, mean=1.0 if gain else 0.0, std=0.1)
    model.eval().save_pretrained(folder)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).write_bytes((tokenizer_from / name).read_bytes())
    return lambda: AutoModelForCausalLM.from_pretrained(folder)


def small_models(folder):
    own = exported(train(folder, "gpt2", "model.heads=4", "model.bias=true", "model.attention_bias=true",
                         "model.activation=gelu_tanh", steps=1), folder / "own-hf", "--to", "hf")
    size = json.loads((own / "config.json").read_text())["vocab_size"]
    small = dict(vocab_size=size, bos_token_id=None, eos_token_id=size - 1)
    gpt2 = GPT2LMHeadModel(GPT2Config(n_positions=64, n_embd=48, n_layer=2, n_head=3, resid_pdrop=0, embd_pdrop=0,
                                      attn_pdrop=0, **small))
    llama = LlamaForCausalLM(LlamaConfig(max_position_embeddings=64, hidden_size=48, intermediate_size=96,
                                         num_hidden_layers=2, num_attention_heads=6, num_key_value_heads=2, **small))
    for what, model, targets in (("GPT-2", gpt2, ["c_attn"]), ("GPT-2, all layers", gpt2, ["c_attn", "c_proj", "c_fc"]),
                                 ("Llama", llama, ["q_proj", "v_proj"]),
                                 ("Llama, all layers", llama, ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj",
                                                               "up_proj", "down_proj"])):
        base = folder / f"{what}-base"
        open_base = random_model(model, base, own)
        run, ids = both_ways(what, folder, base, open_base, targets, 32)
        merged = exported(run, folder / f"{what}-merged", "--to", "hf", "--merge")
        compare_logits(f"{what}, merged by tril", run, AutoModelForCausalLM.from_pretrained(merged).eval(), ids)


def interleaved(folder):
    """A run of tril's whose rotary pairs are neighbours: its Q and K rows, and their rows of B, change places."""
    base = train(folder, "llama-interleaved", "model.heads=6", "model.kv_heads=3", "model.rope_pairing=interleaved",
                 "data.vocabulary=320")
    there = exported(base, folder / "interleaved-hf", "--to", "hf")
    done, _ = fine_tune(base, text_file(folder), folder / "interleaved-run", 32, "lora.rank=4",
                        "lora.targets=q_proj,k_proj,v_proj")
    run = pathlib.Path(done["run"])
    saved = exported(run, folder / "interleaved-saved", "--to", "peft")
    ids = ids_of(run)
    loaded = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(there), saved).eval()
    compare_logits("interleaved Llama of tril's, its adapter in peft", run, loaded, ids)


def smollm2(folder):
    path = smollm2_path()
    if path is None:
        return

    def open_base():
        return AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.float32).eval()

    text, block = text_file(folder), 64
    planned = tril("train", "--from", path, "--data", text, "--set", "lora.rank=8", "--set", f"train.block={block}",
                   "--dry-run")["planned_bytes"]
    adapted = new_adapter(open_base(), folder / "smollm2-fresh", ["q_proj", "v_proj"])
    done, ours = fine_tune(path, text, folder / "smollm2-run", block, f"lora.adapter={folder / 'smollm2-fresh'}")
    tell("tril", "SmolLM2 (Q4_1), rank 8: memory", done["peak_bytes"] <= 1.1 * planned,
         f"{planned / 1e9:.2f} GB planned before, {done['peak_bytes'] / 1e9:.2f} GB taken")
    compare_losses("SmolLM2 (Q4_1), rank 8, from peft's adapter", ours,
                   their_losses(adapted, folder / "smollm2-run", text, block))
    saved = exported(folder / "smollm2-run", folder / "smollm2-saved", "--to", "peft")
    ids = ids_of(folder / "smollm2-run")
    loaded = PeftModel.from_pretrained(open_base(), saved).eval()
    compare_logits("SmolLM2, tril's adapter in peft", folder / "smollm2-run", loaded, ids)
    llama_cpp(folder, exported(folder / "smollm2-run", folder / "tuned.gguf", "--to", "gguf", "--merge"), ids)


def llama_cpp(folder, path, ids):
    """The merged model in llama.cpp: its logits are the run's."""
    if importlib.util.find_spec("llama_cpp") is None:
        tell("llama-cpp-python", "SmolLM2 fine-tuned, merged, as GGUF", False, "not installed: scripts/setup_peers.sh llama")
        return
    import llama_cpp
    model = llama_cpp.Llama(str(path), n_ctx=64, n_batch=64, logits_all=True, verbose=False, n_threads=2, seed=0,
                            type_k=llama_cpp.GGML_TYPE_F32, type_v=llama_cpp.GGML_TYPE_F32)
    model.eval(ids)
    theirs = [row.tolist() for row in model.scores[:len(ids)].astype("float64")]
    largest, scale = difference(logits(folder / "smollm2-run", TEXT), theirs)
    tell(f"llama-cpp-python {llama_cpp.__version__}", "SmolLM2 fine-tuned, merged, as GGUF: logits",
         largest <= LIMIT * scale, f"largest difference {largest:.2e}, limit {LIMIT * scale:.1e}")


def main():
    folder = pathlib.Path(sys.argv[1])
    small_models(folder)
    interleaved(folder)
    smollm2(folder)
    finish()


main()
