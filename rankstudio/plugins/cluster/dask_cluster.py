"""The workers of a dask scheduler as an executor; this module can only be imported with ``cluster``."""

from __future__ import annotations

import asyncio
import logging
import pickle
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import (
    CancelledError,
    Executor,
    Future,
    InvalidStateError,
    ThreadPoolExecutor,
)
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
from rankstudio.engine.experiment.execution.data_transport import (
    FoldFiles,
    Given,
    Value,
    write_folds,
)
from rankstudio.engine.experiment.execution.shard_calls import (
    PartFile,
    ShardCall,
    answer,
    forget,
)
from rankstudio.engine.experiment.execution.shard_executors import Elsewhere
from rankstudio.engine.experiment.execution.workers import Certificates
from rankstudio.engine.experiment.versions import versions
from rankstudio.engine.methods.shards.training_data import ShardExecutor, Sums
from rankstudio.engine.plugins.loader import plugins
from rankstudio.engine.support import memory

# of a part that is sent; larger parts must be on a disk that all workers can read
_MAX_SENT_BYTES = 1 << 30
# in which the scheduler must answer, and then again in which a worker must be present
_TIMEOUT_SECONDS = 10


@contextmanager
def connected(
    address: str, certificates: Certificates | None = None
) -> Iterator[Cluster]:
    """Provide the workers of a running dask scheduler for a ``with`` block, and disconnect at its end.

    Parameters
    ----------
    address : str
        Address of the scheduler: "tcp://10.0.0.1:8786", or with "tls://".
    certificates : Certificates, optional
        Certificates for "tls://"; by default those of dask's own settings.

    Raises
    ------
    WorkerError
        If the scheduler does not answer, or has no workers or other versions.
    """
    # All three attempts to connect share one time limit.
    deadline = time.monotonic() + _TIMEOUT_SECONDS
    security = _dask_security(certificates)
    try:
        # A client that finds no scheduler would leave a thread behind
        # that searches forever.
        socket.create_connection(
            get_address_host_port(address, strict=True), timeout=_TIMEOUT_SECONDS
        ).close()

        # A server of another kind would make the client wait or fail in
        # odd ways. The handshake runs in another thread, as this one
        # may have an event loop already.
        with ThreadPoolExecutor(1) as pool:
            pool.submit(
                asyncio.run, _shake_hands(address, security, _seconds_left(deadline))
            ).result()
        client = Client(  # type: ignore[no-untyped-call]
            address,
            timeout=_seconds_left(deadline),
            set_as_default=False,
            security=security,
        )
    # dask raises TypeError if an address with tls:// has no certificates.
    except (OSError, ValueError, TypeError) as error:
        reason = str(error) or type(error).__name__
        raise WorkerError(
            f"{address}: no response from a scheduler ({reason}). Give the address of a running scheduler, "
            "such as tcp://10.0.0.1:8786."
        ) from error
    with _silenced_logs(), client:
        _check_workers(client, address)
        yield Cluster(client)


def _dask_security(certificates: Certificates | None) -> Security:
    """Return dask's security settings with these certificates.

    Without certificates, dask reads its own files.
    """
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
    """Silence dask's messages in a ``with`` block, such as those on the end of a scheduler.

    Nothing is lost, as callers that wait for results get the error.
    """
    names = "distributed", "distributed.client", "tornado.application"
    logs = [logging.getLogger(name) for name in names]
    levels_before = [log.level for log in logs]
    for log in logs:
        log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for log, level in zip(logs, levels_before, strict=True):
            log.setLevel(level)


def _seconds_left(deadline: float) -> float:
    """Return the seconds until a deadline, but at least 0.1: dask takes 0 for no limit."""
    return max(deadline - time.monotonic(), 0.1)


async def _shake_hands(address: str, security: Security, seconds: float) -> None:
    """Connect to a scheduler and disconnect, to find out whether it is one.

    Raises
    ------
    OSError
        If there is no answer within ``seconds``, or the server does not
        use the protocol of the address.
    """
    arguments = security.get_connection_args("client")  # type: ignore[no-untyped-call]
    try:
        # dask's own time limit does not include the handshake
        async with asyncio.timeout(seconds):
            comm = await connect(address, timeout=seconds, **arguments)  # type: ignore[no-untyped-call]
    except (OSError, ValueError, TypeError):
        raise
    except Exception as error:  # dask may take a server's first bytes for a length, and allocate it in vain
        raise ConnectionError(
            "the server at this address is not a Dask scheduler"
        ) from error
    comm.abort()  # only the handshake was needed


