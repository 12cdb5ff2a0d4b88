"""The judges of the paper's claims: what would have to be so, and what is."""

from __future__ import annotations

import numpy as np

from experiments.claims.judging import (
    DEFAULT,
    DESCRIBED,
    NOT,
    PARTLY,
    REPRODUCED,
    Answer,
    Cells,
    Scores,
    combine,
    listed,
)
from experiments.claims.names import label
from experiments.claims.summary import by_setting, curve, objectives, only_cell

ALIKE = 0.05  # scores that differ by less on average are alike
CLEAR = 0.01  # and by more than this one is clearly better
TIE = 0.005  # F1 closer than this share a rank
POOR = 0.01  # an objective higher by this share is that of a poor minimum
RARELY = 0.1  # a share of runs
OTHERS = ("KMOR, gamma 1", "KMOR, gamma 9", "NEO")


def verdict_if(holds: bool) -> str:
    """Return the verdict on a claim that is either so or not."""
    return REPRODUCED if holds else NOT


# k-means, and its relaxation


def kmeans_is_misled(cells: Cells) -> Answer:
    record = only_cell(cells, "clouds")
    truth = np.array(record["truth"])
    clouds = np.unique(truth[truth >= 0])
    texts, n_seen, n_lost = [], {}, {}
    for method, labels in record["labels"].items():
        found = np.array(labels)
        seen = {np.bincount(found[truth == c] + 1).argmax() for c in clouds}
        n_seen[method] = len(seen)
        n_lost[method] = len(set(found[truth == -1]) - set(found[truth >= 0]) - {-1})
        texts.append(
            f"{method} tells {n_seen[method]} of {len(clouds)} clouds apart; centers "
            f"on outliers alone: {n_lost[method]} (our own draw)"
        )
    return verdict_if(n_seen["k-means"] < len(clouds) and n_lost["k-means"] > 0), texts


def weights_become_crisp(cells: Cells) -> Answer:
    record = only_cell(cells, "process")
    counts = ", ".join(
        f"{n} at iteration {iteration}"
        for iteration, n in zip(
            record["iterations"], record["n_fractional"], strict=True
        )
    )
    points = curve(cells, "units", "as described", "fractional")["RTKM, step 1.1"]
    worst = max(point.mean for point in points)
    texts = [
        f"rows with fractional weights, of {len(record['X'])}: {counts} (our own draw, "
        "in units chosen to show it)",
        f"the same for WBC in units from {points[0].setting} to {points[-1].setting}: "
        f"at most {worst:.0%} of the rows after 1000 iterations",
    ]
    if not (record["converged"] and record["n_fractional"][-1] == 0):
        return NOT, texts
    return (REPRODUCED if worst == 0 else "true only in suitable units"), texts


# Breast cancer


def alike_on_wbc(scores: Scores) -> tuple[bool, str]:
    gaps = [
        np.abs(scores(s, "RTKM") - scores(s, "KMOR, gamma 1")).max()
        for s in ("f1", "me")
    ]
    text = f"largest gap in F1 {gaps[0]:.4f}, in M_e {gaps[1]:.4f}"
    return bool(max(gaps) < CLEAR), text


def neo_is_blind(scores: Scores) -> tuple[bool, str]:
    hits = scores("hits", "NEO", "high").max()
    return bool(hits == 0), f"most outliers found by NEO in any run: {hits:g}"


# Shuttle

THREE = ("RTKM", "KMOR", "NEO")


def beyond(scores: Scores, score: str) -> dict[str, float]:
    """Return each method's mean score at the shares beyond .02."""
    return {m: float(scores(score, m)[3:].mean()) for m in THREE}


def alike_up_to_two_percent(scores: Scores) -> tuple[bool, str]:
    gaps = {
        name: float(np.ptp([scores(s, m)[:3] for m in THREE], axis=0).max())
        for name, s in (("M_e", "me"), ("F1", scores.f1))
    }
    text = f"largest gaps among the three up to .02: {listed(gaps)} (alike: {ALIKE})"
    return max(gaps.values()) < ALIKE, text


def more_outliers_beyond(scores: Scores) -> tuple[bool, str]:
    me = beyond(scores, "me")
    holds = max(me["RTKM"], me["NEO"]) < me["KMOR"] - ALIKE
    return holds, f"mean M_e beyond .02: {listed(me)}"


def lower_f1_than_kmor(scores: Scores) -> tuple[bool, str]:
    f1 = beyond(scores, scores.f1)
    return max(f1["RTKM"], f1["NEO"]) < f1["KMOR"], (
        f"mean F1 beyond .02: {listed(f1)}"
    )


def higher_f1_than_neo(scores: Scores) -> tuple[bool, str]:
    f1 = {m: float(scores(scores.f1, m)[1:].mean()) for m in ("RTKM", "NEO")}
    return f1["RTKM"] > f1["NEO"] + CLEAR, f"mean F1 at shares above 0: {listed(f1)}"


