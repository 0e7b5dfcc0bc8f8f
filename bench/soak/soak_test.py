"""Tests of the soak's verdict: it must see growth, and must not see it in noise."""

import random
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import run  # noqa: E402

MEBIBYTE = 1 << 20


class TrendTest(unittest.TestCase):
    def noise(self, seed):
        dice = random.Random(seed)
        return [100 * MEBIBYTE + dice.gauss(0, 3 * MEBIBYTE) for _ in range(450)]

    def test_noise_alone_is_no_growth(self):
        for seed in range(20):
            self.assertFalse(run.grows(self.noise(seed)), seed)

    def test_a_leak_under_noise_is_growth(self):
        for seed in range(20):
            leaking = [value + i * 0.03 * MEBIBYTE for i, value in enumerate(self.noise(seed))]
            self.assertTrue(run.grows(leaking), seed)

    def test_the_size_of_the_growth_is_right(self):
        growth, uncertainty = run.trend([float(i) for i in range(1000)])
        self.assertAlmostEqual(growth, 1000, delta=1)
        self.assertLess(uncertainty, 1)

    def test_shrinking_is_no_growth(self):
        self.assertFalse(run.grows([1000.0 - i for i in range(500)]))

    def test_too_few_samples_are_refused(self):
        with self.assertRaises(ValueError):
            run.trend([1.0] * 5)


if __name__ == "__main__":
    unittest.main()
