"""How far the estimate of tokens is from the exact count: `python -m benchmarks.token_estimate`.

The arguments are the number of answers and a seed. For the texts of tests/corpus, by kind; and for answers
made of hostile texts, none of which may count less.
"""

import sys
from statistics import median

from ctxhub.core.text.token_count import count_tokens
from tests.hostile_texts import CORPUS, hostile_answers
from tests.tokens import o200k


def main(answers: int = 100_000, seed: int = 0) -> None:
    for path in sorted(CORPUS.glob("*.txt")):
        text = path.read_bytes().decode()
        print(f"{path.stem}: {count_tokens(text) / o200k(text):.2f}")
    ratios, too_low = [], []
    for text in hostile_answers(answers, seed):
        estimate, exact = count_tokens(text), o200k(text)
        ratios.append(estimate / exact)
        if estimate < exact:
            too_low.append((exact - estimate, exact, text))
    print(f"{answers} hostile answers: {min(ratios):.3f} to {max(ratios):.2f}, median {median(ratios):.2f}")
    print(f"too low: {len(too_low)}", *(f"{found}" for found in too_low[:20]), sep="\n")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
