"""The certificates by which a cluster and whoever asks it know each other."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rankstudio.engine.errors import ParameterError


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
