"""What messages cost beyond what brpc costs by itself. Pure functions over slices.

brpc's own share is measured in heap mode in the same rounds: once with empty requests, once with the
same bytes as an attachment. It is subtracted within a round, and so are ratios taken.
"""

from dataclasses import replace
from statistics import median

import stats
from brpc_plan import FRAMEWORK, MESSAGES
from plan import BASELINE

RIVAL = "brpc_arena"


def _beyond(cell, slices, framework):
    """CPU per request beyond the framework's, round by round."""
    fixed = slices[replace(cell, workload=framework, mode=BASELINE)]
    return [stats.cpu_us(mine) - stats.cpu_us(base) for mine, base in zip(slices[cell], fixed)]


def _ratio(mine, others):
    """The median of the rounds' ratios; None where the other's cost drowned in noise."""
    ratios = [a / b for a, b in zip(mine, others) if b > 0]
    return round(median(ratios), 3) if ratios else None


def entry(cell, slices, counts):
    """One line of the table."""
    rivals = {"heap": replace(cell, mode=BASELINE), RIVAL: replace(cell, mode=RIVAL)}
    made = {"allocator": cell.allocator, "mode": cell.mode,
            "cpu_us": round(median(stats.cpu_us(r) for r in slices[cell]), 1)}
    for framework in FRAMEWORK:
        short = "attached" if framework == "terms_attached" else framework
        beyond = _beyond(cell, slices, framework)
        made[f"cpu_us_beyond_{short}"] = round(median(beyond), 1)
        for name, rival in rivals.items():
            made[f"beyond_{short}_to_{name}"] = (
                _ratio(beyond, _beyond(rival, slices, framework)) if rival in slices else None)
    versus = stats.comparison(cell, slices[cell], slices[rivals["heap"]])
    allocs = counts.get(stats.count_key(cell))
    passed = counts.get(("terms_attached", BASELINE, cell.language))
    return {**made, "p99_to_heap": versus["p99_to_heap"], "rss_to_heap": versus["rss_to_heap"],
            "heap_allocs": allocs,
            "heap_allocs_beyond_attached": None if None in (allocs, passed) else allocs - passed}


def entries(slices, counts):
    """The table's lines, in the order of the run."""
    return [entry(cell, slices, counts) for cell in slices if cell.workload == MESSAGES]
