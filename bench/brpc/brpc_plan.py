"""What a run over brpc measures: the cells, the rounds, and how long each slice lasts."""

from dataclasses import dataclass

from plan import BASELINE, Cell

MESSAGES = "terms"
# What brpc costs without messages to make: measured in heap mode.
FRAMEWORK = ("terms_attached", "empty")


@dataclass(frozen=True)
class BrpcPlan:
    """One kind of run: `rounds` slices of `seconds` for each cell."""

    name: str
    rounds: int
    seconds: float
    allocators: tuple = ("glibc", "tcmalloc", "jemalloc")
    modes: tuple = ()
    # Each of brpc's worker threads has to have had its share before allocations are counted.
    count_warm_up: int = 2000

    workloads = (MESSAGES,)

    def cells(self):
        """All cells, at one rate, in the order in which each round visits them."""
        return [cell for allocator in self.allocators for cell in
                [*(Cell(MESSAGES, mode, allocator, framework="brpc") for mode in self.modes),
                 *(Cell(name, BASELINE, allocator, framework="brpc") for name in FRAMEWORK)]]

    def counted(self, _workload):
        """The cells whose allocations are counted: one allocator stands for all."""
        return [cell for cell in self.cells() if cell.allocator == self.allocators[0]]

    def slice_seconds(self, _workload, _language="C++"):
        """How long one cell is loaded in one round."""
        return self.seconds


DEFAULT = BrpcPlan("default", rounds=6, seconds=5)
QUICK = BrpcPlan("quick", rounds=2, seconds=0.8, allocators=("glibc", "tcmalloc"),
                 count_warm_up=500)
FULL = BrpcPlan("full", rounds=10, seconds=10,
                allocators=("glibc", "tcmalloc", "jemalloc", "mimalloc"))
