"""What the soak found, judged: errors, latencies, memory."""

import math
import sys
from pathlib import Path
from statistics import mean, median, stdev

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from common.trend import T_QUANTILES, TOLERANCE_SHARE, steady_trend  # noqa: E402

# Honest callers may wait so many times as long beside rude ones.
LATENCY_RATIO_MAX = 1.10
# With more of the machine used by others, latencies say nothing.
OTHER_WORK_SHARE_MAX = 0.05
# Fewer samples of resident memory, one a second, are warm-up and say nothing of growth.
SAMPLES_MIN = 600
WARM_UP_SHARE = 0.25
BLOCKS = 15
# Servers that do not sample some of so many scopes do not sample.
SCOPES_TO_SAMPLE = 2000
OK, FAILED, OPEN = "ok", "FAILED", "not judged"


def percentile(values, share):
    """The nearest rank."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def quantile(degrees):
    """Student's t for a two-sided interval of 95 %."""
    return T_QUANTILES[max(known for known in T_QUANTILES if known <= max(1, degrees))]


def ratio(pairs, share):
    """(ratio, low, high) of a percentile of the second of each pair of slices to that of the first:
    the geometric mean over pairs with its 95 % interval."""
    logs = [math.log(percentile(rude, share) / percentile(alone, share)) for alone, rude in pairs]
    middle, half = mean(logs), math.inf
    if len(logs) > 1:
        half = quantile(len(logs) - 1) * stdev(logs) / math.sqrt(len(logs))
    return math.exp(middle), math.exp(middle - half), math.exp(min(middle + half, 700.0))


def latency(pairs, other_work_share):
    """Of pairs of slices (latencies alone, beside rude callers): percentiles and a verdict."""
    result = {"pairs": len(pairs)}
    verdicts = []
    for name, share in (("p50", 0.50), ("p99", 0.99)):
        middle, low, high = ratio(pairs, share)
        result[name] = {"alone_us": median(percentile(alone, share) for alone, _ in pairs),
                        "rude_us": median(percentile(rude, share) for _, rude in pairs),
                        "ratio": middle, "low": low, "high": high}
        if low > LATENCY_RATIO_MAX:
            verdicts.append(FAILED)
        else:
            verdicts.append(OK if middle <= LATENCY_RATIO_MAX else OPEN)
    result["verdict"] = OPEN if other_work_share > OTHER_WORK_SHARE_MAX else max(
        verdicts, key=(OK, OPEN, FAILED).index)
    return result


def memory(samples, seconds_per_sample):
    """Of resident memory once a second: its trend after the warm-up, and a verdict."""
    kept = samples[int(len(samples) * WARM_UP_SHARE):]
    if len(kept) < 30:
        return {"verdict": OPEN, "samples": len(samples)}
    growth, low, high = steady_trend(kept, BLOCKS)
    per_hour = 3600 / (len(kept) * seconds_per_sample)
    bound = TOLERANCE_SHARE * mean(kept)
    if len(samples) < SAMPLES_MIN:
        verdict = OPEN
    else:
        verdict = FAILED if low > bound else OK
    return {"verdict": verdict, "samples": len(samples), "mean": mean(kept), "growth": growth,
            "slope_per_hour": growth * per_hour, "low_per_hour": low * per_hour,
            "high_per_hour": high * per_hour, "bound_per_hour": bound * per_hour}


def added(reports):
    """Slices' reports of errors as one."""
    total = {"sent": 0, "errors": 0, "rude": {}, "unowed": 0, "examples": []}
    for report in reports:
        for key in ("sent", "errors", "unowed"):
            total[key] += report[key]
        total["examples"] += report["examples"][:max(0, 5 - len(total["examples"]))]
        for kind, outcomes in report["rude"].items():
            for outcome, count in outcomes.items():
                there = total["rude"].setdefault(kind, {})
                there[outcome] = there.get(outcome, 0) + count
    return total


def errors(total, counts, exit_code, words):
    """Sentences on what was wrong with the answers and at the server's end."""
    wrong = []
    if total["sent"] == 0:
        wrong.append("no honest call was sent")
    if total["errors"]:
        wrong.append(f"{total['errors']} of {total['sent']} honest calls failed")
    if total["unowed"]:
        wrong.append(f"{total['unowed']} rude calls had another outcome than they may have")
    if exit_code != 0:
        wrong.append(f"the server ended with {exit_code}")
    for sign in ("harena: FAULT", "panic:", "was written after the Reset or Free"):
        if sign in words:
            wrong.append(f"the server said '{words[words.index(sign):][:200]}'")
    if counts is None:
        return [*wrong, "the server did not say what it counted"]
    if counts["scopes_live"] or counts["bytes_in_use"]:
        wrong.append(f"{counts['scopes_live']} scopes and {counts['bytes_in_use']} bytes are left "
                     "when all is over")
    if counts.get("stale_writes"):
        wrong.append(f"{counts['stale_writes']} stale writes were found")
    # brpc has no such variable.
    if counts["scopes_made"] > SCOPES_TO_SAMPLE and counts.get("sampled") == 0:
        wrong.append("no scope was sampled")
    if total["rude"].get("bomb") and not counts["refused"]:
        wrong.append("no request was counted as refused")
    return wrong