def lowest_me_on_shuttle(scores: Scores) -> tuple[bool, str]:
    me = {m: float(scores("me", m)[1:].mean()) for m in THREE}
    holds = me["RTKM"] < min(me["NEO"], me["KMOR"]) - CLEAR
    return holds, f"mean M_e at shares above 0: {listed(me)}"


# Overlapping clusters

METHODS = ("KMOR", "NEO", "moc", "fuzzy", "esp", "isp", "okm", "rokm")


def f1_at_best(cells: Cells, rtkm: str) -> dict[str, dict[str, float]]:
    """Return F1 at the best objective by table and method, RTKM's under that name."""
    tables = by_setting(cells, "overlap", "as described", "f1")
    return {
        table: {"RTKM": points[rtkm].at_best} | {m: points[m].at_best for m in METHODS}
        for table, points in tables.items()
    }


def rank(scores: dict[str, float], method: str) -> int:
    """Return the rank of a method; scores that tie share theirs."""
    return 1 + sum(score > scores[method] + TIE for score in scores.values())


def by_the_program(cells: Cells) -> dict[str, dict[str, float]]:
    """Return the best F1 of what the authors ran, by table and method."""
    tables = by_setting(cells, "overlap", "as published", "f1")
    return {t: {m: p.high for m, p in points.items()} for t, points in tables.items()}


def neo_is_first(cells: Cells) -> Answer:
    described = f1_at_best(cells, DESCRIBED.rtkm)
    program = by_the_program(cells)
    places = [rank(scores, "NEO") for scores in described.values()]
    texts = [
        "as described, all nine computed and scored alike, at the best objective: NEO "
        f"ranks {' and '.join(map(str, places))}; "
        + "; ".join(
            f"{table}: {listed(ordered(scores))}" for table, scores in described.items()
        ),
        "as published, best of five starts: "
        + "; ".join(f"{table}: {listed(scores)}" for table, scores in program.items()),
    ]
    answers = {
        "as described": (places == [1, 1], texts[0]),
        "as published": (
            all(scores["NEO"] > scores["RTKM"] for scores in program.values()),
            texts[1],
        ),
    }
    return combine(answers)[0], texts


def ordered(scores: dict[str, float]) -> dict[str, float]:
    """Return scores, the highest first, under the names for readers."""
    names = {m: label(m) for m in METHODS} | {"RTKM": "RTKM"}
    return {names[m]: scores[m] for m in sorted(scores, key=lambda m: -scores[m])}


def rtkm_is_second(cells: Cells) -> Answer:
    answers = {}
    for reading in (DESCRIBED, DEFAULT):
        tables = f1_at_best(cells, reading.rtkm)
        places = [rank(scores, "RTKM") for scores in tables.values()]
        tops = [scores["RTKM"] for scores in tables.values()]
        text = (
            f"RTKM ranks {places[0]} on yeast ({tops[0]:.3f}) and {places[1]} on scene "
            f"({tops[1]:.3f}), of nine; F1 within {TIE} share a rank"
        )
        answers[reading.name] = places == [2, 2], text
    return combine(answers)


def kmor_on_both(cells: Cells) -> Answer:
    answers = {}
    for reading in (DESCRIBED, DEFAULT):
        tables = f1_at_best(cells, reading.rtkm)
        gaps = {t: scores["RTKM"] - scores["KMOR"] for t, scores in tables.items()}
        answers[reading.name] = (
            abs(gaps["scene"]) < CLEAR and gaps["yeast"] > ALIKE,
            f"RTKM less KMOR: {listed(gaps)}",
        )
    return combine(answers)


def floor_of_cardinality(cells: Cells) -> Answer:
    tables = by_setting(cells, "overlap", "as described", "f1")
    texts, holds = [], []
    for table, points in tables.items():
        floor, more = (points[m].at_best for m in ("RTKM, step 1.1", "RTKM, s + 1"))
        holds.append(floor > more)
        texts.append(f"{table}: F1 {floor:.3f}, with one membership more {more:.3f}")
    if len(set(holds)) > 1:
        return f"true only on {list(tables)[holds.index(True)]}", texts
    return verdict_if(holds[0]), texts


def at_least_as_asked(cells: Cells) -> Answer:
    short, n_runs = 0, 0
    for key, methods in cells.items():
        name, protocol, *_ = key.split("/")
        if protocol == "as described" and name in ("wbc", "shuttle", "yeast_noise"):
            asked = methods["RTKM"]["n_outliers"]  # the default trims as many as asked
            short += methods["RTKM, step 1.1"]["n_outliers"] < asked
            n_runs += 1
    sizes = by_setting(cells, "overlap", "as described", "cardinality")
    low = {t: points["RTKM, step 1.1"].low for t, points in sizes.items()}
    return verdict_if(short == 0 and low["yeast"] >= 4 and low["scene"] >= 1), [
        f"as described, fewer outliers than asked for in {short} of {n_runs} runs",
        f"clusters per row, at least: {listed(low, '.2f')} (asked for: 4 and 1)",
    ]