class Cluster(Executor):
    """An executor on the workers of a dask scheduler; if a worker dies, other workers take over its work.

    Parameters
    ----------
    client : Client
        A client that is connected to the scheduler.
    """

    lost: tuple[type[BaseException], ...] = (KilledWorker, CommClosedError)

    def __init__(self, client: Client) -> None:
        self._client = client
        self._loop: Any = client.loop
        self._dask_futures: WeakSet[Any] = WeakSet()

    def ahead(self) -> int:
        """Return the number of units submitted at a time.

        A unit is a call that a run submits. There are two units for
        each thread of the current workers.
        """
        threads: Mapping[str, int] = self._client.nthreads()  # type: ignore[no-untyped-call]
        return max(2, 2 * sum(threads.values()))

    def submit(
        self, fn: Callable[Given, Value], /, *args: Given.args, **kwargs: Given.kwargs
    ) -> Future[Value]:
        """Submit a call of a function to a worker.

        Keyword arguments are for dask, not for the function. The call
        is sent as bytes that only the worker decodes. A scheduler
        decodes other contents; if it lacks a plug-in that the call
        names, it would drop the connection.

        The returned future is our own, since futures of dask's executor
        never end if their result is lost in transit, for example when
        the scheduler ends.
        """
        # A call is not "pure": otherwise, dask would use the result of
        # an equal call instead.
        call = pickle.dumps((fn, args))
        dask_future: Any = self._client.submit(
            _call_on_worker, call, installed_plugins(), pure=False, **kwargs
        )
        future: Future[Value] = Future()
        self._dask_futures.add(dask_future)

        def pass_on_cancellation(ended: Future[Value]) -> None:
            """Cancel dask's future if a caller has cancelled ours, which has ended now."""
            if ended.cancelled() and not dask_future.cancelled():
                dask_future.cancel()

        # The client's own thread waits for dask's future, and settles ours.
        self._loop.add_callback(_settle, dask_future, future)
        future.add_done_callback(pass_on_cancellation)
        return future

    def give(self, folds: Sequence[Fold]) -> FoldFiles:
        """Write folds to the disk of this machine for the workers.

        They are sent to workers that do not share the disk. Return the
        files, by which workers find the folds.
        """
        files = write_folds(folds)

        # If any worker lacks a file, a plug-in sends all of them. It is
        # named after the files.
        if any(self._client.run(_lacks_files, files).values()):
            self._client.register_plugin(
                Delivery(files), name="-".join(("rankstudio", *files.names))
            )
        return files

    def shard_executor(self) -> ShardExecutor:
        """Return the workers for the shards of one path."""
        return Elsewhere(ClusterWorkers(self, self._client))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Cancel the submitted calls, or wait for them.

        See :meth:`concurrent.futures.Executor.shutdown`.
        """
        pending = list(self._dask_futures)
        if cancel_futures:
            self._client.cancel(pending)  # type: ignore[no-untyped-call]
        elif wait and pending:
            await_all(pending)  # type: ignore[no-untyped-call]


class ClusterWorkers:
    """The workers of a scheduler, each with its own shards; if a worker dies, another takes its shards over.

    Parameters
    ----------
    cluster : Cluster
    client : Client
        Client of the cluster.
    """

    lost = Cluster.lost

    def __init__(self, cluster: Cluster, client: Client) -> None:
        """Begin without workers; `ask` finds the present ones."""
        self._cluster = cluster
        self._client = client

        # Addresses of the workers in the order of their shards, and the
        # worker of each call that is not forgotten yet.
        self._addresses: list[str] = []
        self._workers_of_calls: WeakKeyDictionary[Future[Sums | None], str] = (
            WeakKeyDictionary()
        )

    @property
    def count(self) -> int:
        """Total number of threads of the workers."""
        threads: Mapping[str, int] = self._client.nthreads()  # type: ignore[no-untyped-call]
        return max(1, sum(threads.values()))

    def room(self) -> float | None:
        """Return None for no limit: each worker limits its own memory."""
        return None

    def give(self, part: PartFile) -> None:
        """Send a part to all workers unless each of them finds it on a disk.

        Raises
        ------
        WorkerError
            If a worker does not find the part, and the part is too large to send.
        """
        lacking_workers = [
            worker
            for worker, lacks in self._client.run(_lacks_part, part).items()
            if lacks
        ]
        if not lacking_workers:
            return
        size = StoredEntry.open(part.path).n_bytes
        if size > _MAX_SENT_BYTES:
            raise WorkerError(
                f"The worker {lacking_workers[0]} has no access to {part.path}, and {memory.size(size)} of data are "
                "too large to send. Set RANKSTUDIO_CACHE_DIR to a folder that all workers can read."
            )

        # Files of folds are sent: the part is the training part of a
        # fold 1, which has no other parts.
        files = FoldFiles(part.folder, {1: (part.name, "", "")})
        self._client.register_plugin(Delivery(files), name=f"rankstudio-{part.name}")

    def ask(self, call: ShardCall) -> Future[Sums | None]:
        """Submit a call to the worker with its shard, or to another worker if this one is gone.

        A shard is a group of queries of a part, which one worker keeps
        in memory. The future has the sums that the call computes from
        it.
        """
        running = set(self._client.nthreads())  # type: ignore[no-untyped-call]

        # Workers keep their order, so that most shards keep their
        # worker when others come and go.
        self._addresses = [address for address in self._addresses if address in running]
        self._addresses += sorted(running - set(self._addresses))

        # Without workers, dask keeps the call for the first one that comes.
        if not self._addresses:
            return self._cluster.submit(answer, call)
        worker = self._addresses[call.index % len(self._addresses)]
        future = self._cluster.submit(
            answer, call, workers=[worker], allow_other_workers=True
        )  # type: ignore[call-arg]
        self._workers_of_calls[future] = worker
        return future

    def stranded(self, pending_answer: Future[Sums | None]) -> bool:
        """Return whether the worker that should answer a call is gone, given the future of its answer.

        If no worker is left, dask keeps the call for the last one, and
        never passes it to new workers.
        """
        worker = self._workers_of_calls.get(pending_answer)
        return worker is not None and worker not in self._client.nthreads()  # type: ignore[no-untyped-call]

    def forget(self, session: str) -> None:
        """Discard the states of a session on all workers."""
        with suppress(*self.lost, OSError, TimeoutError, RuntimeError):
            self._client.run(forget, session, on_error="ignore")


class Delivery(WorkerPlugin):
    """Sends files with the documents of a run to every worker that lacks undamaged copies.

    Workers that join the scheduler later get the files, too.

    Parameters
    ----------
    files : FoldFiles
        Files on the disk of this machine.
    """

    def __init__(self, files: FoldFiles) -> None:
        folder = Path(files.folder)
        self._parts = {
            name: StoredEntry.open(folder / name).files() for name in files.names
        }

    def setup(self, worker: Worker) -> None:
        """Write missing parts; dask calls this on the worker."""
        for name, content in self._parts.items():
            shared_parts.unpack(name, content)


def installed_plugins() -> tuple[str, ...]:
    """Return the packages of the plug-ins loaded in this process, each with its version."""
    return tuple(
        f"{item.package} {item.version}"
        for item in plugins().loaded
        if not item.built_in
    )


def _call_on_worker(call: bytes, packages: tuple[str, ...]) -> Any:
    """Carry out a pickled call of a function; dask calls this on the worker.

    ``packages`` are the plug-ins of the machine that sent the call, with versions.

    Raises
    ------
    WorkerError
        If the call needs something that this worker does not know, and
        the worker lacks plug-ins.
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
    """Transfer the outcome of dask's future to a future of the standard library.

    The outcome is a result, an error or a cancellation. This coroutine
    runs on the client's event loop.
    """
    # Any error of the call on the worker, whatever its type, is one for
    # the waiting caller.
    try:
        value = await dask_future
    except CancelledError:
        future.cancel()
        future.set_running_or_notify_cancel()  # wakes threads that wait for the future
    except BaseException as error:
        future.set_exception(error)
    else:
        with suppress(InvalidStateError):  # the future was cancelled meanwhile
            future.set_result(value)


