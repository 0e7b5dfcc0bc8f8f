#!/usr/bin/env python3
"""Runs the example server on a free port and the example client against it."""

import argparse
import subprocess
import sys


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("server", help="the built example server")
    parser.add_argument("client", help="the built example client")
    args = parser.parse_args()
    with subprocess.Popen([args.server, "127.0.0.1:0"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        try:
            port = int(server.stdout.readline())
            client = subprocess.run([args.client, f"127.0.0.1:{port}"], capture_output=True,
                                    text=True, timeout=30, check=False)
            _, log = server.communicate(timeout=30)  # its input ends, and so does the server
        except BaseException:
            server.kill()
            raise
    print(client.stdout + client.stderr + log, end="")
    expected = "Hello, sand!\nHello, arena!\nHello, world!\n"
    if client.returncode != 0 or client.stdout != expected:
        return 1
    if server.returncode != 0 or "/greeter.Greeter/Greet: 3 requests, 0 refused" not in log:
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
