"""What a run measures: workloads, allocators, rounds, and how long each slice lasts."""

from dataclasses import dataclass, field

BASELINE = "heap"
# What stands in the place of the malloc for Go's cells.
GO_ALLOCATOR = "go"
# The limit that the over-budget request meets in Go's mode codec.
BOMB_BYTES_MAX = 64 << 20
# The rate aims at this share of heap mode's core, and may not reach the limit.
BUSY_TARGET = 0.55
BUSY_LIMIT = 0.70
# Below this share of the target the rate was not held.
RATE_HELD = 0.97

# Slow requests need longer slices for as many samples.
SLICE_WEIGHTS = {"trips": 5, "ranking_200k": 4, "tile": 3, "vehicles": 2, "ranking_8k": 2}


@dataclass(frozen=True)
class Cell:
    """One thing that is measured: a server process."""

    workload: str
    mode: str
    allocator: str = "glibc"
    language: str = "C++"
    framework: str = "grpc"


@dataclass(frozen=True)
class Plan:
    """One kind of run. `load_seconds` is shared by all slices of the C++ servers, `go_load_seconds`
    by those of the Go servers. No modes: that language is left out."""

    name: str
    workloads: tuple
    rounds: int
    load_seconds: float
    allocators: tuple = ("glibc",)
    saturation: bool = False
    # The saturation section: closed loop, then a burst, then idle.
    saturation_workload: str = "ranking_200k"
    saturation_seconds: float = 3
    burst_seconds: float = 5
    idle_seconds: float = 60
    modes: tuple = field(default=())
    go_modes: tuple = field(default=())
    go_load_seconds: float = 0
    # Allocations are counted in a warm server: pools filled, profiles learned.
    count_warm_up: int = 48

    def cells(self, workload):
        """The C++ cells of one workload, in the order in which each round visits them."""
        return [Cell(workload, mode, allocator)
                for allocator in self.allocators for mode in self.modes]

    def go_cells(self, workload):
        """The Go cells likewise. Go brings its own allocator."""
        return [Cell(workload, mode, GO_ALLOCATOR, "Go") for mode in self.go_modes]

    def counted(self, workload):
        """The cells whose allocations are counted: one allocator stands for all."""
        return [Cell(workload, mode) for mode in self.modes] + self.go_cells(workload)

    def suites(self, workload):
        """The cells that are measured together, at one rate: one list per language."""
        return [cells for cells in (self.cells(workload), self.go_cells(workload)) if cells]

    def slice_seconds(self, workload, language="C++"):
        """How long one cell is loaded in one round."""
        weights = sum(SLICE_WEIGHTS[name] for name in self.workloads)
        cells, seconds = len(self.modes) * len(self.allocators), self.load_seconds
        if language == "Go":
            cells, seconds = len(self.go_modes), self.go_load_seconds
        return seconds * SLICE_WEIGHTS[workload] / (weights * cells * self.rounds)


DEFAULT = Plan("default", ("trips", "vehicles", "ranking_200k"), rounds=3, load_seconds=114,
               go_load_seconds=66)
QUICK = Plan("quick", ("trips", "ranking_200k"), rounds=2, load_seconds=22,
             go_load_seconds=14)
FULL = Plan("full", ("trips", "vehicles", "tile", "ranking_200k", "ranking_8k"), rounds=3,
            load_seconds=800, go_load_seconds=180,
            allocators=("glibc", "tcmalloc", "jemalloc", "mimalloc"), saturation=True)
