"""Where tables are looked for, in which order, and the cache."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

import numpy as np

from rtkm._files import replacing
from rtkm.datasets._openml import HOST, download
from rtkm.datasets._reading import read_files
from rtkm.datasets._source import Rows, Source, check_rows

PathLike = str | os.PathLike[str]


def find_table(
    source: Source,
    path: PathLike | None,
    data_home: PathLike | None,
    download_if_missing: bool,
) -> tuple[Rows, Rows, str]:
    """Return features, labels, and where they were found: the order of lookup."""
    files = find_files(source.files, path)
    if files is not None:
        return *read_files(source, files), str(files[0])
    kept = cache(data_home) / f"{source.name}.npz"
    if kept.is_file():
        return *_read_kept(source, kept), str(kept)
    if not download_if_missing:
        raise FileNotFoundError(_not_found(source, kept, "download_if_missing=False"))
    with _keeping(kept) as stream:  # a folder closed to us shows before the download
        try:
            X, labels = download(source)
        except OSError as error:
            reason = f"{HOST} did not send it ({error})"
            raise ConnectionError(_not_found(source, kept, reason)) from error
        np.savez(stream, data=X, target=labels)
    return X, labels, str(kept)


def find_files(names: tuple[str, ...], path: PathLike | None) -> list[Path] | None:
    """Find files at `path` or in the folder of ``RTKM_DATA``."""
    if path is not None:
        place = Path(path).expanduser()
        if place.is_file() and len(names) == 1:
            return [place]
        missing = names
        for files in (
            [place / n for n in names],
            [place / Path(n).name for n in names],
        ):
            absent = tuple(
                n for n, f in zip(names, files, strict=True) if not f.is_file()
            )
            if not absent:
                return files
            missing = min(missing, absent, key=len)
        what = "the file or its folder" if len(names) == 1 else "the folder of both"
        raise FileNotFoundError(
            f"path={str(path)!r} does not hold {' and '.join(missing)}; expected "
            f"{what}."
        )
    folder = data_folder()
    files = [folder / name for name in names] if folder else []
    return files if files and all(file.is_file() for file in files) else None


def data_folder() -> Path | None:
    """Return the folder of ``RTKM_DATA``, if it is set."""
    setting = os.environ.get("RTKM_DATA")
    if not setting:
        return None
    folder = Path(setting).expanduser()
    if not folder.is_dir():
        raise NotADirectoryError(
            f"RTKM_DATA={setting!r} is not a folder; expected the folder of the "
            "paper's tables, or the variable unset."
        )
    return folder


def cache(data_home: PathLike | None) -> Path:
    """Return the folder of the cache; looking, unlike in scikit-learn, creates none."""
    if data_home is not None:
        return Path(data_home).expanduser()
    shared = os.environ.get("SCIKIT_LEARN_DATA", "~/scikit_learn_data")
    return Path(shared).expanduser() / "rtkm"


def places_looked_in(names: str, folder: Path, kept: str) -> str:
    """Say where files were not found, for messages."""
    setting = os.environ.get("RTKM_DATA")
    variable = f"RTKM_DATA={setting!r} holds no {names}"
    return (
        f"{variable if setting else 'RTKM_DATA is not set'}, {folder} holds no {kept}"
    )


def _not_found(source: Source, kept: Path, reason: str) -> str:
    names = " and ".join(source.files)
    places = places_looked_in(names, kept.parent, kept.name)
    return (
        f"{source.name} is not at hand: {places}, and {reason}; set RTKM_DATA to a "
        f"folder that holds {names}, or pass path."
    )


def _read_kept(source: Source, kept: Path) -> tuple[Rows, Rows]:
    """Read a table from the cache, and check it."""
    content = kept.read_bytes()
    try:
        with np.load(BytesIO(content), allow_pickle=False) as arrays:
            X, labels = (np.asarray(arrays[a], float) for a in ("data", "target"))
        check_rows(source, X, labels, str(kept))
    except Exception as error:  # archives and arrays can be damaged in many ways
        raise ValueError(
            f"{kept} is damaged; delete it to have {source.name} fetched anew."
        ) from error
    return X, labels


@contextmanager
def _keeping(kept: Path) -> Iterator[BinaryIO]:
    """Open the file of the cache: it will be there whole, or as before."""
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        with replacing(kept) as stream:
            yield stream
    except ConnectionError:  # of the download
        raise
    except OSError as error:
        raise OSError(_closed(kept, error)) from error


def _closed(kept: Path, error: OSError) -> str:
    return (
        f"{kept} cannot be written ({error.strerror or error}); pass data_home, a "
        "folder that can."
    )
