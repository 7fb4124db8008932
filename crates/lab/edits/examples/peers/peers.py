"""Answers for `peers`: a line with the question, a name and the lengths in bytes of the texts that follow; a line back.

inscriptis  what changedetection.io compares by default: inscriptis' text of the page, MD5 of it without white space
datasketch  resemblance of two texts by its MinHash, 128 permutations, shingles of 5 words; and the exact one
"""

import hashlib
import re
import sys

from datasketch import MinHash
from inscriptis import get_text

WHITE_SPACE = str.maketrans("", "", "\r\n\t ")
WORD = re.compile(r"\w+")
WIDTH = 5


def inscriptis(page):
    return hashlib.md5(get_text(page).translate(WHITE_SPACE).encode()).hexdigest()


def shingles(text):
    words = WORD.findall(text.lower())
    return {" ".join(words[at : at + WIDTH]) for at in range(max(1, len(words) - WIDTH + 1))}


def sketch(shingles):
    sketch = MinHash(num_perm=128)
    sketch.update_batch([shingle.encode() for shingle in shingles])
    return sketch


def datasketch(old, new):
    old, new = shingles(old), shingles(new)
    exact = len(old & new) / len(old | new)
    return f"{sketch(old).jaccard(sketch(new))} {exact}"


QUESTIONS = {"inscriptis": inscriptis, "datasketch": datasketch}

while line := sys.stdin.buffer.readline():
    question, name, *lengths = line.decode().split()
    texts = [sys.stdin.buffer.read(int(length)).decode() for length in lengths]
    print(question, name, QUESTIONS[question](*texts))
