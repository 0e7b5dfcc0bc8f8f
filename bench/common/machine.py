"""What the numbers were measured on, and how much else it had to do meanwhile."""

import os
import platform
import time
from pathlib import Path


def cores():
    """(server core, load core). The same one twice on a machine with a single core."""
    usable = sorted(os.sched_getaffinity(0))
    return usable[0], usable[min(1, len(usable) - 1)]


def machine(cpus):
    """What the numbers were measured on."""
    model = next((line.split(":", 1)[1].strip()
                  for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
                  if line.startswith("model name")), platform.machine())
    release = platform.freedesktop_os_release().get("PRETTY_NAME", "unknown")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
    return {"cpu": model, "cores": os.cpu_count(), "server_core": cpus[0],
            "loader_core": cpus[1], "memory_gib": round(memory, 1), "system": release,
            "kernel": platform.release()}


class OtherWork:
    """How much of the machine programs other than this one and its children use."""

    def __init__(self):
        self._start = self._read()

    @staticmethod
    def _read():
        fields = Path("/proc/stat").read_text(encoding="ascii").split("\n", maxsplit=1)[0].split()
        # user, nice, system, irq, softirq and steal; not idle and iowait
        busy = sum(int(fields[i]) for i in (1, 2, 3, 6, 7, 8)) / os.sysconf("SC_CLK_TCK")
        times = os.times()
        ours = times.user + times.system + times.children_user + times.children_system
        return busy - ours, time.monotonic()

    def share(self, of_living_children=0.0):
        """Since the start, as a share of all cores. Children are known once they have ended; what
        others of them have used since the start, in CPU seconds, the caller says."""
        others, now = self._read()
        cores_seconds = (now - self._start[1]) * os.cpu_count()
        return max(0.0, (others - of_living_children - self._start[0]) / cores_seconds)


def rss_bytes_of(pid):
    """Resident memory of a process. Raises OSError when it is gone."""
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def cpu_seconds_of(pid):
    """User and system time of a process, all threads. Raises OSError when it is gone."""
    stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    fields = stat.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
