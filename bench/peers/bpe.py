"""Byte-level BPE in Hugging Face's tokenizers and in tiktoken, on one thread: training, and encoding of the same text.

usage: bpe.py --data TEXT.txt --what training|whole|batch|tiktoken [--vocabulary 4096] [--serve]

Training is BpeTrainer over the whole text as one string with GPT-2's pattern. Encoding takes the tokenizer that was
trained: the library's on the whole text or on its paragraphs in one batch (encode_batch_fast, which leaves the offsets
out), and tiktoken's with the same ranks. Time is of the process's own clock, so that other work on the machine does not
count. `rate` is MB a second; the digests show that tril did the same work: of the lines "left right" of the merges, or of
the ids as 32-bit integers (of a batch there is none: its paragraphs are cut apart).
"""
import hashlib
import json
import os
import pathlib
import time

os.environ["RAYON_NUM_THREADS"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
import tiktoken  # noqa: E402
import tokenizers  # noqa: E402
from tokenizers import Tokenizer, models, pre_tokenizers, trainers  # noqa: E402

from peer import arguments, rounds  # noqa: E402

a = arguments(data="", what="training", vocabulary=4096).parse_args()
text = pathlib.Path(a.data).read_bytes().decode()
megabytes = len(text.encode()) / 1e6
END = "<|endoftext|>"


def train():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.train_from_iterator([text], trainers.BpeTrainer(
        vocab_size=a.vocabulary, special_tokens=[END], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False))
    return tokenizer


def with_trils_ids(tokenizer):
    """The same with ids as tril gives them: bytes, merges, then the end token, which plain text never becomes."""
    file = json.loads(tokenizer.to_str())
    file["model"]["vocab"] = {t: i - 1 for t, i in file["model"]["vocab"].items() if t != END}
    file["added_tokens"] = []
    return Tokenizer.from_str(json.dumps(file))


def for_tiktoken(tokenizer):
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    byte_of = {chr(b): b for b in printable}
    byte_of.update({chr(0x100 + i): b for i, b in enumerate(b for b in range(256) if b not in printable)})
    return tiktoken.Encoding(
        "trained", pat_str=r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s",
        mergeable_ranks={bytes(byte_of[c] for c in t): i for t, i in tokenizer.get_vocab().items()}, special_tokens={})


def digest_of_merges(tokenizer):
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    return hashlib.sha256("".join("%s %s\n" % tuple(m) for m in merges).encode()).hexdigest()


def digest_of_ids(ids):
    return hashlib.sha256(b"".join(i.to_bytes(4, "little") for i in ids)).hexdigest()


ready = with_trils_ids(train()) if a.what != "training" else None
paragraphs = text.split("\n\n")
peer = for_tiktoken(ready) if a.what == "tiktoken" else None
work, digest = {
    "training": (train, digest_of_merges),
    "whole": (lambda: ready.encode(text, add_special_tokens=False), lambda made: digest_of_ids(made.ids)),
    "batch": (lambda: ready.encode_batch_fast(paragraphs, add_special_tokens=False), lambda made: ""),
    "tiktoken": (lambda: peer.encode_ordinary(text), digest_of_ids),
}[a.what]


def run():
    start = time.process_time()
    made = work()
    seconds = time.process_time() - start
    version = "tiktoken " + tiktoken.__version__ if peer else "tokenizers " + tokenizers.__version__
    return {"rate": megabytes / seconds, "digest": digest(made), "version": version}


rounds(a, run)
