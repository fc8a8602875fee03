"""A cluster for the tests: a dask scheduler and workers on this machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path


class LocalCluster:
    """A scheduler and workers, each a process that listens on the loopback alone."""

    def __init__(
        self, folder: Path, certificates: tuple[Path, Path, Path] | None = None
    ) -> None:
        self._folder = folder
        self._tls: list[str] = []
        if certificates is not None:
            ca, cert, key = map(str, certificates)
            self._tls = [
                "--tls-ca-file",
                ca,
                "--tls-cert",
                cert,
                "--tls-key",
                key,
                "--protocol",
                "tls",
            ]
        self._stack = ExitStack()
        self.workers: list[subprocess.Popen] = []
        self._logs: dict[int, Path] = {}
        address = folder / "scheduler.json"
        self.scheduler = self._start(
            "scheduler",
            "--port",
            "0",
            "--no-dashboard",
            "--scheduler-file",
            str(address),
        )
        deadline = time.monotonic() + 60
        # it is written after it is made
        while not (address.exists() and address.read_text()):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        self.address = json.loads(address.read_text())["address"]

    def add_worker(self, cache: str | None = None) -> subprocess.Popen:
        """Start one more worker, perhaps with a cache folder of its own, as on another machine."""
        options = [
            "--nthreads",
            "1",
            "--no-dashboard",
            "--no-nanny",
            "--local-directory",
            str(self._folder),
        ]
        worker = self._start("worker", self.address, *options, cache=cache)
        self.workers.append(worker)
        return worker

    def keep(self, count: int) -> None:
        """Start workers until there are so many; a test that ends one takes it out of `workers`."""
        while len(self.workers) < count:
            self.add_worker()
        # on a busy machine they come later than the program waits for one
        for worker in self.workers:
            while (
                worker.poll() is None
                and "Registered to" not in self._logs[worker.pid].read_text()
            ):
                time.sleep(0.05)

    def _start(
        self, what: str, *options: str, cache: str | None = None
    ) -> subprocess.Popen:
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
        }
        if cache is not None:
            environment["RANKSTUDIO_CACHE_DIR"] = cache
        path = self._folder / f"{what}-{time.monotonic_ns()}.log"
        log = self._stack.enter_context(path.open("w"))
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                f"distributed.cli.dask_{what}",
                "--host",
                "127.0.0.1",
                *self._tls,
                *options,
            ],
            stdout=log,
            stderr=log,
            env=environment,
        )
        self._logs[process.pid] = path
        self._stack.callback(process.wait, 30)
        self._stack.callback(process.kill)
        return process

    def close(self) -> None:
        """End all processes."""
        self._stack.close()
