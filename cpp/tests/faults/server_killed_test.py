#!/usr/bin/env python3
"""Kills a loaded gRPC server with SIGKILL, starts it again, and watches its clients.

They must see what gRPC promises (UNAVAILABLE, in the moment of the kill) and nothing else; their next
requests must be answered as before; the server that lived last must end as it should.
"""

import argparse
import json
import random
import socket
import subprocess
import sys
import threading
import time

import grpc

PACKAGE = "/harena.bench.v1.DemoService/"
CLIENTS = 4


def free_port():
    """One that stays free between two lives of a server: the system gives it to no outgoing connection."""
    with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as file:
        outgoing = int(file.read().split()[0])
    for port in random.sample(range(max(1024, outgoing - 12_000), outgoing), 100):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise RuntimeError("no port is free")


class Server:
    """One life of the server, ready to serve."""

    def __init__(self, program, mode, port):
        self.process = subprocess.Popen([program, "--mode", mode, "--port", str(port)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{program} --mode {mode} did not start on port {port}")
        self.port = json.loads(line)["port"]

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def end(self):
        """Exit status of an orderly end."""
        self.process.communicate(timeout=60)
        return self.process.returncode


class Clients:
    """Threads that send one request after the other and note what came back."""

    def __init__(self, port, request):
        self.lock = threading.Lock()
        self.stop = threading.Event()
        self.served = self.unavailable = 0
        self.wrong = []
        self.answers = set()
        self.threads = [threading.Thread(target=self.run, args=(port, request)) for _ in range(CLIENTS)]
        for thread in self.threads:
            thread.start()

    def run(self, port, request):
        options = [("grpc.max_reconnect_backoff_ms", 200), ("grpc.initial_reconnect_backoff_ms", 50),
                   ("grpc.use_local_subchannel_pool", 1)]
        with grpc.insecure_channel(f"127.0.0.1:{port}", options=options) as channel:
            feed = channel.unary_unary(PACKAGE + "BoardFeed")
            while not self.stop.is_set():
                try:
                    answer = feed(request, timeout=60)
                    with self.lock:
                        self.served += 1
                        self.answers.add(len(answer))
                except grpc.RpcError as error:
                    with self.lock:
                        if error.code() == grpc.StatusCode.UNAVAILABLE:
                            self.unavailable += 1
                        else:
                            self.wrong.append(f"{error.code()}: {error.details()}")
                    time.sleep(0.01)

    def wait_for(self, served):
        """True when so many requests were answered, within a minute."""
        for _ in range(6000):
            with self.lock:
                if self.served >= served:
                    return True
            time.sleep(0.01)
        return False

    def end(self):
        self.stop.set()
        for thread in self.threads:
            thread.join()


def run(program, mode, request, kills):
    """Problems found, and (served, unavailable)."""
    problems = []
    server = Server(program, mode, free_port())
    clients = Clients(server.port, request)
    try:
        for kill in range(kills):
            if not clients.wait_for(clients.served + 10):
                problems.append(f"{mode}: nothing was answered any more before kill {kill + 1}")
                break
            time.sleep(random.uniform(0, 0.1))
            server.kill()
            server = Server(program, mode, server.port)
        if not clients.wait_for(clients.served + 10):
            problems.append(f"{mode}: nothing was answered after the last start")
    finally:
        clients.end()
        status = server.end()
    if status != 0:
        problems.append(f"{mode}: the last server ended with {status}")
    if clients.wrong:
        problems.append(f"{mode}: {len(clients.wrong)} other errors, such as {clients.wrong[0]}")
    if clients.unavailable == 0:
        problems.append(f"{mode}: no client noticed that the server was killed")
    if len(clients.answers) != 1:
        problems.append(f"{mode}: answers of {sorted(clients.answers)} bytes to the same request")
    return problems, clients.served, clients.unavailable


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--request", required=True, help="the bytes of a BoardFeed request")
    parser.add_argument("--kills", type=int, default=3, help="per mode")
    parser.add_argument("servers", nargs="+", help="demo servers")
    options = parser.parse_args(arguments)
    with open(options.request, "rb") as file:
        request = file.read()
    problems, served_in_all, kills = [], 0, 0
    for program in options.servers:
        modes = subprocess.run([program, "--list-modes"], capture_output=True, text=True, check=True)
        for mode in modes.stdout.split():
            found, served, unavailable = run(program, mode, request, options.kills)
            print(f"{mode}: {options.kills} kills, {served} requests served, {unavailable} UNAVAILABLE",
                  flush=True)
            problems += found
            served_in_all += served
            kills += options.kills
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"safety: faults_injected={kills} requests_served={served_in_all} processes_lost={len(problems)}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
