"""The workers of a dask scheduler as an executor; to import this takes the extra ``cluster``."""

from __future__ import annotations

import asyncio
import logging
import pickle
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Executor, Future, InvalidStateError, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from distributed import Client, KilledWorker, Security, Worker, WorkerPlugin
from distributed import wait as await_all
from distributed.comm.addressing import get_address_host_port
from distributed.comm.core import CommClosedError, connect

from rankstudio.engine.data import shared_parts, store
from rankstudio.engine.data.dataset import Fold
from rankstudio.engine.data.store import StoredEntry
from rankstudio.engine.errors import PlanError, WorkerError
from rankstudio.engine.experiment.execution.data_transport import FoldFiles, Given, Value, write_folds
from rankstudio.engine.experiment.execution.shard_calls import PartFile, ShardCall, answer, forget
from rankstudio.engine.experiment.execution.shard_executors import Elsewhere
from rankstudio.engine.experiment.execution.workers import Certificates
from rankstudio.engine.experiment.versions import versions
from rankstudio.engine.methods.shards.training_data import ShardExecutor, Sums
from rankstudio.engine.plugins.loader import plugins
from rankstudio.engine.support import memory

_MAX_SENT_BYTES = 1 << 30  # bytes of a part; larger ones are on a disk that all workers see
_TIMEOUT_SECONDS = 10  # for the scheduler to answer, all in all, and then for a worker to be there


@contextmanager
def connected(address: str, certificates: Certificates | None = None) -> Iterator[Cluster]:
    """Provide the workers of a running scheduler; see `on_cluster` in the executors."""
    until = time.monotonic() + _TIMEOUT_SECONDS
    security = _dask_security(certificates)
    try:
        # A client without a scheduler would leave a thread behind that searches for ever.
        socket.create_connection(
            get_address_host_port(address, strict=True), timeout=_TIMEOUT_SECONDS
        ).close()
        with ThreadPoolExecutor(1) as pool:  # this thread may have a loop already
            pool.submit(asyncio.run, _shake_hands(address, security, _seconds_left(until))).result()
        client = Client(  # type: ignore[no-untyped-call]
            address, timeout=_seconds_left(until), set_as_default=False, security=security
        )
    except (OSError, ValueError, TypeError) as error:  # TypeError: no certificates for tls://
        reason = str(error) or type(error).__name__
        raise WorkerError(
            f"{address}: no response from a scheduler ({reason}). Give the address of a running scheduler, "
            "such as tcp://10.0.0.1:8786."
        ) from error
    with _silenced_logs(), client:
        _check_workers(client, address)
        yield Cluster(client)


def _dask_security(certificates: Certificates | None) -> Security:
    """Return dask's settings with these certificates; those of its own files where there are none."""
    if certificates is None:
        return Security()  # type: ignore[no-untyped-call]
    return Security(  # type: ignore[no-untyped-call]
        require_encryption=True,
        tls_ca_file=str(certificates.ca),
        tls_client_cert=str(certificates.cert),
        tls_client_key=str(certificates.key),
    )


@contextmanager
def _silenced_logs() -> Iterator[None]:
    """Silence dask's messages when a scheduler ends: callers that wait for results get the error."""
    names = "distributed", "distributed.client", "tornado.application"
    logs = [logging.getLogger(name) for name in names]
    before = [log.level for log in logs]
    for log in logs:
        log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for log, level in zip(logs, before, strict=True):
            log.setLevel(level)


def _seconds_left(until: float) -> float:
    """Return how many seconds are left; never none, which dask takes for no limit."""
    return max(until - time.monotonic(), 0.1)


async def _shake_hands(address: str, security: Security, seconds: float) -> None:
    """Connect and leave: OSError where what answers does not speak as the address says."""
    arguments = security.get_connection_args("client")  # type: ignore[no-untyped-call]
    try:
        async with asyncio.timeout(seconds):  # dask's own is over before the handshake
            comm = await connect(address, timeout=seconds, **arguments)  # type: ignore[no-untyped-call]
    except (OSError, ValueError, TypeError):
        raise
    except Exception as error:  # dask takes the first bytes for a length, and asks for that much memory
        raise ConnectionError("the server at this address is not a Dask scheduler") from error
    comm.abort()


