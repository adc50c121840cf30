"""What Hugging Face's `tokenizers` makes of hostile text with the files that tril writes: tests/data/word_tokenizer.json
and char_tokenizer.json. usage: hf_word_tokenizer.py [OUTPUT FOLDER]

The texts are written out here or drawn at random from the characters assigned in Unicode 14, the tables of Python 3.11;
another Python takes those that are stored.
Leaves out: 98 rare combining marks whose class the library does not know, so that it leaves them in the order given.
"""
import hashlib
import json
import pathlib
import random
import sys
import unicodedata

import tokenizers

HERE = pathlib.Path(__file__).resolve().parent

WRITTEN = [
    "", " ", "Once upon a time, there was a dog.", "Don't! It's a b'c'd dogs' 'tis ''", "x_y __init__ _", "12x34 007 3.14 $5",
    "<EOS> <PAD><BOS> <UNK> <|endoftext|> </s> [UNK]", "a\tb\nc\r\nd\re\vf\fg\x1ch\x1di\x1ej\x1fk", "nul\x00nul \x01\x7f",
    "caf\u00e9 cafe\u0301 CAFE\u0301 \u00c9", "\u0130stanbul I\u0307 \u0131 \u0130\u0327", "\u039f\u0394\u039f\u03a3 \u03a3 \u03c2",
    "\u00df \u1e9e \u01c4 \u01c5 \ufb01ne \ufb03", "\uff21\uff22\uff11\uff12 \u00b2 \u2167 \u338f \u00bd \uff76\uff9e", "\u00b4a \u00a8 \u02dc",
    "a\u0085b\u00a0c\u1680d\u2000e\u2028f\u2029g\u202fh\u205fi\u3000j", "z\u200bw\u200cj\u200dn\u2060\ufeff.",
    "\u201cHi,\u201d don\u2019t \u2026 \u2014 \u2013 \u00ab\u00bb", "\u043f\u0440\u0438\u0432\u0435\u0442 \u041c\u0418\u0420, \u0439 \u0438\u0306",
    "\u0939\u093f\u0928\u094d\u0926\u0940 \u092e\u0947\u0902 \u0967\u0968\u0969", "\u05e9\u05b8\u05c1\u05dc\u05d5\u05b9\u05dd \u0645\u0631\u062d\u0628\u0627 \u0663\u0664",
    "\u6211\u559c\u6b22\u5c0f\u72d0\u72f8\u3002\u96ea\u304c\u964d\u308b", "\ud55c\uad6d\uc5b4 \u1112\u1161\u11ab", "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f3f3\ufe0f\u200d\U0001f308 \U0001f1e9\U0001f1ea \U0001f44d\U0001f3fd",
    "a\u0301'b\u0301 '\u0301a \u0301\u0302 a'\u0301b", "=\u0338 <\u0338 \u2260", "\u0f73\u0f71\u0f72 \u212b \u2126",
    "\ufdfa", "\u32ff \ua7f2 \U00010781 \U0001f16c \U0001fbf0 \U00011935\U00011930", "\u3007 \u0bf0 \U00012400 \u2776 \u24b6",
    "\ue000 \U000f0000 \ufffd \uffff", "a" * 5000, "'" * 200, "\u0301" * 300, "a'" * 300,
]


def unknown_class(c):
    """A combining mark whose class the library's tables do not have: it stays where canonical order would move it."""
    nfkc = tokenizers.normalizers.NFKC()
    return any(unicodedata.normalize("NFKC", s) != nfkc.normalize_str(s)
               for s in ["a" + c + m for m in "\u0334\u0345"] + ["a" + m + c for m in "\u0345\u0323\u0301\u0334"])


def drawn():
    if unicodedata.unidata_version != "14.0.0":
        stored = json.loads((HERE / "hf_word_tokenizer.json").read_text())
        yield from (one["text"] for one in stored["word"][len(WRITTEN):])
        return
    rng = random.Random(14)
    assigned = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000 and unicodedata.category(chr(c)) != "Cn"]
    marks = {c for c in assigned if unicodedata.combining(c) and not unknown_class(c)}
    usable = [c for c in assigned if not unicodedata.combining(c) or c in marks]
    few = [c for c in usable if not "\u3400" <= c <= "\ud7ff" and c < "\U00017000"]  # without the large blocks
    marks = sorted(marks)
    for kind in range(360):
        pool = (usable, few, marks)[kind % 3]
        text = "".join(rng.choice(pool) if rng.random() < 0.7 else rng.choice("aE '_1.") for _ in range(rng.randrange(2, 24)))
        if kind % 3 == 2:
            text = "".join(rng.choice("aeiou=<\u05d0\u0627") + c for c in text)
        yield text


def read(tokenizer, text):
    pieces = [p for p, _ in tokenizer.pre_tokenizer.pre_tokenize_str(tokenizer.normalizer.normalize_str(text))]
    ids = tokenizer.encode(text).ids
    assert len(ids) == len(pieces)
    return {"text": text, "pieces": pieces, "ids": ids}


data = HERE.parent / "data"
word = tokenizers.Tokenizer.from_file(str(data / "word_tokenizer.json"))
char = tokenizers.Tokenizer.from_file(str(data / "char_tokenizer.json"))
lines = ["abc\n cab", "\u00e9\U0001f600\r\n\t", ""]
numbers = {
    "tokenizers": tokenizers.__version__,
    "scripts": {pathlib.Path(__file__).name: hashlib.sha256(pathlib.Path(__file__).read_bytes()).hexdigest()},
    "files": {n: hashlib.sha256((data / n).read_bytes()).hexdigest() for n in ("word_tokenizer.json", "char_tokenizer.json")},
    "word": [read(word, text) for text in WRITTEN + list(drawn())],
    "char": [{"text": t, "ids": char.encode(t).ids, "decoded": char.decode(char.encode(t).ids)} for t in lines],
}
folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
entries = ",\n".join('"%s": %s' % (key, json.dumps(value)) for key, value in numbers.items())
(folder / "hf_word_tokenizer.json").write_text("{\n" + entries + "\n}\n")
