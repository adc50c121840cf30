"""What Hugging Face's `tokenizers` and `tiktoken` make of hostile text: merges trained by BpeTrainer and the ids of each
text, for GPT-2's pattern, GPT-4's as published, and GPT-4's as tiktoken writes it today. usage: hf_bpe.py [OUTPUT FOLDER]

The texts are written out here or drawn from the characters assigned in Unicode 14 (Python 3.11's tables); the tokenizers
are trained on all of them in one string. With the shared data folder at hand (TRIL_SHARED) also on tinyshakespeare.txt.
tests/data/bpe_tokenizer.json, which tril wrote (GPT-4's pattern, 420 ids, the same texts), is read and used as well.
"""
import base64
import hashlib
import json
import os
import pathlib
import random
import sys
import unicodedata

os.environ["RAYON_NUM_THREADS"] = "1"
import tiktoken
import tokenizers
from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

HERE = pathlib.Path(__file__).resolve().parent
SHARED = pathlib.Path(os.environ.get("TRIL_SHARED", HERE / "../../../shared"))
END = "<|endoftext|>"
assert unicodedata.unidata_version == "14.0.0", "the random texts come from Unicode 14: use Python 3.11"

GPT4 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
        r"|\s*[\r\n]+|\s+(?!\S)|\s+")
# tiktoken's spellings, and GPT-4's with the end of the text written as Oniguruma reads it.
GPT2_TIKTOKEN = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
GPT4_TIKTOKEN = (r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
                 r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s")
GPT4_END = GPT4.replace(r"|\s*[\r\n]+", r"|\s+\z|\s*[\r\n]+")
PATTERNS = {"gpt2": (None, GPT2_TIKTOKEN), "gpt4": (GPT4, GPT4), "gpt4_tiktoken": (GPT4_END, GPT4_TIKTOKEN)}

WRITTEN = [
    "", " ", "a", "hello\nworld", "a   b", "  two  leading", "trailing   ", "a \n", "a\n  ", "a\n \n  \nb", "\r\n\r\n x\r", "\t\tx\t1",
    "don't DON'T we'Ll 'twas I'D 'S's' x'\u017f 've'", "' s '\u017f", "3.14159 1234567 \u0661\u0662\u0663\u0664 \u2160\u2161 x1y22z333",
    "a\u0085b\u00a0c\u1680d\u180ee\u2000f\u2028g\u2029h\u202fi\u205fj\u3000k\u200bl\ufeffm", "\u3000\u3000x \u00a0 y\u2003\n\u2003z",
    "caf\u00e9 cafe\u0301 \u212b \u1e9e \u01c5 \u0130\u0131", "\u0939\u093f\u0928\u094d\u0926\u0940 \u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35 \u05e9\u05b8\u05c1\u05dc\u05d5\u05b9\u05dd",
    "\u6211\u559c\u6b22\u5c0f\u72d0\u72f8\u3002\u96ea\u304c\u964d\u308b \ud55c\uad6d\uc5b4 \u1112\u1161\u11ab",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f3f3\ufe0f\u200d\U0001f308 \U0001f1e9\U0001f1ea \U0001f44d\U0001f3fd",
    "x\u0301\u0302\u0303 \u0301y 1\u0301 \u20e3", "nul\x00nul \x01\x7f\x1b[0m", END + " <|endoftext|" + END, "for (int i=0;i<10;++i) {\n    x[i] = -i;\n}\n",
    "a" * 3000, "ab" * 1000, " " * 700 + "x", "\n" * 300, "\u0301" * 300, "'" * 100, "1" * 100, "\U0001f600" * 60,
]


def drawn():
    rng = random.Random(41)
    assigned = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000 and unicodedata.category(chr(c)) not in ("Cn", "Co")]
    few = [c for c in assigned if not "\u3400" <= c <= "\ud7ff" and c < "\U00017000"]  # without the large blocks
    small = list("abcXYZ019 '\n\r\t.,!?-") + ["'s", "'LL", "'Ve", "  ", "\r\n", "   \n "]
    odd = [c for c in assigned if unicodedata.category(c)[0] in "ZCN"]
    for kind in range(240):
        pool = (small, assigned, few, odd)[kind % 4]
        yield "".join(rng.choice(pool) if rng.random() < 0.6 else rng.choice(small) for _ in range(rng.randrange(1, 30)))


