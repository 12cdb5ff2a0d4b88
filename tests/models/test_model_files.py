"""Damaged and hostile model files are refused, in one sentence that says why."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from saving import answers, assert_same_answers

import rtkm
from rtkm import CBLOF, CBOD, ISP, RTKM, ClusterDetector
from rtkm.datasets import make_outlier_blobs
from rtkm.models.container import MOST_HEADER_BYTES, pack, unpack

X = make_outlier_blobs(200, 3, 4, random_state=0)[0]
FITTED = {
    "RTKM": RTKM(3, contamination=0.1, n_memberships=2, init=X[:3], n_swaps=0).fit(X),
    "ISP": ISP(3, n_init=1, random_state=0).fit(X),
    "CBOD": CBOD().fit(X),
    "CBLOF": CBLOF(RTKM(3, contamination=0.1, random_state=0), weighted=True).fit(X),
    "ClusterDetector": ClusterDetector(RTKM(3, contamination=0.1, random_state=0)).fit(
        X
    ),
}


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    """The bytes of a file of each model."""
    path = tmp_path_factory.mktemp("models") / "m"
    files = {}
    for name, model in FITTED.items():
        model.save(path, extra={"unit": "mm"})
        files[name] = path.read_bytes()
    return files


@pytest.fixture
def load(tmp_path):
    """A function that loads bytes as a file."""

    def load_bytes(content, **options):
        (tmp_path / "m").write_bytes(content)
        return rtkm.load(tmp_path / "m", **options)

    return load_bytes


@pytest.fixture
def refused(load, tmp_path):
    """A function that expects bytes to be refused, in exactly these words."""

    def expect(content, message, **options):
        with pytest.raises(rtkm.ModelFileError) as caught:
            load(content, **options)
        assert str(caught.value) == f"{tmp_path / 'm'} is not loaded: {message}"
        with pytest.raises(rtkm.ModelFileError):
            rtkm.describe_model(tmp_path / "m", **options)

    return expect


def sealed(content):
    """Put the right checksum in place of the last 32 bytes."""
    return content[:-32] + hashlib.sha256(content[:-32]).digest()


def with_header(content, header, data=None):
    """Replace the header, and perhaps the data, of a file."""
    length = int.from_bytes(content[:8], "little")
    data = content[8 + length :] if data is None else data
    return sealed(len(header).to_bytes(8, "little") + header + data)


def header_of(content):
    return content[8 : 8 + int.from_bytes(content[:8], "little")]


CUT = "it is cut short; save again."
NOT_OURS = "it does not begin as a model; expected what save or rtkm fit --model wrote."
DAMAGED = "its checksum does not match, so it is damaged or cut short; save again."

# The format, read by nothing but its documentation


def test_other_programs_can_read_a_model(honest):
    content = honest["RTKM"]
    n = int.from_bytes(content[:8], "little")
    header, data = json.loads(content[8 : 8 + n]), content[8 + n :]
    description = json.loads(header["__metadata__"]["rtkm"])
    learned = description["model"]["learned"]
    place = header[learned["cluster_centers_"]["array"]]
    begin, end = place["data_offsets"]
    C = np.frombuffer(data[begin:end], "<f8").reshape(place["shape"])
    D = np.square(X[:, None] - C).sum(axis=2)
    s = description["model"]["parameters"]["n_memberships"]
    outlying = -np.sort(D)[:, :s].sum(axis=1) < learned["offset_"]
    expected = np.where(outlying, -1, D.argmin(axis=1))
    assert 0 < outlying.sum() < len(X)
    assert_array_equal(FITTED["RTKM"].predict(X), expected)
    assert (
        hashlib.sha256(content[:-32]).digest()
        == data[slice(*header["sha256"]["data_offsets"])]
    )


# Damage


def test_the_exception_is_a_value_error():
    assert issubclass(rtkm.ModelFileError, ValueError)


@pytest.mark.parametrize("name", FITTED)
def test_a_file_cut_anywhere_is_refused(name, honest, load):
    content = honest[name]
    for length in {*range(64), *range(64, len(content), 41), len(content) - 1}:
        with pytest.raises(rtkm.ModelFileError) as caught:
            load(content[:length])
        assert str(caught.value).endswith((NOT_OURS, CUT, DAMAGED))


def test_a_change_of_any_byte_is_refused(honest, load):
    content = bytearray(honest["RTKM"])
    bit = 1 << np.random.default_rng(0).integers(0, 8, len(content))
    for i in range(len(content)):
        content[i] ^= int(bit[i])
        with pytest.raises(rtkm.ModelFileError) as caught:
            load(bytes(content))
        assert str(caught.value).endswith((NOT_OURS, CUT, DAMAGED))
        content[i] ^= int(bit[i])
    assert_same_answers(load(bytes(content)), FITTED["RTKM"], X)


def test_bytes_after_the_end_are_refused(honest, refused):
    refused(honest["RTKM"] + b"x", DAMAGED)
    refused(honest["RTKM"] * 2, DAMAGED)
    text = "its arrays do not end with the checksum."
    refused(sealed(honest["RTKM"] + bytes(32)), text)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"x",
        b"a,b,c\n1,2,3\n" * 100,
        b"PK\x03\x04" + bytes(100),
        b"\x80\x04\x95" + bytes(100),
        b"\x93NUMPY\x01\x00" + bytes(200),
        b"\xff" * 8 + b'{"__metadata__":{"rtkm":"' + bytes(100),
        bytes(1000),
        (2).to_bytes(8, "little") + b"{}" + bytes(32),
    ],
    ids="empty byte csv zip pickle npy length zeros safetensors".split(),
)
def test_files_of_other_kinds_are_refused(content, refused):
    refused(content, NOT_OURS)


def test_what_is_no_file_is_refused(tmp_path):
    message = "is not loaded: it is not a file; expected what save or rtkm fit --model"
    with pytest.raises(rtkm.ModelFileError, match=re.escape(message)):
        rtkm.load(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(rtkm.ModelFileError, match=re.escape(message)):
        rtkm.load(tmp_path / "pipe")
    with pytest.raises(FileNotFoundError, match="missing"):
        rtkm.load(tmp_path / "missing")


# Size


def test_a_file_beyond_the_limit_is_not_read(honest, refused, load, tmp_path):
    size = len(honest["RTKM"])
    refused(
        honest["RTKM"],
        f"it has {size} bytes, more than max_bytes={size - 1}; raise that if you know "
        "where the file comes from.",
        max_bytes=size - 1,
    )
    assert load(honest["RTKM"], max_bytes=size).n_features_in_ == 3
    with (tmp_path / "hole").open("wb") as file:
        file.write(honest["RTKM"])
        file.truncate(2**40)
    with pytest.raises(rtkm.ModelFileError, match="more than max_bytes=1073741824"):
        rtkm.load(tmp_path / "hole")


def peak_of(function):
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("part", ["[],", "{},", '"a",', "0,"])
def test_long_headers_take_memory_in_proportion(part, honest, load):
    text = header_of(honest["RTKM"]).decode().rstrip()
    names = part * (2**20 // len(part))
    content = with_header(honest["RTKM"], f'{text[:-1]},"x":[{names}0]}}'.encode())

    def refuse():
        with pytest.raises(rtkm.ModelFileError, match="array 'x' is not described"):
            load(content)

    # an honest file of this size, full of names of columns, takes as much
    assert peak_of(refuse) < 40 * len(content)


def test_longer_headers_are_not_read(honest, refused):
    header = header_of(honest["RTKM"])
    refused(with_header(honest["RTKM"], header.ljust(MOST_HEADER_BYTES + 8)), NOT_OURS)
    model = FITTED["RTKM"]
    with pytest.raises(ValueError, match="expected at most 16777216, so shorten them"):
        model.save("nowhere", extra={"a": "x" * MOST_HEADER_BYTES})


def test_a_long_value_is_not_quoted_whole(honest, load):
    content = edited(honest["RTKM"], lambda d, _: parameters(d, init="x" * 10**6))
    with pytest.raises(rtkm.ModelFileError, match="init='xxx") as caught:
        load(content)
    assert len(str(caught.value)) < 1000


# Headers with the right checksum


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"F64","shape":[3,3]', '"F16","shape":[3,3]', "has an unknown type."),
        ('"F64","shape":[3,3]', '"|O","shape":[3,3]', "has an unknown type."),
        ('"F64","shape":[3,3]', '["F64"],"shape":[3,3]', "has an unknown type."),
        ('"F64","shape":[3,3]', '"F32","shape":[3,3]', "does not fit the file."),
        ("[3,3]", "[3,4]", "does not fit the file."),
        ("[3,3]", "[1099511627776,1099511627776]", "does not fit the file."),
        ("[3,3]", "[0,3]", "has no shape of one or two positive sides."),
        ("[3,3]", "[-3,-3]", "has no shape of one or two positive sides."),
        ("[3,3]", "[3,3,1]", "has no shape of one or two positive sides."),
        ("[3,3]", "[]", "has no shape of one or two positive sides."),
        ("[3,3]", "[true,9]", "has no shape of one or two positive sides."),
        ("[3,3]", "[3.0,3]", "has no shape of one or two positive sides."),
        ("[3,3]", "9", "has no shape of one or two positive sides."),
        ("[0,72]", "[8,80]", "does not fit the file."),
        ("[0,72]", "[-72,0]", "does not fit the file."),
        ("[0,72]", "[0]", "does not fit the file."),
        ("[0,72]", "null", "does not fit the file."),
        (',"data_offsets":[0,72]', "", "is not described as it should be."),
        ("[0,72]", '[0,72],"x":1', "is not described as it should be."),
    ],
)
def test_arrays_that_claim_what_is_not_so_are_refused(
    old, new, message, honest, refused
):
    header = header_of(honest["RTKM"]).decode()
    assert old in header
    content = with_header(honest["RTKM"], header.replace(old, new, 1).encode())
    refused(content, f"array 'model.cluster_centers_' {message}")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"sha256"', '"sha1"', "its arrays do not end with the checksum."),
        (
            '"model.init"',
            '"model.x"',
            "it has no array 'model.init', or had it before.",
        ),
        (
            '"model.init"',
            '"model.cluster_centers_"',
            "a name comes twice in its description.",
        ),
        ('"},"model', '","more":"x"},"model', "it has a second description."),
        ('{"dtype"', "[", "its description is not JSON."),
        ("[3,3]", "[NaN]", "NaN is not a number."),
        ("[3,3]", "[1e999]", "1e999 is too large a number."),
        ("[3,3]", f"[{'9' * 5000}]", f"{'9' * 20}... is too large a number."),
        ("[3,3]", f"[{2**63}]", f"{2**63}... is too large a number."),
        ("[3,3]", "[" * 100_000, "its description is not JSON."),
        ("[3,3]", "\x00", "its description is not JSON."),
    ],
    ids=lambda text: text[:20],
)
def test_headers_that_do_not_hold_together_are_refused(
    old, new, message, honest, refused
):
    header = header_of(honest["RTKM"]).decode()
    assert old in header
    content = with_header(honest["RTKM"], header.replace(old, new, 1).encode())
    refused(content, message)


def test_headers_that_are_not_text_are_refused(honest, refused):
    header = header_of(honest["RTKM"]).replace(b'"dtype"', b'"dtyp\xff"', 1)
    refused(with_header(honest["RTKM"], header), "its description is not JSON.")


def test_flags_are_0_or_1(honest, refused):
    content = bytearray(honest["CBOD"])
    content[-33] = 2  # the flags come last before the checksum
    refused(
        sealed(bytes(content)),
        "array 'model.outlier_clusters_' holds flags that are neither 0 nor 1.",
    )


# Descriptions and arrays with the right checksum


def edited(content, edit):
    """Change the description and the arrays of a file."""
    description, arrays = unpack(content)
    edit(description, arrays)
    return pack(description, arrays)


def parameters(description, **values):
    description["model"]["parameters"] |= values


def learned(description, **values):
    description["model"]["learned"] |= values


def put(name, array):
    """Replace an array of the model."""
    return lambda d, arrays: arrays.update({f"model.{name}": np.asarray(array)})


def drop(name):
    """Take an array, and the word of it, away."""

    def edit(description, arrays):
        del description["model"]["learned"][name]
        arrays.pop(f"model.{name}", None)

    return edit


HOLE = np.array([[0.0, np.nan, 0.0]] * 3)
NAMES = ", ".join(sorted(FITTED["RTKM"].get_params()))

RTKM_CASES = {
    "format": (
        lambda d, _: d.update(format=6),
        f"it has format 6; rtkm {rtkm.__version__} reads formats up to 5, so take the "
        "version that wrote it.",
    ),
    "a flag for a format": (
        lambda d, _: d.update(format=True),
        f"it has format True; rtkm {rtkm.__version__} reads formats up to 5, so take "
        "the version that wrote it.",
    ),
    "a fraction for a format": (
        lambda d, _: d.update(format=1.0),
        f"it has format 1.0; rtkm {rtkm.__version__} reads formats up to 5, so take "
        "the version that wrote it.",
    ),
    "no format": (
        lambda d, _: d.pop("format"),
        f"it has format None; rtkm {rtkm.__version__} reads formats up to 5, so take "
        "the version that wrote it.",
    ),
    "more parts": (
        lambda d, _: d.update(more={}),
        "it has other parts than format, extra, model, written_by.",
    ),
    "fewer parts": (
        lambda d, _: d.pop("extra"),
        "it has other parts than format, extra, model, written_by.",
    ),
    "extra": (
        lambda d, _: d.update(extra=[]),
        "it has other parts than format, extra, model, written_by.",
    ),
    "model": (
        lambda d, _: d.update(model={}),
        "its model is not valid; expected a fitted estimator.",
    ),
    "unfitted": (
        lambda d, _: d["model"].pop("learned"),
        "its model is not valid; expected a fitted estimator.",
    ),
    "k-means": (
        lambda d, _: d.update(
            model={"method": "KMeans", "parameters": {}, "learned": {}}
        ),
        "its model is not valid; expected a fitted estimator.",
    ),
    "parameter names": (
        lambda d, _: parameters(d, __class__="os.system"),
        f"parameters are not valid; expected only those of RTKM: {NAMES}.",
    ),
    "parameters": (
        lambda d, _: d["model"].update(parameters=[1]),
        f"parameters are not valid; expected only those of RTKM: {NAMES}.",
    ),
    "share": (
        lambda d, _: parameters(d, contamination=1.5),
        "contamination=1.5 is not valid for RTKM; expected 'auto' or a share in "
        "[0, 1) or a number of rows, 0 or more (write 1 for one row).",
    ),
    "code": (
        lambda d, _: parameters(d, on_step="print"),
        "on_step='print' is not valid for RTKM; expected None or a callable.",
    ),
    "object": (
        lambda d, _: parameters(d, tol={"a": 1}),
        "tol is not valid for RTKM.",
    ),
    "list": (
        lambda d, _: parameters(d, tol=[1]),
        "tol=[1] is not valid for RTKM; expected a number of at least 0.",
    ),
    "NaN in init": (put("init", HOLE), "init is not valid for RTKM."),
    "rows": (
        lambda d, _: learned(d, labels_=[1, 2]),
        "learned is not valid; expected only what RTKM keeps: n_features_in_, "
        "feature_names_in_, offset_, n_outliers_, cluster_centers_, "
        "_n_nearest_fitted, objective_, objective_path_, n_iter_, converged_, "
        "_sklearn_output_config, _variance_fitted, _largest_kept, cluster_sizes_, "
        "n_standing_out_, n_clusters_, contamination_, choice_.",
    ),
    "NaN": (
        put("cluster_centers_", HOLE),
        "cluster_centers_ holds nan to nan; expected finite numbers.",
    ),
    "inf": (
        put("cluster_centers_", [[-np.inf, 1.0, 2.0]]),
        "cluster_centers_ holds -inf to 2.0; expected finite numbers.",
    ),
    "features": (
        put("cluster_centers_", np.zeros((3, 4))),
        "cluster_centers_ has shape (3, 4); expected any x 3.",
    ),
    "one axis": (
        put("cluster_centers_", np.zeros(9)),
        "cluster_centers_ has shape (9,); expected any x 3.",
    ),
    "integers": (
        put("cluster_centers_", np.zeros((3, 3), dtype=np.int64)),
        "cluster_centers_ is int64; expected float32 or float64.",
    ),
    "path": (
        put("objective_path_", np.zeros(3, dtype=np.float32)),
        "objective_path_ is float32; expected float64.",
    ),
    "no array": (
        lambda d, _: learned(d, cluster_centers_=[[1.0, 2.0, 3.0]]),
        "cluster_centers_ is not valid; expected an array.",
    ),
    "missing": (
        drop("cluster_centers_"),
        "cluster_centers_ is missing, which RTKM answers by.",
    ),
    "no offset": (drop("offset_"), "offset_ is missing, which RTKM answers by."),
    "spare array": (
        lambda d, arrays: arrays.update({"../../etc/passwd": np.zeros(3)}),
        "nothing in it refers to the array '../../etc/passwd'.",
    ),
    "array of two": (
        lambda d, _: parameters(d, init={"array": "model.cluster_centers_"}),
        "it has no array 'model.cluster_centers_', or had it before.",
    ),
    "array by number": (
        lambda d, _: parameters(d, init={"array": 3}),
        "it has no array 3, or had it before.",
    ),
    "too many nearest": (
        lambda d, _: learned(d, _n_nearest_fitted=4),
        "_n_nearest_fitted=4 is not valid; expected an integer from 1 to 3.",
    ),
    "no nearest": (
        lambda d, _: learned(d, _n_nearest_fitted=0),
        "_n_nearest_fitted=0 is not valid; expected an integer from 1 to 3.",
    ),
    "offset": (
        lambda d, _: learned(d, offset_={"float": "inf"}),
        "offset_=inf is not valid for a model; expected a number or -inf.",
    ),
    "text": (
        lambda d, _: learned(d, offset_="nan"),
        "offset_='nan' is not valid for a model; expected a number or -inf.",
    ),
    "n_features": (
        lambda d, _: learned(d, n_features_in_=2**62),
        f"cluster_centers_ has shape (3, 3); expected any x {2**62}.",
    ),
    "no features": (
        lambda d, _: learned(d, n_features_in_=0),
        "n_features_in_=0 is not valid; expected an integer of at least 1.",
    ),
    "names": (
        lambda d, _: learned(d, feature_names_in_=["a", "b"]),
        "feature_names_in_ is not valid; expected 3 texts.",
    ),
    "names of numbers": (
        lambda d, _: learned(d, feature_names_in_=["a", "b", 3]),
        "feature_names_in_ is not valid; expected 3 texts.",
    ),
    "output": (
        lambda d, _: learned(d, _sklearn_output_config={"transform": "os"}),
        "_sklearn_output_config={'transform': 'os'} is not valid for a model; expected "
        "what set_output takes.",
    ),
}


@pytest.mark.parametrize("case", RTKM_CASES)
def test_models_that_are_not_to_be_believed_are_refused(case, honest, refused):
    edit, message = RTKM_CASES[case]
    refused(edited(honest["RTKM"], edit), message)


@pytest.mark.parametrize(
    "method",
    ["os.system", "rtkm.RTKM", "PrototypeClusterer", "compare", "", 3, ["RTKM"]],
)
def test_unknown_methods_are_refused(method, honest, load):
    content = edited(honest["RTKM"], lambda d, _: d["model"].update(method=method))
    with pytest.raises(rtkm.ModelFileError) as caught:
        load(content)
    assert (
        f"method {method!r} is not known to rtkm {rtkm.__version__}; expected one of "
        "RTKM, RelaxedKMeans, " in str(caught.value)
    )


def test_a_file_of_ldof_is_refused(honest, refused):
    refused(
        edited(
            honest["RTKM"],
            lambda d, _: d["model"].update(method="LDOF", parameters={}),
        ),
        "LDOF answers by its training rows, and no model file holds rows; keep the "
        "table and fit again, or use another method.",
    )


def nested(**values):
    """Change the clusterer of a detector."""
    return lambda d, _: d["model"]["learned"]["clusterer_"].update(values)


@pytest.mark.parametrize(
    ("name", "edit", "message"),
    [
        (
            "CBLOF",
            put("large_mask_", np.zeros(3, dtype=bool)),
            "large_mask_ is False throughout; expected a True.",
        ),
        (
            "CBLOF",
            put("cluster_sizes_", [5, 5, 0]),
            "cluster_sizes_ holds 0 to 5; expected finite numbers of at least 1.",
        ),
        (
            "CBLOF",
            put("_ends", np.zeros((2, 3), dtype=np.float32)),
            "cluster_centers_ is float64; expected float32.",
        ),
        (
            "CBLOF",
            put("_weights", np.ones(2)),
            "_weights has shape (2,); expected 3.",
        ),
        (
            "CBLOF",
            lambda d, _: parameters(d, clusterer={"method": "CBOD", "parameters": {}}),
            "clusterer=CBOD() is not valid for CBLOF; expected None or a clusterer, "
            "such as RTKM(n_clusters=5).",
        ),
        (
            "CBOD",
            lambda d, _: learned(d, radius_=0),
            "radius_=0 is not valid for a model; expected a positive number.",
        ),
        (
            "ISP",
            lambda d, _: d["model"]["learned"]["_charges_fitted"].update(most=0),
            "_charges_fitted.most=0 is not valid for a model; expected an integer of "
            "at least 1.",
        ),
        (
            "ISP",
            lambda d, _: d["model"]["learned"]["_charges_fitted"].pop("most"),
            "_charges_fitted is not valid; expected exponent, distance, membership, "
            "most.",
        ),
        (
            "ClusterDetector",
            lambda d, _: learned(d, clusterer_=None),
            "clusterer_ is not valid; expected a fitted estimator.",
        ),
        (
            "ClusterDetector",
            lambda d, a: (drop("clusterer_")(d, a), a.pop("model.clusterer_.x", 0)),
            "clusterer_ is missing, which ClusterDetector answers by.",
        ),
        (
            "ClusterDetector",
            lambda d, _: learned(d, clusterer_={"method": "RTKM", "parameters": {}}),
            "clusterer_ is not valid; expected a fitted estimator.",
        ),
        (
            "ClusterDetector",
            put("_ends", np.zeros((2, 3))),
            None,
        ),
        (
            "ClusterDetector",
            nested(method="FuzzyCMeans", parameters={}),
            "learned is not valid; expected only what FuzzyCMeans keeps: "
            "n_features_in_, feature_names_in_, offset_, n_outliers_, "
            "cluster_centers_, _n_nearest_fitted, objective_, objective_path_, "
            "n_iter_, converged_, _sklearn_output_config, _variance_fitted, "
            "_largest_kept, cluster_sizes_, _fuzzifier_fitted, _threshold_fitted, "
            "partition_coefficient_.",
        ),
    ],
)
def test_other_models_are_held_to_their_own_rules(
    name, edit, message, honest, load, refused
):
    content = edited(honest[name], edit)
    if message is None:
        load(content)  # what says nothing wrong is not refused
    else:
        refused(content, message)


def test_a_clusterer_for_another_table_is_refused(honest, refused):
    def edit(description, arrays):
        inner = description["model"]["learned"]["clusterer_"]["learned"]
        inner["n_features_in_"] = 2
        name = inner["cluster_centers_"]["array"]
        arrays[name] = np.ascontiguousarray(arrays[name][:, :2])

    refused(
        edited(honest["ClusterDetector"], edit),
        "clusterer_.n_features_in_=2 is not valid; expected 3.",
    )


def test_clusterers_in_clusterers_without_end_are_refused(honest, load):
    def edit(description, _):
        for _ in range(400):
            inner = {"method": "CBLOF", "parameters": {"clusterer": None}}
            inner["parameters"]["clusterer"] = description["model"]["parameters"].get(
                "clusterer"
            )
            description["model"]["parameters"]["clusterer"] = inner

    with pytest.raises(rtkm.ModelFileError):
        load(edited(honest["CBLOF"], edit))


def test_older_files_may_lack_a_parameter_that_came_later(honest, load):
    drop_step = edited(
        honest["RTKM"], lambda d, _: d["model"]["parameters"].pop("step")
    )
    assert load(drop_step).step == "auto"


# Anything else


ODD = [
    None,
    True,
    -1,
    7,
    1e300,
    2**62,
    "x",
    [[1.0]],
    {},
    {"array": "model._ends"},
    {"array": "model.cluster_centers_"},
    {"float": "-inf"},
    {"float": "nan"},
    {"method": "RTKM", "parameters": {}},
    {"method": "KMeans", "parameters": {"n_clusters": "x"}},
]


def places(value, path=()):
    """Yield the way to every value in nested dictionaries and lists."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in pairs:
        yield (*path, key)
        if isinstance(part, dict | list):
            yield from places(part, (*path, key))


def replaced(value, path, new):
    copy = json.loads(json.dumps(value))
    at = copy
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = new
    return copy


@pytest.mark.slow
@pytest.mark.parametrize("name", FITTED)
def test_any_other_value_is_refused_or_gives_a_model_that_answers(name, honest, load):
    description, arrays = unpack(honest[name])
    refusals, n_loaded = [], 0
    for path in places(description):
        for odd in ODD:
            content = pack(replaced(description, path, odd), arrays)
            try:
                model = load(content)
            except rtkm.ModelFileError as error:
                refusals.append(str(error))
            else:
                answers(model, X[:20])
                n_loaded += 1
    assert len(refusals) > 200
    # those of other libraries do not
    assert all(refusal.endswith(".") for refusal in refusals)
    assert n_loaded > 20
