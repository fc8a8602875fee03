"""The executor of a run, and the certificates of a cluster.

An executor is worthwhile for runs of certain sizes.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path

from rankstudio.engine.errors import ParameterError

# Values in the training parts of all threads together: some gigabytes
# with the arrays computed from them.
_MAX_NUMBERS = 1 << 26


@dataclass(frozen=True)
class Workers:
    """An executor for the units of runs, and the sizes of runs for which it is worthwhile.

    A unit is one combination of the parameters' values on one fold.

    Attributes
    ----------
    executor : Executor or None
        Executor; None to run one unit after the other.
    least : int
        Smallest number of units: with fewer units, a method's own
        threads use the processors better.
    most : int or None
        Largest number of values in the training parts; None for no
        limit. With more values, a method's own threads also use the
        processors better, and the intermediate results of several
        workers would need too much memory.
    """

    executor: Executor | None = None
    least: int = 1
    most: int | None = None

    @classmethod
    def of_threads(cls, executor: Executor, count: int) -> Workers:
        """Return threads of this process, which a method could also use itself."""
        return cls(executor, least=2 * count, most=_MAX_NUMBERS // count)

    def serve(self, n_units: int, n_numbers: int) -> Executor | None:
        """Return the executor for a run; None if the run is faster or smaller without one.

        `n_units` is the number of units of the run (combinations of
        parameters' values on a fold), and `n_numbers` the number of
        values in its training parts.
        """
        is_small = n_units < self.least
        is_large = self.most is not None and n_numbers > self.most
        return None if is_small or is_large else self.executor


ALONE = Workers()
"""One unit after the other, on the main thread."""


@dataclass(frozen=True)
class Certificates:
    """Files for TLS, which encrypts the traffic with the workers of a cluster.

    Only workers and schedulers with a certificate of the same authority
    are accepted.

    Attributes
    ----------
    ca : Path
        Certificate of the authority, PEM.
    cert : Path
        Own certificate, signed by the authority, PEM.
    key : Path
        Private key of the own certificate, PEM.

    Raises
    ------
    ParameterError
        For a file that cannot be read.
    """

    ca: Path
    cert: Path
    key: Path

    def __post_init__(self) -> None:
        """Raise a ParameterError if a file of the certificates cannot be read.

        The contents of the files are not checked.
        """
        for name in ("ca", "cert", "key"):
            path: Path = getattr(self, name)
            try:
                path.open("rb").close()
            except OSError as error:
                raise ParameterError(
                    f"--tls-{name}",
                    str(path),
                    f"a PEM file that can be read ({error.strerror or error})",
                ) from error
