"""Pictures of how it works: the simplex, the search, the bounds, the sums."""

from __future__ import annotations

import math
from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np
from toys import COLORS, INK, OUTLIER, blobs, draw, finish, panels, strays

from rtkm import TrimmedKMeans
from rtkm.projections import capped_simplex


def of_projection():
    """Draw how a vector is projected onto the capped simplex."""
    left, right = panels(height=3)
    y = np.array([2.0, 0.6, 0.5, -0.3])
    thetas = np.linspace(-1.6, 2.3, 400)
    sums = np.clip(y - thetas[:, None], 0, 1).sum(axis=1)
    theta = thetas[np.abs(sums - 2).argmin()]
    left.plot(thetas, sums, c=COLORS[0])
    left.axhline(2, c=INK, lw=0.7, ls=":")
    left.plot(theta, 2, "o", c=OUTLIER)
    left.annotate(
        rf"$\theta$ = {theta:.2f}",
        (theta, 2),
        (8, 6),
        textcoords="offset points",
        color=OUTLIER,
    )
    left.set_xlabel(r"$\theta$")
    left.set_ylabel(r"sum of clip$(y - \theta, 0, 1)$")
    left.set_title("one number is looked for", fontsize=9.5)
    places = np.arange(4)
    right.bar(places - 0.18, y, 0.34, color=COLORS[4], label="y")
    right.bar(
        places + 0.18,
        capped_simplex(y, 2),
        0.34,
        color=COLORS[0],
        label="its projection, sum 2",
    )
    right.axhline(1, c=INK, lw=0.7, ls=":")
    right.set_xticks(places)
    right.legend(frameon=False)
    right.set_title("entries are shifted, and held between 0 and 1", fontsize=9.5)


def of_swaps():
    """Draw a poor minimum, what swaps make of it, and the objective on the way."""
    X = np.concatenate([blobs(((0, 0), (4, 0), (12, 8)), 80), strays(8)])
    start = np.array([(2, 0), (11, 8), (13, 8)], float)
    poor = TrimmedKMeans(3, contamination=8, init=start, n_swaps=0).fit(X)
    good = TrimmedKMeans(3, contamination=8, init=start, random_state=0).fit(X)
    left, middle, right = panels(3, 3.2)
    draw(left, X, poor, f"the descent alone ends at {poor.objective_:.0f}")
    draw(middle, X, good, f"with swaps: {good.objective_:.0f}")
    right.plot(good.objective_path_, "o-", c=COLORS[0], ms=3)
    n = len(poor.objective_path_)
    right.plot(poor.objective_path_, "o-", c=COLORS[1], ms=4)
    right.annotate(
        "swaps begin",
        (n - 1, poor.objective_),
        (4, 10),
        textcoords="offset points",
        fontsize=8,
    )
    right.set_xlabel("step")
    right.margins(y=0.15)
    right.set_title("objective", fontsize=9.5)


def of_bounds():
    """Draw the bounds of a row, and how many rows they leave at rest."""
    left, right = panels(height=3.4)
    draw_bounds(left)
    for k, n_columns in ((3, 2), (10, 8), (50, 16)):
        rest = resting_shares(k, n_columns)
        right.plot(
            np.arange(1, len(rest) + 1),
            rest,
            "o-",
            ms=3,
            label=f"k = {k}, {n_columns} columns",
        )
    right.set_ylim(0, 1.02)
    right.set_xlabel("iteration")
    right.legend(frameon=False)
    right.set_title("share of rows whose distances are not computed", fontsize=9.5)


def draw_bounds(ax):
    """Draw a row, its center and the nearest other one, before and after a step."""
    row, own, other = np.array([0.0, 0]), np.array([1.6, 0.5]), np.array([-4.0, 1.0])
    own_now, other_now = np.array([1.9, 1.0]), np.array([-3.6, 0.6])
    for before, now, color, name in (
        (own, own_now, COLORS[0], "own"),
        (other, other_now, COLORS[1], "other"),
    ):
        radius, moved = np.linalg.norm(before - row), np.linalg.norm(now - before)
        sign = 1 if name == "own" else -1
        ax.add_patch(plt.Circle(row, radius, fill=False, ec=color, ls=":"))
        ax.add_patch(plt.Circle(row, radius + sign * moved, fill=False, ec=color))
        ax.annotate("", now, before, arrowprops={"arrowstyle": "->", "color": color})
        ax.scatter(*now, marker="X", s=90, c=color, ec="white", zorder=3)
        ax.annotate(
            f"{name} center", now, (6, 8), textcoords="offset points", color=color
        )
    ax.scatter(*row, c=INK, s=24, zorder=3)
    ax.annotate("row", row, (5, -12), textcoords="offset points")
    ax.set_xlim(-5, 4)
    ax.set_ylim(-4.5, 4.5)
    finish(ax, "the circles do not meet: nothing can have changed")
    ax.set_aspect("equal", "box")


def resting_shares(k, n_columns, n_rows=4000, n_iter=25):
    """Return how many rows Hamerly's bounds leave at rest in each iteration."""
    rng = np.random.default_rng(0)
    blob = rng.normal(scale=4 / math.sqrt(2), size=(k, n_columns))
    X = blob[rng.integers(k, size=n_rows)] + rng.normal(size=(n_rows, n_columns))
    C = X[rng.choice(n_rows, k, replace=False)]
    upper, lower, shares = np.full(n_rows, np.inf), np.zeros(n_rows), []
    labels = np.zeros(n_rows, int)
    for _ in range(n_iter):
        awake = np.flatnonzero(upper >= lower)
        D = np.linalg.norm(X[awake, None] - C, axis=2)
        two = np.argsort(D, axis=1)[:, :2]
        labels[awake] = two[:, 0]
        upper[awake], lower[awake] = np.take_along_axis(D, two, axis=1).T
        shares.append(1 - len(awake) / n_rows)
        before = C
        C = np.array(
            [
                X[labels == j].mean(axis=0) if (labels == j).any() else C[j]
                for j in range(k)
            ]
        )
        shift = np.linalg.norm(C - before, axis=1)
        upper, lower = upper + shift[labels], lower - shift.max()
    return shares


def of_sums():
    """Draw the errors of two ways to add the same numbers in many orders."""
    rng = np.random.default_rng(0)
    numbers = rng.lognormal(0, 4, 400) * rng.choice([-1, 1], 400)
    exact = sum(map(Fraction, numbers.tolist()))
    plain, kept = [], []
    for _ in range(200):
        order = rng.permutation(numbers).tolist()
        plain.append(float(Fraction(sum_plainly(order)) - exact))
        kept.append(float(Fraction(sum_with_two_sum(order)) - exact))
    unit = math.ulp(float(exact))
    left, right = panels(height=2.9)
    for ax, errors, title in (
        (left, plain, "plain additions"),
        (right, kept, "additions that keep what is lost"),
    ):
        ax.hist(
            np.array(errors) / unit,
            bins=31 if np.ptp(errors) else np.arange(-3.5, 4),
            color=COLORS[0],
        )
        ax.set_xlabel("error, in last places of the result")
        ax.set_title(
            f"{title}: {len(set(errors))} different results\nof 200 orders",
            fontsize=9.5,
        )


def sum_plainly(numbers):
    """Add, and round after each addition."""
    total = 0.0
    for x in numbers:
        total += x
    return total


def sum_with_two_sum(numbers):
    """Add, and add up what every addition rounds away."""
    total = lost = 0.0
    for x in numbers:
        after = total + x
        part = after - total
        lost += (total - (after - part)) + (x - part)
        total = after
    return total + lost
