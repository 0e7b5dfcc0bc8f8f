"""Measuring one traffic: a block of numbers for each thread count and allocator."""

import tables
from programs import BOUNDS, count_allocations, interleaved


def slice_arguments(options, threads):
    """The program's flags for how to run slices."""
    return ["--threads", str(threads), "--slice-ms", str(options.slice_ms)]


def measure_blocks(programs, options, name, arguments, say):
    """All blocks of one traffic, thread counts and allocators in turn. `arguments` are the program's
    flags that say which traffic. Prints the blocks; returns rows and ratios."""
    messages = [mode for mode in options.modes if mode not in BOUNDS]
    say(f"{name}: counting allocations")
    counts = count_allocations(programs, messages, arguments)
    blocks = [(threads, allocator) for threads in options.threads
              for allocator in options.allocators]
    runs = {block: [] for block in blocks}
    for number in range(options.runs):
        for threads, allocator in blocks:
            say(f"{name}, {threads} thread(s), {allocator}: run {number + 1} of {options.runs}")
            slices, request_bytes = interleaved(
                programs, options.modes, [*arguments, *slice_arguments(options, threads)],
                allocator, options.rounds)
            runs[threads, allocator].append(slices)
    say("")
    rows, ratios = [], []
    for threads, allocator in blocks:
        key = {"workload": name, "allocator": allocator, "threads": threads,
               "request_bytes": request_bytes}
        block = tables.rows_of(key, runs[threads, allocator], counts)
        block_ratios = tables.ratios_of(key, runs[threads, allocator])
        print(tables.block(block, block_ratios), flush=True)
        rows += block
        ratios += block_ratios
    if len(options.threads) > 1:
        for allocator in options.allocators:
            print(tables.thread_table([row for row in rows if row["allocator"] == allocator]),
                  flush=True)
    return rows, ratios
