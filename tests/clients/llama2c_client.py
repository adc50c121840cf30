"""llama2.c's own program, run.c built, writes the same greedy text from the .bin that tril exports, and tril from the .bin
read back. usage: llama2c_client.py FOLDER RUN (an empty folder to work in; the program)."""
import json
import pathlib
import re
import struct
import subprocess
import sys

from common import finish, greedy, tell, train, tril

NAME = "llama2.c's run"
NEW = 48
BEGIN = 1  # where run.c starts, and where it stops


def token_file(path, count):
    """A tokenizer.bin whose tokens are their own ids in brackets, so that run's text tells the ids."""
    with open(path, "wb") as file:
        file.write(struct.pack("<i", 16))
        for i in range(count):
            text = f"[{i}]".encode()
            file.write(struct.pack("<fi", 0.0, len(text)) + text)


def their_ids(program, model, tokens):
    done = subprocess.run([program, model, "-t", "0", "-n", str(NEW), "-z", tokens], capture_output=True, text=True, check=True)
    return [int(found) for found in re.findall(r"\[(\d+)\]", done.stdout)]


def main():
    folder, program = pathlib.Path(sys.argv[1]), sys.argv[2]
    settings = ("model.heads=4", "model.d_model=64")
    for what, more in (("tied", ("model.kv_heads=4",)), ("untied, 2 of 4 key/value heads", ("model.kv_heads=2", "model.tied=false"))):
        run = train(folder, f"llama-{len(more)}", *settings, *more, steps=40)
        out = folder / f"{run.name}.bin"
        tril("export", run, "--to", "llama2c", "--out", out)
        vocabulary = json.loads((run / "tokenizer.json").read_text())["model"]["vocab"]
        token_file(folder / "tokens.bin", len(vocabulary) + 1)
        prompt = next(token for token, i in vocabulary.items() if i == BEGIN)
        theirs = their_ids(program, out, folder / "tokens.bin")
        again = folder / f"{run.name}-again"
        tril("import", out, "--out", again, "--tokenizer", run / "tokenizer.json")
        for name, model in (("exported", run), ("imported", again)):
            ours = greedy(model, prompt, NEW)
            ours = ours[:ours.index(BEGIN)] if BEGIN in ours else ours
            count = min(len(ours), len(theirs))
            tell(NAME, f"{name} {what}: greedy text", count > 0 and ours[:count] == theirs[:count],
                 f"{count} tokens equal" if ours[:count] == theirs[:count] else f"{ours} and {theirs}")
    finish()


main()
