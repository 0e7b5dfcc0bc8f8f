"""How far a median can be trusted."""

import math


def median_interval(values, confidence=0.95):
    """(low, high) between which the median of what was sampled lies with that confidence, whatever its
    distribution: values of the sample, by their ranks. All of a sample that is too small for it."""
    ordered = sorted(values)
    count = len(ordered)
    beyond, rank = 0.0, 0  # the chance that the median lies beyond the values before `rank`
    while rank < (count - 1) // 2:
        beyond += math.comb(count, rank) / 2 ** count
        if 2 * beyond > 1 - confidence:
            break
        rank += 1
    rank = max(rank - 1, 0)
    return ordered[rank], ordered[count - 1 - rank]
