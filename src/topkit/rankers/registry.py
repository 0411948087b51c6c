"""The entries of the dictionaries of methods and models; a new method is one line here."""

from __future__ import annotations

from topkit.rankers.boosting import AdaRank, FocusedBoost, RankBoost, Steps
from topkit.rankers.by_name import Gradient, load_ranker, ranker, settings_of, space_of
from topkit.rankers.calibrated import Calibrated
from topkit.rankers.clicks.method import ClickLabelRanker
from topkit.rankers.clicks.model import ClickLabel
from topkit.rankers.isotonic import IsoRank, QBRank
from topkit.rankers.linear import BestFeature, CoordinateAscent, Perceptron, Sigmoid
from topkit.rankers.mixture import Mixture
from topkit.rankers.multiclass import (
    AdaBoostMH,
    BoostedProducts,
    BoostedTrees,
    ClassTrees,
    LinearClasses,
    McRank,
    McSVM,
)
from topkit.rankers.names import MODELS, RANKERS
from topkit.rankers.radial import SVR, RadialKernel, RankSVMRBF
from topkit.rankers.sortnet import Comparator, SortNet
from topkit.rankers.svm import FocusedSVM, RankSVM, SvmMap
from topkit.rankers.tune_and_mix import TuneAndMix
from topkit.scorers import Linear, Network, Trees

__all__ = ["MODELS", "RANKERS", "load_ranker", "ranker", "settings_of", "space_of"]

RANKERS.update(
    {
        "ranknet": Gradient(
            "logistic",
            "RankNet: logistic loss on pairs",
            use='Use it as the pairwise baseline, and for preferences (`pairs="given"`). Not if only the '
            'top matters, unless with `pairs="topk"`.',
        ),
        "listnet": Gradient(
            "listnet",
            "ListNet: cross entropy of top-one (or top-m) probabilities",
            use="Use it for grades with few levels; it trains fast and fails rarely. Not for full orders: "
            "the softmax of large labels sees only the first document.",
        ),
        "listmle": Gradient(
            "listmle",
            "ListMLE: likelihood of the order",
            use="Use it first for grades and full orders. Not for long lists of which only the top was "
            "ordered; see `topk-listmle`.",
        ),
        "rankcosine": Gradient(
            "rankcosine",
            "RankCosine: cosine of scores and labels",
            use="Use it if queries should count alike whatever their length. Not for lists with a single "
            "relevant document.",
        ),
        "topk-listnet": Gradient(
            "topk-listnet",
            "ListNet with the order of the top k only",
            use="Use it as ListNet on top-k truth. Not for k much larger than 10.",
        ),
        "topk-listmle": Gradient(
            "topk-listmle",
            "likelihood of the first k places",
            use="Use it first for top-k truth that people made, with the k of the truth. Not for grades "
            "with many ties at the border of the top.",
        ),
        "topk-rankcosine": Gradient(
            "topk-rankcosine",
            "RankCosine with the order of the top k only",
            use="Use it as RankCosine on top-k truth. Not on plain grades.",
        ),
        "focusednet": Gradient(
            "focused",
            "FocusedNet: ListNet in the top k, RankNet from it to the rest",
            use="Use it for top-k truth with a long rest. Not if most lists have at most k documents: "
            "then there is no rest.",
        ),
        "lambdamart": Gradient(
            "lambdarank",
            "LambdaMART: boosted trees on LambdaRank",
            "trees",
            defaults={"k": 30},  # LightGBM's truncation; better than the whole list on MQ2008
            use="Use it for many queries, grades and effects that are not linear. Not with few queries, "
            "where linear rankers were better on OHSUMED.",
        ),
        "mart": Gradient(
            "squared-error",
            "MART: boosted regression trees on labels",
            "trees",
            use="Use it as the tree baseline that ignores queries. Not if queries differ in how strictly "
            "they were graded.",
        ),
        "linear-regression": Gradient(
            "squared-error",
            "least squares on labels",
            use="Use it as the simplest trained baseline. Not as the final ranker without a comparison.",
        ),
        "gradient": Gradient(
            "listnet",
            "any loss with any scorer: set loss=NAME",
            any_loss=True,
            use="Use it for any loss without a separate ranker. Not for the losses that have one: "
            "their names say what was trained.",
        ),
        "ranksvm": RankSVM,
        "ranksvm-rbf": RankSVMRBF,
        "svr": SVR,
        "svmmap": SvmMap,
        "focusedsvm": FocusedSVM,
        "rankboost": RankBoost,
        "adarank": AdaRank,
        "focusedboost": FocusedBoost,
        "bestfeature": BestFeature,
        "coordinate-ascent": CoordinateAscent,
        "perceptron": Perceptron,
        "sigmoid": Sigmoid,
        "qbrank": QBRank,
        "isorank": IsoRank,
        "sortnet": SortNet,
        "click-label": ClickLabelRanker,
        "adaboost-mh": AdaBoostMH,
        "mcsvm": McSVM,
        "mcrank": McRank,
        "tune-and-mix": TuneAndMix,
    }
)

MODELS.update(
    {
        model.kind: model
        for model in (
            Linear,
            Network,
            Trees,
            Steps,
            Comparator,
            RadialKernel,
            ClickLabel,
            Mixture,
            BoostedTrees,
            BoostedProducts,
            LinearClasses,
            ClassTrees,
            Calibrated,
        )
    }
)
