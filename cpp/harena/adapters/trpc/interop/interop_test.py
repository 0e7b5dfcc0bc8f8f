"""trpc-go and tRPC-Cpp on one wire: trpc-go's client against the real tRPC-Cpp server in every memory
mode, and tRPC-Cpp's client, in every mode of its own, against a trpc-go server on scopes.

Ends with 77, "absent: ...", when there is no Go or its modules cannot be had.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

MODES = ("own", "heap", "arena", "pages", "reuse", "codec")
ABSENT = 77
# Of trpc-go's client: two serializations, three compressions, five sizes, and an error.
GO_ANSWERS = 2 * 3 * 5 + 1
# Of tRPC-Cpp's: five modes of five sizes and an error each.
CPP_ANSWERS = 5 * (5 + 1)


def build(root, build_dir):
    """trpc-go's half, or None when it cannot be had."""
    found = subprocess.run([root / "tools/go_path.sh"], capture_output=True, text=True, check=False)
    if found.returncode != 0:
        print(f"absent: {found.stderr.strip()}")
        return None
    program = build_dir / "trpc_go_peer"
    done = subprocess.run([found.stdout.strip(), "build", "-o", program, "./internal/interop"],
                          cwd=root / "go/adapters/trpcgo", capture_output=True, text=True,
                          check=False)
    if done.returncode == 0:
        return program
    if re.search(r"dial tcp|no such host|module lookup disabled|connection refused", done.stderr):
        print(f"absent: Go cannot have trpc-go's modules:\n{done.stderr[:1500]}")
        return None
    raise SystemExit(f"trpc-go's half does not build:\n{done.stderr[-3000:]}")


def answers(server_command, client_command):
    """How many calls of a client against a server were answered as they should."""
    with subprocess.Popen(server_command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True) as server:
        try:
            # tRPC-Cpp writes of its own affairs as well.
            port = next((line.strip() for line in server.stdout if line.strip().isdigit()), None)
            if port is None:
                raise SystemExit(f"{server_command} does not serve")
            done = subprocess.run([*client_command, f"127.0.0.1:{port}"], capture_output=True,
                                  text=True, check=False, timeout=400)
        finally:
            server.stdin.close()
            said = server.stdout.read()
            code = server.wait(timeout=300)
    counted = re.search(r"(\d+) answered", done.stdout + done.stderr)
    if done.returncode != 0 or code != 0 or not counted:
        raise SystemExit(f"{server_command}: {code}, {client_command}: {done.returncode}\n"
                         f"{said[-2000:]}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return int(counted.group(1)), done.stderr


def main():
    """Runs all pairs; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--peer", required=True, type=Path, help="tRPC-Cpp's half")
    parser.add_argument("--root", required=True, type=Path)
    parser.add_argument("--build-dir", required=True, type=Path)
    options = parser.parse_args()
    options.build_dir.mkdir(parents=True, exist_ok=True)
    go_peer = build(options.root, options.build_dir)
    if go_peer is None:
        return ABSENT
    pairs = [([options.peer, "server", mode], [go_peer, "client"], GO_ANSWERS) for mode in MODES]
    pairs.append(([go_peer, "server"], [options.peer, "client"], CPP_ANSWERS))
    for server, client, wanted in pairs:
        got, said = answers(server, client)
        if got != wanted:
            raise SystemExit(f"{server}: {got} of {wanted} calls were answered\n{said[-3000:]}")
    print(f"{len(pairs)} pairs: every call was answered")
    return 0


if __name__ == "__main__":
    sys.exit(main())
