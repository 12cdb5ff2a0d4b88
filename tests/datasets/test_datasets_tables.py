"""The paper's tables as they are on disk: content, labels, noise and starts."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from rtkm.datasets import (
    fetch_saved_starts,
    fetch_scene,
    fetch_shuttle,
    fetch_yeast,
    make_yeast_noise,
)


def sha256(X):
    return hashlib.sha256(np.ascontiguousarray(X, "<f8").tobytes()).hexdigest()


@pytest.fixture
def yeast_file(data_file):
    return data_file("yeast/yeast.arff")


@pytest.fixture
def noise_folder(data_file, yeast_file, monkeypatch):
    monkeypatch.setenv("RTKM_DATA", str(yeast_file.parents[1]))
    data_file("yeast_noise/labels_yeast_noise.npy")
    return data_file("yeast_noise/data_yeast_noise.npy").parent


def test_shuttle_has_the_published_content(data_file):
    shuttle = fetch_shuttle(path=data_file("shuttle.trn"))
    assert shuttle.data.shape == (43_500, 9)
    assert shuttle.data.flags.c_contiguous
    assert sha256(shuttle.data) == (
        "45e3c4b200ed4284288ca1ab3f2f00fbb165f6e6ae54de778957bc8366ff91f4"
    )
    counts = np.bincount(shuttle.target)
    assert_array_equal(counts, [0, 34108, 37, 132, 6748, 2458, 6, 11])
    assert shuttle.outlier_mask.sum() == 37 + 132 + 6 + 11
    assert not shuttle.outlier_mask[np.isin(shuttle.target, (1, 4, 5))].any()
    assert len(shuttle.target_names) == 7
    assert len(shuttle.feature_names) == 9
    assert "UCI" in shuttle.DESCR
    assert shuttle.path == str(data_file("shuttle.trn"))


def test_shuttle_keeps_the_class_among_its_features_only_if_asked(data_file):
    path = data_file("shuttle.trn")
    X, y = fetch_shuttle(path=path, return_X_y=True, with_class_column=True)
    assert X.shape == (43_500, 10)
    assert_array_equal(X[:, 9], y)
    assert_array_equal(X[:, :9], fetch_shuttle(path=path).data)
    frame = fetch_shuttle(path=path, with_class_column=True, as_frame=True)
    assert frame.data.columns[9] == "class"
    assert frame.target.name == "class"


def test_yeast_has_the_published_content(yeast_file):
    yeast = fetch_yeast(path=yeast_file)
    assert yeast.data.shape == (2417, 103)
    assert yeast.data.flags.c_contiguous
    assert sha256(yeast.data) == (
        "6d73f6e26d7c2671ad5790bfa654afe441d06b47fb5f5beb83e431851d126fee"
    )
    assert yeast.target.shape == (2417, 14)
    assert yeast.target.dtype == np.int64
    assert set(np.unique(yeast.target)) == {0, 1}
    assert round(yeast.target.sum() / 2417, 3) == 4.237
    assert yeast.target_names == [f"Class{j}" for j in range(1, 15)]
    assert "Elisseeff" in yeast.DESCR


def test_yeast_labels_are_those_of_the_file(yeast_file):
    # the last line of the file ends in 0,1,1,0,0,0,0,0,0,0,0,1,1,0
    last = yeast_file.read_text().split()[-1].split(",")[-14:]
    assert_array_equal(fetch_yeast(path=yeast_file).target[-1], np.array(last, int))


def test_scene_joins_training_and_test_rows(data_file):
    train = data_file("scene/scene-train.arff")
    data_file("scene/scene-test.arff")
    scene = fetch_scene(path=train.parent)
    assert scene.data.shape == (2407, 294)
    assert sha256(scene.data) == (
        "8f2fd0c94e29f906e9d7df4a71f9a8e28c156b67d88df8c3c4e8b3c8a202aa4c"
    )
    assert scene.target.shape == (2407, 6)
    assert round(scene.target.sum() / 2407, 3) == 1.074
    assert scene.target_names[0] == "Beach"
    assert scene.path == str(train)
    last = train.read_text().split()[-1].split(",")
    assert_array_equal(scene.data[1210], np.array(last[:294], float))
    with pytest.raises(FileNotFoundError, match="expected the folder of both"):
        fetch_scene(path=train)


def test_labels_come_as_frames(yeast_file):
    pytest.importorskip("pandas")
    yeast = fetch_yeast(path=yeast_file)
    X, Y = fetch_yeast(path=yeast_file, as_frame=True, return_X_y=True)
    assert list(X.columns) == yeast.feature_names
    assert list(Y.columns) == yeast.target_names
    assert_array_equal(Y.to_numpy(), yeast.target)
    frame = fetch_yeast(path=yeast_file, as_frame=True).frame
    assert_array_equal(frame.to_numpy()[:, 103:], yeast.target)


def test_noise_is_uniform_above_the_mean(noise_folder):
    X, labels = make_yeast_noise()
    clean = fetch_yeast()
    assert X.shape == (2567, 103)
    assert_array_equal(X[:2417], clean.data)
    assert_array_equal(labels[:2417], clean.target)
    assert labels.shape == (2567, 14)
    assert not labels[2417:].any()
    mean, std = clean.data.mean(axis=0), clean.data.std(axis=0)
    place = (X[2417:] - mean) / std  # uniform on [0, 3], 15 450 numbers
    assert place.min() >= 0
    assert place.max() <= 3
    # quantiles of 15 450 numbers: standard error at most 3 * .5 / sqrt(15 450) = .012
    assert_allclose(np.quantile(place, [0.25, 0.5, 0.75]), [0.75, 1.5, 2.25], atol=0.05)


def test_noise_depends_on_the_seed_alone(noise_folder):
    first = make_yeast_noise(3, random_state=5)[0]
    assert first.shape == (2420, 103)
    assert_array_equal(make_yeast_noise(3, np.random.RandomState(5))[0], first)
    assert not np.array_equal(make_yeast_noise(3, random_state=6)[0], first)
    assert make_yeast_noise(0)[0].shape == (2417, 103)


def test_published_noise_is_read_from_its_folder(noise_folder):
    for folder in (noise_folder, noise_folder.parent):
        X, labels = make_yeast_noise(path=folder)
        assert X.shape == (2567, 103)
        assert X.flags.c_contiguous
        assert_array_equal(X[:2417], fetch_yeast().data)
        assert_array_equal(labels[:2417], fetch_yeast().target)
        assert not labels[2417:].any()
    assert not np.array_equal(make_yeast_noise()[0][2417:], X[2417:])


@pytest.mark.parametrize("value", [-1, 2.5, True, "many"])
def test_noise_refuses_a_number_of_rows(value):
    with pytest.raises(ValueError, match="expected a whole number of at least 0") as e:
        make_yeast_noise(value)
    assert str(e.value).startswith(f"n_noise={value!r} is not valid for make_yeast")


def test_noise_refuses_another_number_of_published_rows(tmp_path):
    with pytest.raises(ValueError, match="n_noise=10 and path do not go together"):
        make_yeast_noise(10, path=tmp_path)


@pytest.mark.parametrize(("name", "k", "d"), [("yeast", 14, 103), ("scene", 6, 294)])
def test_saved_starts_are_found_by_path_variable_and_cache(
    data_file, monkeypatch, tmp_path, name, k, d
):
    file = data_file(f"{name}/{name}_centers.npy")
    monkeypatch.delenv("RTKM_DATA", raising=False)
    starts = fetch_saved_starts(name, path=file)
    assert starts.shape == (k, d, 5)
    assert_array_equal(starts, np.load(file))
    assert_array_equal(fetch_saved_starts(name, path=file.parent), starts)
    assert_array_equal(fetch_saved_starts(name, data_home=file.parents[1]), starts)
    monkeypatch.setenv("RTKM_DATA", str(file.parents[1]))
    assert_array_equal(fetch_saved_starts(name, data_home=tmp_path), starts)