class Cluster(Executor):
    """The workers of a scheduler; if a worker dies, other workers take over its work.

    Parameters
    ----------
    client : Client
        Connected.
    """

    lost: tuple[type[BaseException], ...] = (KilledWorker, CommClosedError)

    def __init__(self, client: Client) -> None:
        self._client = client
        self._loop: Any = client.loop
        self._asked: WeakSet[Any] = WeakSet()

    def ahead(self) -> int:
        """Return the number of units submitted at a time: two for each thread of the current workers."""
        threads: Mapping[str, int] = self._client.nthreads()  # type: ignore[no-untyped-call]
        return max(2, 2 * sum(threads.values()))

    def submit(
        self, fn: Callable[Given, Value], /, *args: Given.args, **kwargs: Given.kwargs
    ) -> Future[Value]:
        """Submit a call to a worker; keyword arguments are dask's.

        The call is sent as bytes, which the worker alone reads: a scheduler reads what it is sent, and one
        without a plug-in drops the connection to the program that names it.

        dask's own executor never settles a future whose result is lost in transit, for example when the
        scheduler ends.
        """
        call = pickle.dumps((fn, args))
        call_future: Any = self._client.submit(
            _call_on_worker, call, installed_plugins(), pure=False, **kwargs
        )
        future: Future[Value] = Future()
        self._asked.add(call_future)

        def give_up(ended: Future[Value]) -> None:
            if ended.cancelled() and not call_future.cancelled():
                call_future.cancel()

        self._loop.add_callback(_settle, call_future, future)
        future.add_done_callback(give_up)
        return future

    def give(self, folds: Sequence[Fold]) -> FoldFiles:
        """Write folds to the disk of this machine, and send them to workers that do not share it."""
        files = write_folds(folds)
        if any(self._client.run(_lacks_files, files).values()):
            self._client.register_plugin(Delivery(files), name="-".join(("rankstudio", *files.names)))
        return files

    def shard_executor(self) -> ShardExecutor:
        """Return the workers for the shards of one path."""
        return Elsewhere(ClusterWorkers(self, self._client))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Reject further calls."""
        pending = list(self._asked)
        if cancel_futures:
            self._client.cancel(pending)  # type: ignore[no-untyped-call]
        elif wait and pending:
            await_all(pending)  # type: ignore[no-untyped-call]


class ClusterWorkers:
    """The workers of a scheduler, each with shards of its own; if one of them dies, another takes them over.

    Parameters
    ----------
    cluster : Cluster
    client : Client
        Client of the cluster.
    """

    lost = Cluster.lost

    def __init__(self, cluster: Cluster, client: Client) -> None:
        self._cluster = cluster
        self._client = client
        self._addresses: list[str] = []
        self._asked: WeakKeyDictionary[Future[Sums | None], str] = WeakKeyDictionary()

    @property
    def count(self) -> int:
        """Total number of threads of the workers."""
        threads: Mapping[str, int] = self._client.nthreads()  # type: ignore[no-untyped-call]
        return max(1, sum(threads.values()))

    def room(self) -> float | None:
        """Return None: each worker limits itself."""
        return None

    def give(self, part: PartFile) -> None:
        """Check that all workers find the part on a disk; small parts are sent to them."""
        lacking = [worker for worker, lacks in self._client.run(_lacks_part, part).items() if lacks]
        if not lacking:
            return
        size = StoredEntry.open(part.path).n_bytes
        if size > _MAX_SENT_BYTES:
            raise WorkerError(
                f"The worker {lacking[0]} has no access to {part.path}, and {memory.size(size)} of data are "
                "too large to send. Set RANKSTUDIO_CACHE_DIR to a folder that all workers can read."
            )
        files = FoldFiles(part.folder, {1: (part.name, "", "")})
        self._client.register_plugin(Delivery(files), name=f"rankstudio-{part.name}")

    def ask(self, call: ShardCall) -> Future[Sums | None]:
        """Submit a call to the worker with its shard, or to another one if that is gone."""
        running = set(self._client.nthreads())  # type: ignore[no-untyped-call]
        self._addresses = [a for a in self._addresses if a in running]
        self._addresses += sorted(running - set(self._addresses))
        if not self._addresses:
            return self._cluster.submit(answer, call)
        worker = self._addresses[call.index % len(self._addresses)]
        future = self._cluster.submit(answer, call, workers=[worker], allow_other_workers=True)  # type: ignore[call-arg]
        self._asked[future] = worker
        return future

    def stranded(self, pending_answer: Future[Sums | None]) -> bool:
        """Return whether the worker of a call is gone.

        If it was the last one, dask keeps the call for it, and never passes it to new workers.
        """
        worker = self._asked.get(pending_answer)
        return worker is not None and worker not in self._client.nthreads()  # type: ignore[no-untyped-call]

    def forget(self, session: str) -> None:
        """Discard the states of a session on all workers."""
        with suppress(*self.lost, OSError, TimeoutError, RuntimeError):
            self._client.run(forget, session, on_error="ignore")


class Delivery(WorkerPlugin):
    """Sends the parts of a run to every worker without undamaged copies, now or when it joins.

    Parameters
    ----------
    files : FoldFiles
        Files on the disk of this machine.
    """

    def __init__(self, files: FoldFiles) -> None:
        folder = Path(files.folder)
        self._parts = {name: StoredEntry.open(folder / name).files() for name in files.names}

    def setup(self, worker: Worker) -> None:
        """Write missing parts; dask calls this on the worker."""
        for name, content in self._parts.items():
            shared_parts.unpack(name, content)


def installed_plugins() -> tuple[str, ...]:
    """Return the packages with plug-ins of this process, with their versions."""
    return tuple(f"{item.package} {item.version}" for item in plugins().loaded if not item.built_in)


def _call_on_worker(call: bytes, packages: tuple[str, ...]) -> Any:
    """Carry out a call; dask calls this on the worker.

    Raises
    ------
    WorkerError
        If the call needs something that this worker does not know, and it lacks plug-ins.
    """
    try:
        function, arguments = pickle.loads(call)
        return function(*arguments)
    except (PlanError, ImportError, AttributeError) as error:
        lacking = sorted(set(packages) - set(installed_plugins()))
        if not lacking:
            raise
        raise WorkerError(
            f"The worker {socket.gethostname()} lacks {', '.join(lacking)}: {error} Install the plug-ins of "
            "this machine on all workers."
        ) from error


async def _settle(dask_future: Any, future: Future[Value]) -> None:
    """Transfer an outcome from dask's future to one of the standard library, on the client's loop."""
    try:
        value = await dask_future
    except CancelledError:
        future.cancel()
        future.set_running_or_notify_cancel()  # wakes who waits
    except BaseException as error:
        future.set_exception(error)
    else:
        with suppress(InvalidStateError):  # cancelled meanwhile
            future.set_result(value)


def _lacks_files(files: FoldFiles) -> bool:
    return not all(store.is_whole(files.path_of(name)) for name in files.names)


def _lacks_part(part: PartFile) -> bool:
    return not store.is_whole(part.path)


def _check_workers(client: Client, address: str) -> None:
    """Refuse a scheduler without workers, and workers that compute by other versions."""
    try:
        client.wait_for_workers(1, timeout=_TIMEOUT_SECONDS)
        theirs: Mapping[str, dict[str, str]] = client.run(versions)
    except TimeoutError as error:
        raise WorkerError(f"{address}: the scheduler has no workers; expected at least one.") from error
    except Exception as error:  # whatever happened on a worker is raised here
        raise WorkerError(
            f"{address}: the workers cannot load RankStudio ({error}). Install the version of this machine "
            "on all workers."
        ) from error
    for worker, remote in theirs.items():
        for name, version in versions().items():
            if remote.get(name) != version:
                raise WorkerError(
                    f"{address}: the worker {worker} has {name} {remote.get(name)}, expected {version} as on "
                    "this machine, because results may differ."
                )
