"""The malloc implementations that every comparison names, and where to find their libraries."""

import re
import subprocess

# Name: (file for LD_PRELOAD, Debian package). glibc needs none.
ALLOCATORS = {"glibc": (None, None),
              "tcmalloc": ("libtcmalloc_minimal.so.4", "libtcmalloc-minimal4"),
              "jemalloc": ("libjemalloc.so.2", "libjemalloc2"),
              "mimalloc": ("libmimalloc.so.2", "libmimalloc2.0")}


class AllocatorMissing(Exception):
    """The message says how to get it."""


def library_of(name, listing=None):
    """The library to preload, by the dynamic linker's cache; None for glibc. `listing` replaces the
    output of `ldconfig -p` in tests."""
    if name not in ALLOCATORS:
        raise AllocatorMissing(f"unknown allocator {name}; there are: {', '.join(ALLOCATORS)}")
    file, package = ALLOCATORS[name]
    if file is None:
        return None
    if listing is None:
        listing = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True,
                                 check=True).stdout
    found = re.search(rf"^\s*{re.escape(file)} .*=> (\S+)$", listing, re.MULTILINE)
    if not found:
        raise AllocatorMissing(f"{name} is not installed: {file} is missing. "
                               f"On Debian: apt-get install {package}")
    return found.group(1)
