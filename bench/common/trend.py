"""Does a series of samples grow beyond what chance explains?"""

import math
from statistics import mean, median

# Neighbouring samples are not independent; means of blocks nearly are.
BLOCKS = 10
# Two-sided 95 % quantiles of Student's t by degrees of freedom; in between the smaller one counts.
T_QUANTILES = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306,
               10: 2.228, 15: 2.131, 20: 2.086, 30: 2.042}
# Growth over the whole run below this share of the mean is no growth anybody would see.
TOLERANCE_SHARE = 0.02


def trend(samples, blocks=BLOCKS):
    """(growth, uncertainty) over the samples' whole span, in the samples' unit: the slope through
    the means of `blocks` blocks by least squares, with its 95 % half-width."""
    size = len(samples) // blocks
    if size == 0 or blocks < 3:
        raise ValueError(f"{len(samples)} samples are too few for {max(blocks, 3)} blocks")
    means = [mean(samples[i * size:(i + 1) * size]) for i in range(blocks)]
    centre = (blocks - 1) / 2
    spread = sum((i - centre) ** 2 for i in range(blocks))
    slope = sum((i - centre) * value for i, value in enumerate(means)) / spread
    level = mean(means)
    residue = sum((value - level - slope * (i - centre)) ** 2 for i, value in enumerate(means))
    error = math.sqrt(residue / (blocks - 2) / spread)
    quantile = T_QUANTILES[max(known for known in T_QUANTILES if known <= blocks - 2)]
    return slope * blocks, quantile * error * blocks


def steady_trend(samples, blocks=BLOCKS):
    """(growth, low, high) over the samples' whole span, in the samples' unit: the median slope of
    all pairs of block means, with its 95 % interval by rank (Theil, Sen). A leak shows in all
    pairs; a cache that fills once, a step, shows only in those around it."""
    size = len(samples) // blocks
    if size == 0 or blocks < 5:
        raise ValueError(f"{len(samples)} samples are too few for {max(blocks, 5)} blocks")
    means = [mean(samples[i * size:(i + 1) * size]) for i in range(blocks)]
    slopes = sorted((means[j] - means[i]) / (j - i)
                    for i in range(blocks) for j in range(i + 1, blocks))
    # Kendall's statistic is nearly normal from some ten values on.
    half = 1.96 * math.sqrt(blocks * (blocks - 1) * (2 * blocks + 5) / 18)
    low = max(0, math.floor((len(slopes) - half) / 2) - 1)
    high = min(len(slopes) - 1, math.ceil((len(slopes) + half) / 2))
    return median(slopes) * blocks, slopes[low] * blocks, slopes[high] * blocks


def grows(samples, blocks=BLOCKS):
    """True when growth is beyond chance and beyond the tolerance."""
    growth, uncertainty = trend(samples, blocks)
    return growth - uncertainty > 0 and growth > TOLERANCE_SHARE * mean(samples)
