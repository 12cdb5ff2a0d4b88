"""Findings for the report's tests: usual ones, large ones and odd ones."""

from __future__ import annotations

import numpy as np

NAMES = (
    *("clump thickness", "uniformity of cell size", "uniformity of cell shape"),
    *("marginal adhesion", "epithelial cell size", "bare nuclei", "bland chromatin"),
    *("normal nucleoli", "mitoses", "weight in kg"),
)


def make_findings(
    n_rows=600,
    n_clusters=3,
    n_features=10,
    n_outliers=60,
    n_points=5000,
    seed=0,
    ids=True,
    overlap=False,
    names=None,
):
    """Return findings about random rows: clusters of normal rows, and far ones."""
    rng = np.random.default_rng(seed)
    units = 10.0 ** (np.arange(n_features) % 4)
    means = rng.normal(0, 4, (max(1, n_clusters), n_features))
    labels = rng.integers(0, max(1, n_clusters), n_rows)
    X = (means[labels] + rng.normal(size=(n_rows, n_features))) * units
    outlying = rng.permutation(n_rows)[:n_outliers]
    X[outlying] = rng.normal(0, 12, (len(outlying), n_features)) * units
    labels[outlying] = -1
    names = list(names or [feature_name(j) for j in range(n_features)])
    table = Table(X / units, units, labels, names, n_clusters, ids)
    return {
        "format": 1,
        "versions": {"rtkm": "0.1.0", "python": "3.12.1", "numpy": "2.1.0"},
        "command": "rtkm fit cells.csv -k 3 --report cells.html",
        "source": {
            **{"name": "cells.csv", "format": "CSV", "n_rows": n_rows + 10},
            **{"n_columns": n_features + 1, "n_used": n_rows, "n_dropped": 10},
        },
        "notes": [
            f"Read {n_rows + 10:,} rows and {n_features + 1} columns.",
            "Columns are scaled, by median and median absolute deviation: 'weight in "
            "kg' spreads 1,000 times as widely as 'mitoses' and would decide alone.",
        ],
        "summary": [
            f"{n_clusters} clusters were found in {n_rows:,} rows; {n_outliers:,} rows "
            "belong to none.",
            "The clusters differ most in 'clump thickness'.",
        ],
        "method": {
            "name": "RTKM",
            "title": "Find clusters, rows that belong to several of them, and "
            "outliers, in one fit.",
            "parameters": {
                **{"n_clusters": n_clusters, "contamination": 0.1, "step": "auto"},
                **{"n_init": 10, "max_iter": 300, "random_state": None},
            },
        },
        "features": names,
        "preparation": {
            **{"columns": names, "missing": "drop", "fill": units.tolist()},
            **{"scale": "robust", "center": units.tolist(), "spread": units.tolist()},
        },
        "seconds": {"read": 0.0123, "prepare": 0.004, "fit": 1.25, "explain": 0.3},
        "objective": table.objective(rng),
        "clusters": [table.cluster(label) for label in range(n_clusters)],
        "outliers": table.outliers(),
        "overlap": table.overlap(rng) if overlap else None,
        "scatter": table.scatter(n_points),
        "distributions": table.distributions(),
    }


def feature_name(j):
    return NAMES[j] if j < len(NAMES) else f"feature {j + 1}"


def share(part, whole):
    return float(part / whole) if whole else 0.0


