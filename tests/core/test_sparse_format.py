"""Sparse matrices that contradict themselves are refused before they are read."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from rtkm import LDOF, RTKM, compare, estimate_neo_parameters
from rtkm.core.validation import make_table
from rtkm.seeding import k_means_plus_plus

DENSE = np.array(
    [[0, 1, 0, 2], [3, 0, 0, 0], [0, 0, 4, 0], [5, 6, 0, 0], [0, 1, 0, 2], [3, 0, 0, 1]]
).astype(float)


def with_part(form, **parts):
    """Make a matrix and set parts of it, which SciPy does not check."""
    X = form(DENSE)
    for name, value in parts.items():
        old = getattr(X, name, None)
        setattr(X, name, value(old.copy()) if callable(value) else value)
    return X


def changed(at, value, dtype=None):
    def change(array):
        array = array.astype(dtype or array.dtype)
        array[at] = value
        return array

    return change


CSR, CSC, COO = sparse.csr_array, sparse.csc_array, sparse.coo_array

MALFORMED = {
    "column beyond": (CSR, {"indices": changed(2, 4)}, "column index is 4, .* 0 to 3"),
    "column far": (CSR, {"indices": changed(2, 10**6)}, "column index is 1000000"),
    "negative": (CSR, {"indices": changed(0, -1)}, "column index is -1, .* 0 to 3"),
    "64 bits": (
        CSR,
        {"indices": changed(0, 2**32 + 1, np.int64)},
        "column index is 4294967297",
    ),
    "falls": (CSR, {"indptr": changed(2, 9)}, "indptr falls from 9 to 4 at 3"),
    "negative start": (CSR, {"indptr": changed(1, -5)}, "indptr falls from 0 to -5"),
    "start": (CSR, {"indptr": changed(0, 1)}, "indptr starts at 1, expected 0"),
    "long": (CSR, {"indptr": lambda p: np.r_[p, p[-1]]}, "length 8, expected 7"),
    "short": (CSR, {"indptr": lambda p: p[:-1]}, "length 6, expected 7"),
    "end": (CSR, {"indptr": changed(-1, 10**6)}, "indices is .* 1000000 entries"),
    "short indices": (CSR, {"indices": lambda a: a[:-3]}, r"shape \(7,\), expected 10"),
    "short data": (CSR, {"data": lambda a: a[:-3]}, r"data .* \(7,\), expected 10"),
    "no integers": (CSR, {"indices": lambda a: a + 0.5}, "float64 .* integers"),
    "matrix": (sparse.csr_matrix, {"indices": changed(2, 4)}, "column index is 4"),
    "csc row": (CSC, {"indices": changed(2, 6)}, "row index is 6, expected 0 to 5"),
    "csc indptr": (CSC, {"indptr": changed(1, 900)}, "indptr falls from 900"),
    "bsr": (sparse.bsr_array, {"indices": changed(0, 99)}, "column index is 99"),
    "lil": (sparse.lil_array, {"rows": changed(1, [7])}, "column index is 7"),
    "lil lengths": (sparse.lil_array, {"rows": changed(1, [0, 1])}, "row 1 has 2"),
    "dia": (sparse.dia_array, {"offsets": lambda a: a[:-1]}, "offsets for"),
    "coo column": (COO, {"col": changed(0, 4)}, "column index is 4, expected 0 to 3"),
    "coo row": (COO, {"row": changed(0, -7)}, "row index is -7, expected 0 to 5"),
    "coo data": (COO, {"data": lambda a: a[:-1]}, "9 entries and 10 row indices"),
}

malformed = pytest.mark.parametrize(
    ("form", "parts", "fault"), MALFORMED.values(), ids=MALFORMED
)


def refusal(form, fault):
    name = form.__name__[:3].upper()
    return pytest.raises(
        ValueError, match=rf"^X is a malformed {name} matrix: .*{fault}.*; build it"
    )


@malformed
def test_malformed_matrices_are_refused_by_fit(form, parts, fault):
    with refusal(form, fault):
        RTKM(2, contamination=0.1, random_state=0).fit(with_part(form, **parts))


ANSWERS = [
    "predict",
    "transform",
    "score_samples",
    "decision_function",
    "predict_memberships",
    "predict_confidence",
    "discriminant_factors",
    "score",
    "explain",
]


@pytest.mark.parametrize("answer", ANSWERS)
def test_malformed_new_rows_are_refused_by_every_answer(answer):
    model = RTKM(2, contamination=1, random_state=0).fit(sparse.csr_array(DENSE))
    with refusal(CSR, "column index is 4"):
        getattr(model, answer)(with_part(CSR, indices=changed(2, 4)))


@pytest.mark.parametrize(
    "use",
    [
        make_table,
        lambda X: k_means_plus_plus(X, 2),
        lambda X: estimate_neo_parameters(X, 2),
        lambda X: compare(X, [RTKM(2, contamination=0.1)], np.zeros(6)),
        lambda X: LDOF(n_neighbors=2).fit(X),
        lambda X: RTKM(2, contamination=0.1).fit_predict(X),
    ],
)
def test_malformed_matrices_are_refused_everywhere(use):
    with refusal(CSR, "indptr falls"):
        use(with_part(CSR, indptr=changed(2, 9)))


def test_more_columns_than_an_index_can_count_are_refused():
    one = np.ones(3)
    X = CSR((one, np.array([0, 5, 2**33]), np.arange(4)), shape=(3, 2**33 + 1))
    with pytest.raises(ValueError, match=r"^X has 8589934593 columns; expected"):
        RTKM(2, contamination=0.1).fit(X)


FORMS = ["csr", "csc", "coo", "bsr", "lil", "dok", "dia"]


@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("form", FORMS)
def test_all_forms_of_a_matrix_give_the_same_answer(form, kind):
    X = getattr(sparse, f"{form}_{kind}")(DENSE)
    expected = RTKM(2, contamination=1, random_state=0).fit(CSR(DENSE))
    model = RTKM(2, contamination=1, random_state=0).fit(X)
    assert_array_equal(model.labels_, expected.labels_)
    assert_array_equal(model.predict(X), expected.predict(DENSE))


@pytest.mark.parametrize("claims", [False, True])
def test_entries_in_any_order_and_more_than_once_are_added(claims):
    # row 0 is 2, 0, 1 + 2 and row 1 is 0, 4, 0, written last column first
    parts = np.array([1.0, 2, 2, 4]), np.array([2, 0, 2, 1]), np.array([0, 3, 4])
    X = CSR(parts, shape=(2, 3))
    if claims:  # which is not so
        X.has_canonical_format = True
    table = make_table(X)
    assert_array_equal(table.rows(np.arange(2)), [[2, 0, 3], [0, 4, 0]])
    assert_array_equal(X.indices, [2, 0, 2, 1])


def test_entries_beyond_the_last_row_do_not_matter():
    X = CSR(DENSE)
    X.indices, X.data = np.r_[X.indices, -9], np.r_[X.data, 7.0]
    assert_array_equal(make_table(X).rows(np.arange(6)), DENSE)


@pytest.mark.parametrize("form", FORMS)
def test_matrices_without_entries_and_empty_rows_work(form):
    make = getattr(sparse, f"{form}_array")
    model = RTKM(1, contamination=0).fit(make((4, 3)))
    assert_array_equal(model.cluster_centers_, np.zeros((1, 3)))
    with pytest.raises(ValueError, match="0 sample"):
        RTKM(1, contamination=0.1).fit(make((0, 3)))
    with pytest.raises(ValueError, match="0 feature"):
        RTKM(1, contamination=0.1).fit(make((4, 0)))


def test_a_sparse_array_of_one_dimension_is_refused():
    with pytest.raises(ValueError, match=r"^X is a sparse array of 1 dimensions"):
        RTKM(1, contamination=0.1).fit(sparse.coo_array(np.arange(3.0)))
