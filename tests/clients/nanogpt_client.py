"""nanoGPT's own model.py loads what tril exports under its names and gives the same logits, and tril imports its weights.
usage: nanogpt_client.py FOLDER MODEL.PY (an empty folder to work in; the file)."""
import importlib.util
import json
import pathlib
import sys

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from common import LIMIT, difference, finish, logits, tell, train, tril

NAME = "nanoGPT's model.py"
TEXT = "Once there was a small dog. It ran to the 123 houses, didn't it?\n"


def their_logits(model, ids):
    with torch.no_grad():
        return model(ids, ids)[0][0].double().tolist()  # with targets it gives every position's logits


def main():
    folder, source = pathlib.Path(sys.argv[1]), sys.argv[2]
    spec = importlib.util.spec_from_file_location("nanogpt_model", source)
    nanogpt = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = nanogpt
    spec.loader.exec_module(nanogpt)
    torch.set_num_threads(1)
    for bias in ("true", "false"):
        run = train(folder, f"gpt-{bias}", "model.heads=4", "model.hidden=192", f"model.bias={bias}", f"model.attention_bias={bias}", "model.activation=gelu")
        out = folder / f"{run.name}.safetensors"
        tril("export", run, "--to", "nanogpt", "--out", out)
        with safe_open(out, "pt") as file:
            arguments = json.loads(file.metadata()["model_args"])
        model = nanogpt.GPT(nanogpt.GPTConfig(**arguments)).eval()
        lacking = model.load_state_dict(load_file(out), strict=False)
        what = f"bias {bias}"
        tell(NAME, f"exported, {what}: weights", not lacking.unexpected_keys and lacking.missing_keys == ["lm_head.weight"],
             f"missing {lacking.missing_keys} (tied), unexpected {lacking.unexpected_keys}")
        path = folder / "text.txt"
        path.write_text(TEXT)
        ids = torch.tensor([tril("data", "tokenize", path, "--tokenizer", run)["ids"]])
        largest, scale = difference(logits(run, TEXT), their_logits(model, ids))
        tell(NAME, f"exported, {what}: logits", largest <= LIMIT * scale, f"largest difference {largest:.2e}, limit {LIMIT * scale:.1e}")

        torch.manual_seed(7)
        for parameter in model.parameters():
            torch.nn.init.normal_(parameter, std=0.2)
        theirs, again = folder / "theirs.safetensors", folder / f"{run.name}-theirs"
        weights = {name: value.contiguous() for name, value in model.state_dict().items() if name != "lm_head.weight"}
        save_file(weights, theirs, {"model_args": json.dumps(arguments)})
        tril("import", theirs, "--out", again, "--tokenizer", run / "tokenizer.json")
        largest, scale = difference(logits(again, TEXT), their_logits(model, ids))
        tell(NAME, f"imported, {what}: logits", largest <= LIMIT * scale, f"largest difference {largest:.2e}, limit {LIMIT * scale:.1e}")
    finish()


main()
