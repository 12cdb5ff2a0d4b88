"""Tables from OpenML."""

from __future__ import annotations

import json
import time
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import numpy as np
from tqdm import tqdm

from rtkm.datasets._reading import split_columns
from rtkm.datasets._source import Rows, Source, check_rows, fingerprint

HOST = "www.openml.org"
SERVER = f"https://{HOST}"
N_TRIES = 3
TIMEOUT = 30.0  # seconds without an answer
CHUNK = 1 << 16


def download(source: Source) -> tuple[Rows, Rows]:
    """Fetch a table and put its rows into our order; OSError if it does not come."""
    url = _file_url(source)
    try:
        text = _get(url, source.name).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{url} is not text; expected an ARFF file.") from None
    X, labels = split_columns(source, text, url)
    for start in (0, source.other_start):
        ours = np.roll(X, -start, axis=0)[: source.n_rows]
        if fingerprint(ours) == source.sha256:
            X, labels = ours, np.roll(labels, -start, axis=0)[: source.n_rows]
            break
    check_rows(source, X[: source.n_rows], labels[: source.n_rows], url)
    return X, labels


def _file_url(source: Source) -> str:
    """Ask where the file of a table is."""
    address = f"{SERVER}/api/v1/json/data/{source.openml_id}"
    try:
        url = str(json.loads(_get(address))["data_set_description"]["url"])
    except (ValueError, KeyError, TypeError):
        url = ""
    if not url.startswith(("https://", "http://")):
        raise ValueError(
            f"{address} names no file; expected the description of a table."
        )
    return url


def _get(url: str, progress: str | None = None) -> bytes:
    """Read a page, and try again if the network fails; a terminal shows a bar."""
    for n_left in reversed(range(N_TRIES)):
        try:
            return _read(url, progress)
        except (OSError, HTTPException) as error:
            refused = isinstance(error, HTTPError) and error.code < 500
            if isinstance(error, HTTPError):
                error.close()
            if refused or not n_left:
                raise OSError(f"{url}: {error}") from error
        time.sleep(N_TRIES - n_left)
    raise AssertionError("unreachable")


def _read(url: str, progress: str | None) -> bytes:
    request = Request(url, headers={"User-Agent": "rtkm"})
    with urlopen(request, timeout=TIMEOUT) as answer:
        length = answer.headers.get("Content-Length")
        size = int(length) if length else None
        # disable=None shows nothing where there is no terminal
        hidden = None if progress else True
        with tqdm(
            total=size, desc=progress, unit="B", unit_scale=True, disable=hidden
        ) as bar:
            body = bytearray()
            while chunk := answer.read(CHUNK):
                body += chunk
                bar.update(len(chunk))
    if size is not None and len(body) < size:
        raise ConnectionError(f"the answer ended after {len(body)} of {size} bytes")
    return bytes(body)
