"""Figures that LETOR published, and how its conventions differ on its data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import topkit as tk
from topkit.data import Dataset
from topkit.metrics import evaluate_arrays

pytestmark = pytest.mark.real_data


@pytest.fixture(scope="module")
def ohsumed(real_data: Path) -> Dataset:
    """The 106 queries: the five test folds together."""
    folder = real_data / "OHSUMED-letor2"
    return tk.concatenate([tk.read_letor(folder / f"Fold{i}" / "test.txt") for i in range(1, 6)])


@pytest.fixture(scope="module")
def mq2008(real_data: Path) -> Dataset:
    folder = real_data / "MQ2008"
    return tk.concatenate([tk.read_letor(folder / f"Fold{i}" / "test.txt") for i in range(1, 6)])


def test_single_features_of_ohsumed(real_data: Path, ohsumed: Dataset) -> None:
    """Baselines/SingleFeatures_OHSUMED.xls: NDCG@1..10, P@1..10 and MAP of each feature as a ranker."""
    xlrd = pytest.importorskip("xlrd")
    book = xlrd.open_workbook(real_data / "OHSUMED-letor2" / "Baselines" / "SingleFeatures_OHSUMED.xls")
    assert ohsumed.n_queries == 106
    for feature in range(25):
        e = tk.evaluate(ohsumed, ohsumed.X[:, feature], "ndcg@1..10,p@1..10,map", "letor3")
        ndcg = book.sheet_by_name("NDCG").row_values(feature + 2)
        precision = book.sheet_by_name("Precision").row_values(feature + 2)
        assert ndcg[0] == precision[0] == feature + 1
        found = [e.mean[name] for name in e.per_query]
        np.testing.assert_allclose(
            found, [*ndcg[1:11], *precision[1:12]], atol=1e-6, err_msg=str(feature + 1)
        )


def test_mq2008_differs_by_convention_as_it_should(mq2008: Dataset) -> None:
    """A perfect ranking: 1 everywhere under yahoo; under letor4 0 without relevant documents and beyond n."""
    perfect = mq2008.y.astype(np.float64)
    yahoo = tk.evaluate(mq2008, perfect, "ndcg@1..10", "yahoo")
    letor4 = tk.evaluate(mq2008, perfect, "ndcg@1..10", "letor4")
    empty = np.add.reduceat(mq2008.y, mq2008.ptr[:-1]) == 0
    eight = mq2008.lengths == 8
    assert (eight & ~empty).sum() > 100  # most lists of MQ2008 have eight documents
    for depth in range(1, 11):
        assert (yahoo.per_query[f"ndcg@{depth}"] == 1.0).all()
        expected = np.where(empty | (mq2008.lengths < depth), 0.0, 1.0)
        np.testing.assert_allclose(letor4.per_query[f"ndcg@{depth}"], expected, atol=1e-15)
    for depth in (9, 10):
        assert not letor4.per_query[f"ndcg@{depth}"][eight].any()


def test_mq2008_by_one_feature(mq2008: Dataset) -> None:
    """By hand for feature 25 (BM25): a plain loop over queries under both conventions."""
    scores = mq2008.X[:, 24].astype(np.float64)
    found = {
        name: evaluate_arrays(mq2008.y, scores, mq2008.ptr, "ndcg@10", name)["ndcg@10"]
        for name in ("yahoo", "letor4")
    }
    yahoo_discount = 1 / np.log2(1 + np.arange(1, 11))
    letor_discount = np.array([1, 1, *(1 / np.log2(np.arange(3, 11)))])
    for q, (_, rows) in enumerate(mq2008):
        labels = mq2008.y[rows][np.argsort(-scores[rows], kind="stable")][:10]
        ideal = np.sort(mq2008.y[rows])[::-1][:10]
        n = rows.stop - rows.start
        for name, discount in (("yahoo", yahoo_discount), ("letor4", letor_discount)):
            best = ((2.0**ideal - 1) * discount[: len(ideal)]).sum()
            value = (
                ((2.0**labels - 1) * discount[: len(labels)]).sum() / best if best else float(name == "yahoo")
            )
            if name == "letor4" and n < 10:
                value = 0.0
            assert found[name][q] == pytest.approx(value, abs=1e-12)
    assert found["yahoo"].mean() > 3 * found["letor4"].mean()  # FACTS of the data: .78 against .23
