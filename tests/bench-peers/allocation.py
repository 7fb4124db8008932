"""How long it takes in Python to find the price at which pages spend a budget.

    python3 allocation.py PAGES ROUNDS

Optimum for the harmonic penalty (closed form of the fetch rate at a price), 0.1 fetches per page and day, rates lognormal
around 1 in 30 days, Pareto weights. Bisection of the price, once over NumPy arrays and once page by page, which is the
form that research code has. One line each: CPU seconds (NumPy) and microseconds a page (plain) of every round.
"""

import math
import sys
import time

import numpy as np


def population(pages):
    random = np.random.default_rng(1)
    rates = np.clip(np.exp(random.normal(math.log(1 / 30), 2.0, pages)), 1e-5, 24.0)
    weights = np.minimum(1.0 + random.pareto(1.5, pages), 1e3)
    return rates, weights / weights.mean()


def with_numpy(rates, weights, budget):
    low, high = 1e-9, 1e9
    while high / low > 1.0 + 1e-6:
        price = math.sqrt(low * high)
        if ((np.sqrt(rates * rates + 4.0 * weights * rates / price) - rates) / 2.0).sum() > budget:
            low = price
        else:
            high = price
    return high


def page_by_page(rates, weights, budget):
    low, high = 1e-9, 1e9
    while high / low > 1.0 + 1e-6:
        price = math.sqrt(low * high)
        spent = 0.0
        for rate, weight in zip(rates, weights):
            spent += (math.sqrt(rate * rate + 4.0 * weight * rate / price) - rate) / 2.0
        if spent > budget:
            low = price
        else:
            high = price
    return high


def timed(work, rates, weights):
    begun = time.process_time()
    price = work(rates, weights, 0.1 * len(rates))
    return time.process_time() - begun, price


pages, rounds = int(sys.argv[1]), int(sys.argv[2])
rates, weights = population(pages)
vectors = [timed(with_numpy, rates, weights) for _ in range(rounds)]
few = 20_000
loops = [timed(page_by_page, rates[:few].tolist(), weights[:few].tolist()) for _ in range(rounds)]
_, price = timed(with_numpy, rates[:few], weights[:few])
assert abs(loops[0][1] / price - 1.0) < 1e-5, "both must find the same price"
print("numpy s:", *(f"{seconds:.6f}" for seconds, _ in vectors))
print("plain us:", *(f"{1e6 * seconds / few:.3f}" for seconds, _ in loops))
