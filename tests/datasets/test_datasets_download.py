"""Tables from OpenML, from a server of our own that stands in for it."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
import toy_yeast
from numpy.testing import assert_array_equal

from rtkm.datasets import _openml, _tables, fetch_yeast

ABOUT = "/api/v1/json/data/40597"
FILE = "/data/v1/download/4644190/yeast.arff"
WORDS = ("FALSE", "TRUE")


class Handler(BaseHTTPRequestHandler):
    """Answers each address from a list; the last answer stays."""

    def do_GET(self):
        self.server.asked.append(self.path)
        answers = self.server.answers.get(self.path, [(404, b"", None)])
        status, body, length = answers[0] if len(answers) == 1 else answers.pop(0)
        self.send_response(status)
        if length != "none":
            self.send_header("Content-Length", str(length or len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


@pytest.fixture
def server(monkeypatch):
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    httpd.asked, httpd.waits = [], []
    address = f"http://127.0.0.1:{httpd.server_port}"
    about = {"data_set_description": {"id": "40597", "url": address + FILE}}
    httpd.answers = {ABOUT: [(200, json.dumps(about).encode(), None)]}
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr(_openml, "SERVER", address)
    monkeypatch.setattr(_openml.time, "sleep", httpd.waits.append)
    monkeypatch.setattr(_tables, "YEAST", toy_yeast.SOURCE)
    monkeypatch.delenv("RTKM_DATA", raising=False)
    thread = threading.Thread(target=httpd.serve_forever, args=(0.01,))
    thread.start()
    yield httpd
    httpd.shutdown()
    httpd.server_close()
    thread.join()


def serve(server, *answers):
    server.answers[FILE] = [
        answer if isinstance(answer, tuple) else (200, answer.encode(), None)
        for answer in answers
    ]


def failure(error, home):
    with pytest.raises(error) as caught:
        fetch_yeast(data_home=home)
    assert list(home.iterdir()) == []  # nothing half-written
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_download_arrives_in_the_cache(server, tmp_path, capfd):
    serve(server, toy_yeast.arff(words=WORDS))
    yeast = fetch_yeast(data_home=tmp_path)
    assert_array_equal(yeast.data, toy_yeast.X)
    assert_array_equal(yeast.target, toy_yeast.LABELS)
    assert yeast.path == str(tmp_path / "yeast.npz")
    assert server.asked == [ABOUT, FILE]
    again = fetch_yeast(data_home=tmp_path)
    assert server.asked == [ABOUT, FILE]
    assert_array_equal(again.data, toy_yeast.X)
    assert [file.name for file in tmp_path.iterdir()] == ["yeast.npz"]
    assert capfd.readouterr() == ("", "")  # no terminal, no bar


def test_progress_shows_the_bytes(server, tmp_path, monkeypatch):
    text = toy_yeast.arff(words=WORDS)
    serve(server, text)
    bars = []

    class Bar(_openml.tqdm):
        def __init__(self, *args, **kwargs):
            bars.append((kwargs["desc"], kwargs["total"], kwargs["disable"]))
            super().__init__(*args, **{**kwargs, "disable": True})

        def update(self, n=1):
            bars.append(n)

    monkeypatch.setattr(_openml, "tqdm", Bar)
    fetch_yeast(data_home=tmp_path)
    shown = bars[bars.index(("yeast", len(text), None)) + 1 :]
    assert sum(shown) == len(text)
    assert bars[0][2] is True  # the description is too short for a bar


def test_training_rows_first_are_put_behind(server, tmp_path):
    X, labels = (np.roll(a, 2, axis=0) for a in (toy_yeast.X, toy_yeast.LABELS))
    serve(server, toy_yeast.arff(X, labels, WORDS))
    yeast = fetch_yeast(data_home=tmp_path)
    assert_array_equal(yeast.data, toy_yeast.X)
    assert_array_equal(yeast.target, toy_yeast.LABELS)


@pytest.mark.parametrize("ours_first", [True, False])
def test_rows_beyond_ours_are_left_out(server, tmp_path, ours_first):
    # as in shuttle, which has the test part, too
    blocks = (
        [toy_yeast.X, toy_yeast.X[:2] + 1],
        [toy_yeast.LABELS, toy_yeast.LABELS[:2]],
    )
    X, labels = (np.concatenate(b if ours_first else b[::-1]) for b in blocks)
    serve(server, toy_yeast.arff(X, labels, WORDS))
    yeast = fetch_yeast(data_home=tmp_path)
    assert_array_equal(yeast.data, toy_yeast.X)
    assert_array_equal(yeast.target, toy_yeast.LABELS)


def test_other_content_is_refused_with_both_hashes(server, tmp_path):
    X = toy_yeast.X[::-1]
    serve(server, toy_yeast.arff(X, words=WORDS))
    message = failure(ValueError, tmp_path)
    assert message == (
        f"{_openml.SERVER}{FILE} has content of sha256 {toy_yeast.fingerprint(X)}; "
        f"expected {toy_yeast.SOURCE.sha256}, the features of yeast."
    )


def test_other_labels_are_refused(server, tmp_path):
    serve(server, toy_yeast.arff(labels=1 - toy_yeast.LABELS, words=WORDS))
    assert "the labels of yeast" in failure(ValueError, tmp_path)


def test_fewer_rows_are_refused(server, tmp_path):
    serve(server, toy_yeast.arff(toy_yeast.X[:4], toy_yeast.LABELS[:4], WORDS))
    assert "has 4 rows; expected the 6 of yeast" in failure(ValueError, tmp_path)


def test_truncated_answer_is_asked_for_again(server, tmp_path):
    text = toy_yeast.arff(words=WORDS)
    cut = (200, text.encode()[:1000], len(text))
    serve(server, cut, cut, text)
    assert_array_equal(fetch_yeast(data_home=tmp_path).data, toy_yeast.X)
    assert server.asked == [ABOUT, FILE, FILE, FILE]
    assert server.waits == [1, 2]


def test_answer_truncated_three_times_is_an_error(server, tmp_path):
    text = toy_yeast.arff(words=WORDS)
    serve(server, (200, text.encode()[:1000], len(text)))
    message = failure(ConnectionError, tmp_path)
    assert f"the answer ended after 1000 of {len(text)} bytes" in message
    assert server.asked == [ABOUT, FILE, FILE, FILE]


def test_answer_without_a_length_is_read_to_its_end(server, tmp_path):
    serve(server, (200, toy_yeast.arff(words=WORDS).encode(), "none"))
    assert_array_equal(fetch_yeast(data_home=tmp_path).data, toy_yeast.X)


def test_busy_server_is_asked_again_and_a_refusal_is_final(server, tmp_path):
    serve(server, (503, b"busy", None), toy_yeast.arff(words=WORDS))
    fetch_yeast(data_home=tmp_path)
    assert server.asked == [ABOUT, FILE, FILE]
    (tmp_path / "yeast.npz").unlink()
    del server.asked[:], server.answers[FILE]
    assert "HTTP Error 404" in failure(ConnectionError, tmp_path)
    assert server.asked == [ABOUT, FILE]


@pytest.mark.parametrize(
    "body",
    [
        b"<html>moved</html>",
        b"\xff\x00",
        b"[]",
        b'{"error": "none"}',
        b'{"data_set_description": {"url": "file:///etc/hostname"}}',
    ],
)
def test_description_that_names_no_file_is_refused(server, tmp_path, body):
    server.answers[ABOUT] = [(200, body, None)]
    assert failure(ValueError, tmp_path) == (
        f"{_openml.SERVER}{ABOUT} names no file; expected the description of a table."
    )


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"\xff\x00garbage", "is not text; expected an ARFF file."),
        (b"<html>busy</html>", "is damaged: line 1 has 1 values; expected 117."),
        (b"", "has no rows; expected a table of numbers."),
    ],
)
def test_file_that_is_no_table_is_refused(server, tmp_path, body, message):
    serve(server, (200, body, None))
    assert failure(ValueError, tmp_path) == f"{_openml.SERVER}{FILE} {message}"


def test_without_network_the_places_and_the_way_out_are_named(
    server, tmp_path, monkeypatch
):
    monkeypatch.setattr(_openml, "SERVER", "http://127.0.0.1:1")  # nobody listens
    message = failure(ConnectionError, tmp_path)
    assert message.startswith(
        f"yeast is not at hand: RTKM_DATA is not set, {tmp_path} holds no yeast.npz, "
        f"and www.openml.org did not send it (http://127.0.0.1:1{ABOUT}: "
    )
    assert message.endswith(
        "; set RTKM_DATA to a folder that holds yeast/yeast.arff, or pass path."
    )
    assert server.waits == [1, 2]