# Yeast and noise


def a_tenth_is_noise(cells: Cells) -> Answer:
    record = only_cell(cells, "outlier_maps")
    n, n_outliers = len(record["plane"]), len(record["outliers"]["truth"])
    text = f"{n_outliers} of {n} rows are noise, {n_outliers / n:.1%}"
    return verdict_if(abs(n_outliers / n - 0.1) < 0.01), [text]


def best_on_noise(scores: Scores) -> tuple[bool, str]:
    f1 = [scores("f1", "RTKM") >= scores("f1", m) for m in OTHERS]
    me = [scores("me", "RTKM") <= scores("me", m) + 1e-9 for m in OTHERS]
    n_shares = len(f1[0])
    first = np.all(f1, axis=0).sum(), np.all(me, axis=0).sum()
    text = f"best F1 at {first[0]} and lowest M_e at {first[1]} of {n_shares} shares"
    return bool(min(first) == n_shares), text


def gamma_nine_is_blind(scores: Scores) -> tuple[bool, str]:
    n = scores("n_outliers", "KMOR, gamma 9", "high").max()
    return bool(n == 0), f"most outliers in any run: {n:.0f}"


def gamma_matters(scores: Scores) -> tuple[bool, str]:
    n = {m: float(scores("n_outliers", m).mean()) for m in OTHERS[:2]}
    me = {m: float(scores("me", m).mean()) for m in OTHERS[:2]}
    holds = abs(np.diff(list(me.values()))[0]) > ALIKE
    return bool(holds), f"mean M_e: {listed(me)}; rows trimmed: {listed(n, '.0f')}"


def sometimes_almost_as_low(scores: Scores) -> tuple[bool, str]:
    others = ("KMOR, gamma 1", "NEO")
    rtkm = scores("me", "RTKM", "low")[-2:]
    gaps = {m: float((scores("me", m, "low")[-2:] - rtkm).min()) for m in others}
    text = f"lowest M_e less RTKM's, at .09 or .10: {listed(gaps)}"
    return max(gaps.values()) < ALIKE, text


def only_rtkm_finds_any(scores: Scores) -> tuple[bool, str]:
    runs = scores.runs
    shares = {
        m: float(np.mean([run[m]["hits"] > 0 for run in runs]))
        for m in ("RTKM", *OTHERS)
    }
    holds = shares["RTKM"] > 0.5 and max(shares[m] for m in OTHERS) < RARELY
    return holds, (
        f"runs that find any, at shares above 0: {listed(shares, '.0%')} (the others "
        f"are allowed {RARELY:.0%})"
    )


def a_start_with_rtkm_alone(scores: Scores) -> tuple[bool, str]:
    most = max(run["RTKM"]["hits"] for run in scores.runs)
    seen = [
        run["RTKM"]["hits"] == most and all(run[m]["hits"] == 0 for m in OTHERS)
        for run in scores.runs_at(-1)
    ]
    return any(seen), f"so from {sum(seen)} of {len(seen)} starts at a share of .10"


# The iteration itself


def trimming_alone_is_poor(cells: Cells) -> Answer:
    texts, worse = [], []
    for experiment in ("shuttle", "yeast_noise"):
        me = curve(cells, experiment, "as described", "me")
        means = {
            label(m): float(np.mean([point.mean for point in me[m][1:]]))
            for m in ("RTKM, no swaps", "RTKM, step 1.1")
        }
        hard, soft = means.values()
        worse.append(hard > soft + CLEAR)
        texts.append(f"{experiment}, mean M_e from the same starts: {listed(means)}")
    return (REPRODUCED if all(worse) else PARTLY if any(worse) else NOT), texts


def relaxation_avoids_poor_minima(cells: Cells) -> Answer:
    pays, texts = [], []
    for experiment in ("shuttle", "yeast_noise"):
        soft, hard = (
            objectives(cells, experiment, m)
            for m in ("RTKM, step 1.1", "RTKM, no swaps")
        )
        lower, higher = (
            (soft < hard * (1 - POOR)).sum(),
            (soft > hard * (1 + POOR)).sum(),
        )
        pays.append(lower > higher)
        texts.append(
            f"{experiment}, step 1.1 against hard trimming from the same start: "
            f"objective lower by {POOR:.0%} in {lower} of {len(soft)} runs, higher in "
            f"{higher}"
        )
    return (REPRODUCED if all(pays) else PARTLY if any(pays) else NOT), texts


def iteration_converges(cells: Cells) -> Answer:
    shares = {}
    for experiment in ("wbc", "shuttle", "overlap", "yeast_noise"):
        points = curve(cells, experiment, "as described", "converged")
        shares[experiment] = float(
            np.mean([point.mean for point in points["RTKM, step 1.1"]])
        )
    text = f"runs that settle within 1000 iterations: {listed(shares, '.0%')}"
    low, high = min(shares.values()), max(shares.values())
    return (REPRODUCED if low == 1 else PARTLY if high > 0 else NOT), [text]