class Table:
    """Rows with labels, in scaled units, of which findings are made."""

    def __init__(self, X, units, labels, names, n_clusters, ids):
        self.X, self.units, self.labels, self.names = X, units, labels, names
        self.n_clusters, self.ids = n_clusters, ids
        self.centers = np.array(
            [
                X[labels == label].mean(axis=0) if (labels == label).any() else X[0]
                for label in range(max(1, n_clusters))
            ]
        )

    def id(self, i):
        return f"patient {i + 1001}" if self.ids else None

    def cluster(self, label):
        mask = self.labels == label
        size = int(mask.sum())
        rows = self.X[mask] if size else self.X[:1]
        spread = 1.4826 * np.median(np.abs(rows - np.median(rows, axis=0)), axis=0)
        doubtful, border = size // 30, size // 12
        core = size - doubtful - border
        return {
            **{"label": label, "size": size, "share": size / len(self.X)},
            "center": (self.centers[label] * self.units).tolist(),
            "spread": (spread * self.units).tolist(),
            "confidence": {"core": core, "border": border, "doubtful": doubtful},
        }

    def objective(self, rng):
        if not self.n_clusters:
            return None
        path = 1000 + 4000 * np.exp(-np.arange(13) * 0.8)
        return {
            **{"value": float(path[-1]), "path": path.tolist()},
            **{"n_iter": 12, "converged": True},
        }

    def outliers(self):
        rows = [self.outlier(i) for i in np.flatnonzero(self.labels == -1)]
        rows.sort(key=lambda row: -row["score"])
        count = len(rows)
        share = count / len(self.X)
        cutoff = 12.3 if count else None
        return {"count": count, "share": share, "cutoff": cutoff, "rows": rows[:1000]}

    def outlier(self, i):
        squared = (self.X[i] - self.centers) ** 2
        nearest = int(squared.sum(axis=1).argmin())
        parts, score = squared[nearest], float(squared[nearest].sum())
        top = np.argsort(-parts, kind="stable")[:3]
        value, center = self.X[i] * self.units, self.centers[nearest] * self.units
        found = {"row": int(i) + 1, "id": self.id(i), "score": score}
        if not self.n_clusters:
            nothing = {"nearest": None, "confidence": None}
            nothing |= {"reasons": [], "filled": [], "change": None}
            return {**found, **nothing}
        j = int(top[0])
        change = {
            "feature": self.names[j],
            "from": float(value[j]),
            "to": float((value[j] + center[j]) / 2),
            "cluster": nearest,
        }
        return {
            **found,
            "nearest": nearest,
            "filled": [],
            "confidence": "outlier" if score > 200 else "doubtful",
            "reasons": [
                {
                    **{"feature": self.names[j], "share": share(parts[j], score)},
                    **{"value": float(value[j]), "center": float(center[j])},
                }
                for j in top
            ],
            "change": change if parts[j] > score / 2 else None,
        }

    def overlap(self, rng):
        k = self.n_clusters
        sizes = [int((self.labels == label).sum()) for label in range(k)]
        pairs = rng.integers(0, 40, (k, k))
        pairs = pairs + pairs.T
        pairs[np.diag_indices(k)] = sizes
        return {
            "several": int(pairs[np.triu_indices(k, 1)].sum()),
            "matrix": pairs.tolist(),
        }

    def scatter(self, n_points):
        middle = np.median(self.X, axis=0)
        _, sizes, directions = np.linalg.svd(self.X - middle, full_matrices=False)
        plane = directions[:2]
        drawn = np.arange(len(self.X))[:n_points]
        places = (self.X[drawn] - middle) @ plane.T
        centers = (self.centers[: self.n_clusters] - middle) @ plane.T
        if len(plane) < 2:
            places = np.column_stack([places, np.zeros(len(places))])
            centers = np.column_stack([centers, np.zeros(len(centers))])
        shares = sizes**2 / (sizes**2).sum()
        return {
            "directions": [
                {"share": float(share), "loadings": self.loadings(direction)}
                for share, direction in zip(shares, plane, strict=False)
            ],
            "n_rows": len(self.X),
            "points": {
                **{"x": places[:, 0].tolist(), "y": places[:, 1].tolist()},
                **{"label": self.labels[drawn].tolist(), "row": (drawn + 1).tolist()},
                "id": [self.id(i) for i in drawn] if self.ids else None,
            },
            "centers": centers.tolist(),
        }

    def loadings(self, direction):
        top = np.argsort(-np.abs(direction), kind="stable")[:3]
        return [{"feature": self.names[j], "weight": float(direction[j])} for j in top]

    def distributions(self):
        n_features = len(self.names)
        shown = [self.distribution(j) for j in range(min(40, n_features))]
        return {"n_features": n_features, "features": shown}

    def distribution(self, j):
        values = self.X[:, j] * self.units[j]
        low, high = np.percentile(values, [1, 99])
        edges = np.linspace(low, high, 31)
        counts = {
            str(label): np.histogram(values[self.labels == label], edges)[0].tolist()
            for label in (*range(max(1, self.n_clusters)), -1)
        }
        beyond = {"low": int((values < low).sum()), "high": int((values > high).sum())}
        edges = edges.tolist()
        return {
            **{"feature": self.names[j], "edges": edges},
            **{"counts": counts, "beyond": beyond},
        }
