"""`python -m engine.process FOLDER CHECKPOINT …`: serves one checkpoint in a runtime folder until idle."""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
from pathlib import Path

from engine.process.heap import one_heap
from engine.process.place import RuntimeFolder


def main() -> int:
    """Exit 0 also where another process serves there already."""
    parser = argparse.ArgumentParser(prog="engine.process", description=__doc__)
    parser.add_argument("folder", type=Path, help="where socket, lock and log lie; yours alone")
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--idle", type=float, default=600.0, help="seconds without requests until it ends")
    parser.add_argument("--pages", type=int, default=4096, help="cache pages of 64 tokens")
    parser.add_argument(
        "--slots", type=int, default=0, help="sequences that compute at once; 0 for many of a small model"
    )
    parser.add_argument("--ram", type=int, default=1 << 30, help="bytes of the prefix cache in main memory")
    parser.add_argument("--cache", type=Path, default=None, help="folder of the prefix cache's files")
    parser.add_argument("--disk", type=int, default=0, help="bytes of the prefix cache's files")
    parser.add_argument(
        "--kernels", default=None, help="which kernels compute; else the best of this machine"
    )
    parser.add_argument("--threads", type=int, default=0, help="threads that compute; 0 for every processor")
    parser.add_argument("--nice", type=int, default=0, help="how far others come first, from 0 to 19")
    parser.add_argument("--device", default=None, help="which device computes (cpu, cuda:0); else the plan's")
    parser.add_argument(
        "--memory", type=int, default=None, help="bytes of main memory at most; else all free"
    )
    parser.add_argument(
        "--gpu-memory", type=int, default=None, help="bytes of each GPU at most; else all free"
    )
    parser.add_argument(
        "--agreed", default=None, help="fingerprint under which the checkpoint's own licence was agreed to"
    )
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s: %(message)s")
    place = RuntimeFolder.at(options.folder)
    lock = place.lock()
    if lock is None:
        return 0
    os.nice(options.nice)
    one_heap()
    listener = place.listen()  # before the imports: whoever asks can connect, and waits

    from engine.api import Caches, Engine
    from engine.offload.devices import devices
    from engine.offload.needs import usual_slots
    from engine.process.load import load
    from engine.process.server import Server
    from engine.weights.config_json import read_config
    from kernels.dispatch import limit_threads

    if options.threads > 0:
        limit_threads(options.threads)

    def make() -> Engine:
        slots = options.slots or usual_slots(read_config(options.checkpoint / "config.json"))
        model, vocabulary = load(
            options.checkpoint,
            options.kernels,
            device=options.device,
            there=devices(options.memory, options.gpu_memory),
            pages=options.pages,
            slots=slots,
            ram=options.ram,
            agreed=options.agreed,
        )
        caches = Caches(options.pages, slots, ram=options.ram, folder=options.cache, disk=options.disk)
        return Engine(model, caches, vocabulary)

    server = Server(place, make, options.idle, str(options.checkpoint))
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: server.stop())
    server.run(listener)
    return 0


if __name__ == "__main__":
    sys.exit(main())
