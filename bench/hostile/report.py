"""What a run has come to: a table, and what was wrong."""

import re
from collections import Counter
from dataclasses import dataclass, field

EXAMPLES = 3
SHOWN_CHARACTERS = 800


@dataclass
class Row:
    """One server."""

    kind: object
    outcome: object
    alive: bool = True
    last_words: list = field(default_factory=list)  # (what, call or None), when it is not alive
    wrong_at_end: list = field(default_factory=list)

    def died(self, dead, culprit):
        """Tells why it lives no more. `culprit` is the call that does this by itself, where it was found."""
        self.alive = False
        self.last_words = [(str(dead), None)]
        if culprit is not None:
            self.last_words.append(("this request does it by itself", culprit))
        self.last_words += [("in flight", call) for call in dead.calls]
        self.last_words += [("answered just before", call) for call in dead.recent if call.answer is None]

    @property
    def silent(self):
        """Whether too little was sent or came back for the rest to mean anything."""
        outcome = self.outcome
        return outcome.sent == 0 or outcome.honest_right == 0 or sum(outcome.statuses.values()) < outcome.sent

    @property
    def failed(self):
        """Whether anything was wrong."""
        return bool(not self.alive or self.silent or self.outcome.wrong or self.wrong_at_end
                    or self.outcome.honest_right < self.outcome.honest)


def _line(what, call, limit=None):
    text = f"  {what}\n" if call is None else f"  {what}\n    {call}\n"
    return text if limit is None or len(text) <= limit else f"{text[:limit]}...\n"


def wrong_in_full(row):
    """Everything that was wrong with a server, with all bytes."""
    if not row.failed:
        return ""
    return "".join([f"{row.kind}\n", *(_line(what, call) for what, call in row.last_words + row.outcome.wrong),
                    *(_line(what, None) for what in row.wrong_at_end)])


def _wrong(row):
    """The same with a few examples of each kind."""
    text = f"\n{row.kind}:\n"
    shown, left_out = Counter(), Counter()
    for what, call in row.last_words + row.outcome.wrong:
        sort = re.sub(r"[0-9a-f]*[0-9][0-9a-f]*|['\"].*['\"]", "#", what)
        shown[sort] += 1
        if shown[sort] <= EXAMPLES:
            text += _line(what, call, SHOWN_CHARACTERS)
        else:
            left_out[sort] += 1
    text += "".join(f"  {count:,} more times: {what}\n" for what, count in left_out.items())
    if row.alive and row.silent:
        text += "  too few answers: nothing was tested\n"
    return text + "".join(_line(what, None) for what in row.wrong_at_end)


def _cells(row):
    outcome = row.outcome
    statuses = ", ".join(f"{name} {count:,}" for name, count in outcome.statuses.most_common())
    return (row.kind.framework, row.kind.mode, "yes" if row.kind.limited else "no", f"{outcome.sent:,}", statuses,
            f"{outcome.honest_right:,} of {outcome.honest:,}", "yes" if row.alive else "NO", str(len(outcome.wrong)))


def text(rows, file, seconds):
    """The report. `file` has the rest of it."""
    header = ("server", "mode", "limits", "damaged", "answers to these", "honest ones right", "alive", "wrong")
    lines = [header, *map(_cells, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    made = "".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() + "\n" for line in lines)
    failed = [row for row in rows if row.failed]
    made += "".join(map(_wrong, failed))
    damaged, honest = sum(row.outcome.sent for row in rows), sum(row.outcome.honest for row in rows)
    made += f"\nhostile: {damaged:,} damaged and {honest:,} honest calls to {len(rows)} servers in {seconds:.0f} s: "
    return made + (f"{len(failed)} FAILED (all bytes: {file})\n" if failed else "all alive, nothing wrong\n")
