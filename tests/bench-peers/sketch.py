"""What a MinHash of 128 values over runs of five words costs in rensa and datasketch.

    python sketch.py TEXTS ROUNDS

TEXTS has a zero byte behind each text. One line each: CPU microseconds a text of every round. rensa's kernel is given its
list of runs ready-made; the other two make it, as their users do.
"""

import sys
import time

import rensa
from datasketch import MinHash

WIDTH = 5
VALUES = 128


def runs(text):
    words = text.split()
    return [" ".join(words[start : start + WIDTH]) for start in range(len(words) - WIDTH + 1)]


def with_rensa(given):
    sketch = rensa.RMinHash(num_perm=VALUES, seed=42)
    sketch.update(given)
    return sketch.digest()


def with_datasketch(text):
    sketch = MinHash(num_perm=VALUES)
    given = [run.encode() for run in runs(text)]
    if given:
        sketch.update_batch(given)
    return sketch


def timed(work, items):
    begun = time.process_time()
    for item in items:
        work(item)
    return (time.process_time() - begun) * 1e6 / len(items)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        texts = file.read().split("\0")[:-1]
    given = [runs(text) for text in texts]
    contestants = {
        "rensa kernel": lambda: timed(with_rensa, given),
        "rensa": lambda: timed(lambda text: with_rensa(runs(text)), texts),
        "datasketch": lambda: timed(with_datasketch, texts),
    }
    figures = {name: [] for name in contestants}
    for _ in range(int(sys.argv[2])):
        for name, work in contestants.items():
            figures[name].append(work())
    for name, rounds in figures.items():
        print(f"{name} us:", *(f"{figure:.3f}" for figure in rounds))


main()
