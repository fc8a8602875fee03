"""Certificates for tests: an authority of a moment, and one certificate that it signed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest


def make_certificates(folder: Path) -> tuple[Path, Path, Path]:
    """Return the files of an authority, a certificate and its key; skips the test without openssl."""
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl to make certificates with")
    ca, ca_key, cert, key, request = (
        folder / n for n in ("ca.pem", "ca.key", "cert.pem", "key.pem", "csr.pem")
    )

    def openssl(*options: str | Path) -> None:
        subprocess.run(["openssl", *map(str, options)], check=True, capture_output=True)

    new = ["req", "-newkey", "rsa:2048", "-nodes", "-subj"]
    openssl(
        *new, "/CN=an authority", "-x509", "-days", "2", "-keyout", ca_key, "-out", ca
    )
    openssl(*new, "/CN=somebody", "-keyout", key, "-out", request)
    openssl(
        "x509",
        "-req",
        "-in",
        request,
        "-CA",
        ca,
        "-CAkey",
        ca_key,
        "-CAcreateserial",
        "-days",
        "2",
        "-out",
        cert,
    )
    return ca, cert, key