def _lacks_files(files: FoldFiles) -> bool:
    """Return whether this machine lacks an undamaged copy of any file."""
    return not all(store.is_whole(files.path_of(name)) for name in files.names)


def _lacks_part(part: PartFile) -> bool:
    """Return whether this machine lacks an undamaged copy of a part."""
    return not store.is_whole(part.path)


def _check_workers(client: Client, address: str) -> None:
    """Raise WorkerError if workers cannot give the same results.

    The error is raised if the scheduler at ``address`` has no workers,
    or workers with other versions of the packages than this machine.
    """
    # Ask all workers for the versions of their packages. `run` calls a
    # function on each worker, and returns the results by address.
    try:
        client.wait_for_workers(1, timeout=_TIMEOUT_SECONDS)
        versions_of_workers: Mapping[str, dict[str, str]] = client.run(versions)
    except TimeoutError as error:
        raise WorkerError(
            f"{address}: the scheduler has no workers; expected at least one."
        ) from error
    except Exception as error:  # any error on a worker is raised here
        raise WorkerError(
            f"{address}: the workers cannot load RankStudio ({error}). Install the version of this machine "
            "on all workers."
        ) from error

    # Each version must be that of this machine.
    for worker, remote_versions in versions_of_workers.items():
        for name, version in versions().items():
            if remote_versions.get(name) != version:
                raise WorkerError(
                    f"{address}: the worker {worker} has {name} {remote_versions.get(name)}, "
                    f"expected {version} as on this machine, because results may differ."
                )
