"""Who may carry a run out: executors where they are worth while, and the certificates of a cluster."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path

from rankstudio.engine.errors import ParameterError

_NUMBERS = 1 << 26  # in the training parts of all threads together: some gigabytes with what comes of them


@dataclass(frozen=True)
class Workers:
    """An executor, and from how many units on it is worth while.

    Attributes
    ----------
    executor : Executor or None
        None for one unit after the other.
    least : int
        With fewer units a method's own threads make more of the processors.
    most : int or None
        With more numbers in a training part they do so too, and each worker has what it makes of them for
        itself: several would need too much memory.
    """

    executor: Executor | None = None
    least: int = 1
    most: int | None = None

    @classmethod
    def of_threads(cls, executor: Executor, count: int) -> Workers:
        """Return so many threads of this process, which a method could use itself."""
        return cls(executor, least=2 * count, most=_NUMBERS // count)

    def serve(self, n_units: int, n_numbers: int) -> Executor | None:
        """Return the executor for so many units on training parts of so many numbers; None for no other."""
        large = self.most is not None and n_numbers > self.most
        return None if n_units < self.least or large else self.executor


ALONE = Workers()
"""One unit after the other, on the main thread."""


@dataclass(frozen=True)
class Certificates:
    """Files of TLS: only who has a certificate of the same authority is listened to, and all is encrypted.

    Attributes
    ----------
    ca : Path
        The certificate of the authority, PEM.
    cert : Path
        One's own certificate, signed by it, PEM.
    key : Path
        The private key of that, PEM.

    Raises
    ------
    ParameterError
        For a file that cannot be read.
    """

    ca: Path
    cert: Path
    key: Path

    def __post_init__(self) -> None:
        for name in ("ca", "cert", "key"):
            path: Path = getattr(self, name)
            try:
                path.open("rb").close()
            except OSError as error:
                raise ParameterError(
                    f"--tls-{name}", str(path), f"a PEM file that can be read ({error.strerror or error})"
                ) from error
