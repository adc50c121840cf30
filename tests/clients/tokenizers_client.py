"""Hugging Face's tokenizers and tiktoken give the ids that tril gives, on every text of the shared data folder and of its
fixtures: with tokenizers that tril trained (GPT-2's and GPT-4's pattern), and with files of theirs that tril reads (vocab.json
with merges.txt, NAME.tiktoken).
usage: tokenizers_client.py FOLDER SHARED (an empty one, to work in; and the data folder)"""
import array
import base64
import json
import os
import pathlib
import sys

os.environ["RAYON_NUM_THREADS"] = "1"
import tiktoken
import tokenizers

from common import finish, tell, tril

SHARED = pathlib.Path(sys.argv[2])
END = "<|endoftext|>"
HF, TIKTOKEN = f"tokenizers {tokenizers.__version__}", f"tiktoken {tiktoken.__version__}"
# The two patterns as their makers publish them, in words that tiktoken's engine knows.
PATTERNS = {"gpt2": r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
            "gpt4": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
                    r"|\s*[\r\n]+|\s+(?!\S)|\s+"}


def texts():
    """Every file that is UTF-8, as tril reads it (without a byte-order mark at its start); the bytes of others have no ids
    in the two libraries, which take text only."""
    for path in [*sorted((SHARED / "data").glob("*.txt")), *sorted((SHARED / "fixtures/text").glob("*.txt"))]:
        try:
            yield path, path.read_bytes().decode("utf-8").removeprefix("\ufeff")
        except UnicodeDecodeError:
            continue


def ids_of(folder, tokenizer, path):
    out = folder / "ids.bin"
    tril("data", "tokenize", path, "--tokenizer", tokenizer, "--out", out, "--bits", 32)
    ids = array.array("i")
    ids.frombytes(out.read_bytes())
    return ids.tolist()


def tiktokens(file, pattern):
    """tiktoken's own engine over the same merges: a token's bytes by its id, which is its rank."""
    alphabet = {c: b for b, c in bytes_of().items()}
    ranks = {bytes(alphabet[c] for c in token): i for token, i in file["model"]["vocab"].items()}
    return tiktoken.Encoding("tril", pat_str=PATTERNS[pattern], mergeable_ranks=ranks,
                             special_tokens={END: max(ranks.values()) + 1})


# As tiktoken itself writes the two today.
TIKTOKENS = {"r50k_base": ("gpt2", r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"),
             "cl100k_base": ("gpt4", r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
                                     r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s")}


def bytes_of():
    """GPT-2's letters for the 256 bytes: printable ones are themselves, the others follow from U+0100 on."""
    own = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in own]
    return {**{b: chr(b) for b in own}, **{b: chr(256 + i) for i, b in enumerate(others)}}


def compare_files_of_theirs(folder, source):
    """What the other two write, read by tril."""
    theirs = tokenizers.ByteLevelBPETokenizer()
    theirs.train_from_iterator([source.read_text(encoding="utf-8")], vocab_size=4096, show_progress=False)
    saved = folder / "saved"
    saved.mkdir()
    theirs.save_model(str(saved))
    wrong = [path.name for path, text in texts() if ids_of(folder, saved, path) != theirs.encode(text).ids]
    tell(HF, "its vocab.json and merges.txt", not wrong, wrong or "equal")
    for name, (pattern, spelling) in TIKTOKENS.items():
        alphabet = {c: b for b, c in bytes_of().items()}
        vocabulary = json.loads((folder / f"{pattern}.json").read_text(encoding="utf-8"))["model"]["vocab"]
        ranks = {bytes(alphabet[c] for c in token): i for token, i in vocabulary.items()}
        file = folder / f"{name}.tiktoken"
        file.write_text("".join(f"{base64.b64encode(token).decode()} {rank}\n" for token, rank in ranks.items()))
        other = tiktoken.Encoding(name, pat_str=spelling, mergeable_ranks=ranks, special_tokens={})
        wrong = [path.name for path, text in texts()
                 if len(text) < 2_000_000 and ids_of(folder, file, path) != other.encode_ordinary(text)]
        tell(TIKTOKEN, f"{name}.tiktoken", not wrong, wrong or "equal")


def main():
    folder = pathlib.Path(sys.argv[1])
    source = SHARED / "data/tinyshakespeare.txt"
    for pattern in PATTERNS:
        path = folder / f"{pattern}.json"
        tril("data", "train-tokenizer", source, "--vocab", 4096, "--pattern", pattern, "--out", path)
        theirs = tokenizers.Tokenizer.from_file(str(path))
        theirs.encode_special_tokens = True  # a special token written out in a text is text
        other = tiktokens(json.loads(path.read_text(encoding="utf-8")), pattern)
        count, wrong, wrong_there = 0, [], []
        for text_path, text in texts():
            ours = ids_of(folder, path, text_path)
            count += len(ours)
            if ours != theirs.encode(text, add_special_tokens=False).ids:
                wrong.append(text_path.name)
            # A run of one character takes that engine quadratic time, or its stack.
            if len(text) < 2_000_000 and ours != other.encode_ordinary(text):
                wrong_there.append(text_path.name)
        tell(HF, f"{pattern}, 4,096 ids", not wrong, wrong or f"{count:,} ids equal")
        tell(TIKTOKEN, f"{pattern}, 4,096 ids", not wrong_there, wrong_there or "equal")
    compare_files_of_theirs(folder, source)
    finish()


if __name__ == "__main__":
    main()
