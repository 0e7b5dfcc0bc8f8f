"""python3 -B intervals_test.py"""

import unittest

from intervals import median_interval


class MedianInterval(unittest.TestCase):
    """Against the table of the sign test: of 15 values the 4th and the 12th, of 9 the 2nd and the 8th."""

    def test_is_of_ranks(self):
        for count, low in ((6, 1), (9, 2), (15, 4), (25, 8)):
            values = list(range(count, 0, -1))
            self.assertEqual(median_interval(values), (low, count + 1 - low), count)

    def test_of_few_values_it_is_all(self):
        self.assertEqual(median_interval([3.0]), (3.0, 3.0))
        self.assertEqual(median_interval([3.0, 1.0, 2.0]), (1.0, 3.0))
        self.assertEqual(median_interval([4, 3, 1, 2, 5]), (1, 5))


if __name__ == "__main__":
    unittest.main()
