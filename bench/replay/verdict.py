"""What the numbers say about adopting Harena, in words. Pure functions.

A row and a ratio are those of bench/messages/tables.py, of one allocator and thread count.
"""

HARENA_MODES = ["codec", "pages", "reuse"]
# Below this share of heap's time a change is worth telling; above, it is within what a run drifts.
WORTH_IT = 0.9
# An alternative without Harena that is at most this much slower than the best mode is named.
NEARLY_AS_GOOD = 1.1
# Messages that cost less than this per request are no large part of any RPC.
SMALL_US = 10.0

ALONE = {"arena": "protobuf's own arena", "heap_clear": "clearing and reusing messages on the heap"}


def pick(rows, ratios, allocator):
    """{mode: (row, ratio)} under one allocator with the fewest threads."""
    threads = min(row["threads"] for row in rows if row["allocator"] == allocator)
    return {row["mode"]: (row, ratio) for row, ratio in zip(rows, ratios)
            if row["allocator"] == allocator and row["threads"] == threads}


def best_mode(cells):
    """Harena's fastest mode of those that were measured."""
    modes = [mode for mode in HARENA_MODES if mode in cells]
    return min(modes, key=lambda mode: cells[mode][1]["to_heap"], default=None)


def sentences(rows, ratios, allocator):
    """The verdict for a service that runs under `allocator`, and then what speaks against it."""
    cells = pick(rows, ratios, allocator)
    best = best_mode(cells)
    if best is None:
        return [f"No mode of Harena was measured under {allocator}: nothing can be said."]
    ratio = cells[best][1]["to_heap"]
    heap_us = cells["heap"][0]["ns_per_request"] / 1000
    saved_us = heap_us * (1 - ratio)
    if ratio >= WORTH_IT:
        said = [f"Do not adopt Harena for speed: under {allocator} its best mode, {best}, takes {ratio:.2f} "
                "of what these messages cost on the heap. Limits per request may still be a reason."]
    else:
        said = [f"Mode {best} takes {ratio:.2f} of what these messages cost on the heap under {allocator}: "
                f"{heap_us - saved_us:,.1f} instead of {heap_us:,.1f} microseconds per request. That "
                f"is {saved_us / 1000:,.2g} of a core for every 1,000 requests per second."]
        said.append("Before you touch the server, find in its profile what share of its CPU is "
                    "parsing, building, serializing and freeing messages: this is a gain on that "
                    "share alone.")
    if heap_us < SMALL_US:
        said.append(f"These messages cost {heap_us:,.1f} microseconds in all: the RPC itself costs "
                    "several times that, so callers will hardly notice.")
    for mode, name in ALONE.items():
        if mode in cells and cells[mode][1]["to_heap"] <= ratio * NEARLY_AS_GOOD:
            said.append(f"{name[0].upper()}{name[1:]} does nearly as well ({cells[mode][1]['to_heap']:.2f}) "
                        "without Harena"
                        + (", where a service can keep messages per thread and bound what they hold."
                           if mode == "heap_clear" else "."))
    others = {row["allocator"] for row in rows} - {allocator}
    if ratio < WORTH_IT and others:
        said += other_allocators(rows, ratios, sorted(others))
    return said


def other_allocators(rows, ratios, allocators):
    """Whether the gain would be there under other allocators."""
    found = []
    for other in allocators:
        cells = pick(rows, ratios, other)
        best = best_mode(cells)
        if best is not None:
            found.append(f"{cells[best][1]['to_heap']:.2f} under {other} ({best})")
    return [f"The same ratio elsewhere: {', '.join(found)}."] if found else []