def trained(text, size, source):
    tokenizer = Tokenizer(models.BPE())
    bytes_only = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=source is None)
    split = [] if source is None else [pre_tokenizers.Split(Regex(source), "isolated")]
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(split + [bytes_only])
    # One special token, as tril counts its end token in the size.
    tokenizer.train_from_iterator([text], trainers.BpeTrainer(
        vocab_size=size, special_tokens=[END], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    return json.loads(tokenizer.to_str())


def renumbered(file):
    """Ids as tril and GPT-2 give them: bytes, merges, then the end token."""
    vocabulary = {t: i - 1 for t, i in file["model"]["vocab"].items() if t != END}
    file["model"]["vocab"] = vocabulary
    file["added_tokens"][0]["id"] = len(vocabulary)
    tokenizer = Tokenizer.from_str(json.dumps(file))
    tokenizer.encode_special_tokens = True  # a special token written out in a text is text
    return tokenizer


def tiktokens(file, source):
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    byte_of = {chr(b): b for b in printable}
    byte_of.update({chr(0x100 + i): b for i, b in enumerate(b for b in range(256) if b not in printable)})
    ranks = {bytes(byte_of[c] for c in t): i for t, i in file["model"]["vocab"].items()}
    return tiktoken.Encoding("x", pat_str=source, mergeable_ranks=ranks, special_tokens={END: len(ranks)}), ranks


def digest(ids):
    return hashlib.sha256(b"".join(i.to_bytes(4, "little") for i in ids)).hexdigest()


def read(text, size, source, tiktoken_source, inputs):
    file = trained(text, size, source)
    lines = "".join("%s %s\n" % tuple(m) for m in file["model"]["merges"])
    tokenizer = renumbered(file)
    peer, ranks = tiktokens(file, tiktoken_source)
    result = {"size": size, "merges": len(file["model"]["merges"]), "merges_sha256": hashlib.sha256(lines.encode()).hexdigest(), "ids": {}}
    for name, one in inputs.items():
        ids = tokenizer.encode(one, add_special_tokens=False).ids
        assert ids == peer.encode_ordinary(one), name  # both programs agree
        result["ids"][name] = {"count": len(ids), "sha256": digest(ids)}
    ranks_file = b"".join(base64.b64encode(t) + b" %d\n" % i for t, i in ranks.items())
    result["tiktoken_file_sha256"] = hashlib.sha256(ranks_file).hexdigest()
    return result


def read_written(path, inputs):
    """The ids that the library gives with the file that tril wrote, special tokens as text and as tokens."""
    tokenizer = Tokenizer.from_file(str(path))
    result = {"file_sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "as_text": [], "as_tokens": []}
    for key, as_text in (("as_text", True), ("as_tokens", False)):
        tokenizer.encode_special_tokens = as_text
        for text in inputs:
            ids = tokenizer.encode(text, add_special_tokens=False).ids
            assert tokenizer.decode(ids, skip_special_tokens=False) == text
            result[key].append(digest(ids))
    return result


texts = WRITTEN + list(drawn())
numbers = {
    "tokenizers": tokenizers.__version__,
    "tiktoken": tiktoken.__version__,
    "scripts": {pathlib.Path(__file__).name: hashlib.sha256(pathlib.Path(__file__).read_bytes()).hexdigest()},
    "texts": texts,
    "written": read_written(HERE.parent / "data/bpe_tokenizer.json", texts),
    "patterns": {n: read("".join(texts), 800, a, b, {str(i): t for i, t in enumerate(texts)}) for n, (a, b) in PATTERNS.items()},
}
folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
if (SHARED / "data/tinyshakespeare.txt").exists():
    files = {n: (SHARED / "data" / n).read_bytes().decode() for n in ("tinyshakespeare.txt", "tinystories.txt", "names.txt")}
    numbers["shared"] = {n: read(files["tinyshakespeare.txt"], 4096, a, b, files) for n, (a, b) in PATTERNS.items()}
entries = ",\n".join('"%s": %s' % (key, json.dumps(value)) for key, value in numbers.items())
(folder / "hf_bpe.json").write_text("{\n" + entries + "\n}\n")
