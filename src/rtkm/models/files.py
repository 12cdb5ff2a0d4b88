"""Models in files: saving, loading and describing them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from rtkm._files import replacing
from rtkm._version import versions
from rtkm.core.fields import Savable
from rtkm.models.container import (
    OPENING,
    Arrays,
    dump,
    header_length,
    pack,
    parse,
    unpack,
)
from rtkm.models.encoding import decode, encode_model
from rtkm.models.schema import FORMAT_VERSION, check_description, model_in

MOST_QUOTED = 500
MOST_BYTES = 2**30


class ModelFileError(ValueError):
    """A file that is no model, damaged, or not to be believed.

    Examples
    --------
    >>> import tempfile
    >>> import rtkm
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     try:
    ...         rtkm.load(file.name)
    ...     except rtkm.ModelFileError as error:
    ...         print(str(error).replace(file.name, "m").partition(";")[0])
    m is not loaded: it does not begin as a model
    """


def load(path: str | os.PathLike[str], *, max_bytes: int = MOST_BYTES) -> Any:
    """Return the model that ``model.save(path)`` wrote.

    It answers for new rows exactly as the saved one did: ``predict``,
    ``score_samples``, ``transform`` and the others give the same bits. What described
    the training rows, such as ``labels_``, is not there any more.

    Nothing in a file is ever run. One that is damaged, or not written by ``save``, is
    refused with a message that says why, and takes no more memory than a model of its
    size would: that of the file, which the arrays of the model then live in.

    Parameters
    ----------
    path : str or path-like
        The file.
    max_bytes : int, default=2**30
        Larger files are not read.

    Returns
    -------
    estimator
        Fitted, of the class that was saved, with its parameters. An ``init`` that was
        a list comes back as an array.

    Raises
    ------
    ModelFileError
        If the file is not a model, or not to be believed. It is a ``ValueError``.

    See Also
    --------
    describe_model : Parameters, versions, and what was saved beside the model.

    Examples
    --------
    >>> import os, tempfile
    >>> import rtkm
    >>> X = [[0.0], [1.0], [10.0], [11.0], [100.0]]
    >>> model = rtkm.TrimmedKMeans(2, contamination=1, random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.rtkm")
    ...     model.save(path)
    ...     loaded = rtkm.load(path)
    >>> loaded
    TrimmedKMeans(contamination=1, n_clusters=2, random_state=0)
    >>> loaded.predict([[0.4], [500.0]])
    array([ 0, -1], dtype=int32)
    """
    return read_model(path, max_bytes)[1]


def describe_model(
    path: str | os.PathLike[str], *, max_bytes: int = MOST_BYTES
) -> dict[str, Any]:
    """Return what a model file says, without its arrays.

    Parameters
    ----------
    path : str or path-like
        The file.
    max_bytes : int, default=2**30
        Larger files are not read.

    Returns
    -------
    dict
        ``"format"``; ``"written_by"``, versions by name; ``"model"``, with its
        ``"method"``, ``"parameters"`` and what it ``"learned"``, in which
        ``{"array": name}`` stands for an array; and ``"extra"``, as it was given to
        ``save``.

    Raises
    ------
    ModelFileError
        Where :func:`load` would raise it, too.

    Examples
    --------
    >>> import os, tempfile
    >>> import rtkm
    >>> model = rtkm.KMOR(1, random_state=0).fit([[0.0], [1.0], [2.0]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.rtkm")
    ...     model.save(path, extra={"unit": "mm"})
    ...     description = rtkm.describe_model(path)
    >>> description["extra"], description["model"]["method"]
    ({'unit': 'mm'}, 'KMOR')
    >>> description["model"]["parameters"]["cutoff_factor"]
    3.0
    """
    return read_model(path, max_bytes)[0]


def save(
    model: Any, path: str | os.PathLike[str], extra: Mapping[str, Any] | None
) -> None:
    """Write a fitted model to a file."""
    content = as_bytes(model, extra)
    if os.path.exists(path) and not os.path.isfile(path):
        raise OSError(f"{os.fspath(path)} is not a file; choose another name.")
    with replacing(path) as stream:
        stream.write(content)


def as_bytes(model: Any, extra: Mapping[str, Any] | None) -> bytes:
    """Return the content of a file for a fitted model."""
    check_is_fitted(model)
    try:
        arrays: Arrays = {}
        description = {
            "format": FORMAT_VERSION,
            "written_by": versions(),
            "model": encode_model(model, "model", arrays),
            "extra": checked_extra(extra or {}),
        }
        content = pack(description, arrays)
        restore(*unpack(content))  # what could not be read again is not written
    except ValueError as error:
        raise ValueError(f"the model is not saved: {error}") from error
    return content


def read_model(
    path: str | os.PathLike[str], max_bytes: int = MOST_BYTES
) -> tuple[dict[str, Any], Any]:
    """Return description and model of a file, or say what is wrong with it."""
    try:
        content = read_bytes(path, max_bytes)
        description, arrays = unpack(content)
        return description, restore(description, arrays)
    except (ValueError, RecursionError) as error:
        too_deep = isinstance(error, RecursionError)
        problem = "it is nested too deep." if too_deep else shorten(str(error))
        raise ModelFileError(f"{os.fspath(path)} is not loaded: {problem}") from error


def read_bytes(path: str | os.PathLike[str], max_bytes: int) -> bytearray:
    """Return the bytes of a file that begins as a model does.

    The arrays of the model will live in them, so they can be written to.
    """
    if Path(path).exists() and not Path(path).is_file():
        raise ValueError(
            "it is not a file; expected what save or rtkm fit --model wrote."
        )
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size > max_bytes:
            raise ValueError(
                f"it has {size} bytes, more than max_bytes={max_bytes}; raise that if "
                "you know where the file comes from."
            )
        header_length(file.read(8 + len(OPENING)), size)
        file.seek(0)
        content = bytearray(size)
        del content[file.readinto(content) :]
        return content


def begins_as_model(path: str | os.PathLike[str]) -> bool:
    """Whether there is a file that begins as a model does, damaged or not."""
    if not Path(path).is_file():  # a pipe can be read only once
        return False
    try:
        with open(path, "rb") as file:
            header_length(file.read(8 + len(OPENING)), os.fstat(file.fileno()).st_size)
    except (OSError, ValueError):
        return False
    return True


def shorten(text: str) -> str:
    """Cut a message that quotes too much of a file."""
    return text if len(text) <= MOST_QUOTED else f"{text[:MOST_QUOTED]}..."


def checked_extra(extra: Mapping[str, Any]) -> Any:
    """Return what the caller gives with the model, if JSON tells it faithfully."""
    try:
        read_again = parse(dump(extra))
    except (TypeError, ValueError, RecursionError):
        read_again = {}
    if read_again != extra:
        raise ValueError(
            f"extra={shorten(repr(extra))} does not come back from JSON as it is; "
            "expected a dict of texts, finite numbers, lists and dicts by text."
        )
    return extra


def restore(description: dict[str, Any], arrays: Arrays) -> Any:
    """Return the model that a file describes."""
    check_description(description)
    model = decode(model_in(description, arrays), arrays)
    if not isinstance(model, Savable) or not hasattr(model, "offset_"):
        raise ValueError("its model is not valid; expected a fitted estimator.")
    if arrays:
        raise ValueError(f"nothing in it refers to the array {min(arrays)!r}.")
    return model
