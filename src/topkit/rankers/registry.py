"""The entries of the dictionaries of methods and models; a new method is one line here."""

from __future__ import annotations

from topkit.rankers.boosting import AdaRank, FocusedBoost, RankBoost, Steps
from topkit.rankers.by_name import Gradient, load_ranker, ranker, settings_of, space_of
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
        "ranknet": Gradient("logistic", "RankNet: logistic loss on pairs"),
        "listnet": Gradient("listnet", "ListNet: cross entropy of top-one (or top-m) probabilities"),
        "listmle": Gradient("listmle", "ListMLE: likelihood of the order"),
        "rankcosine": Gradient("rankcosine", "RankCosine: cosine of scores and labels"),
        "topk-listnet": Gradient("topk-listnet", "ListNet with the order of the top k only"),
        "topk-listmle": Gradient("topk-listmle", "likelihood of the first k places"),
        "topk-rankcosine": Gradient("topk-rankcosine", "RankCosine with the order of the top k only"),
        "focusednet": Gradient("focused", "FocusedNet: ListNet in the top k, RankNet from it to the rest"),
        "lambdamart": Gradient("lambdarank", "LambdaMART: boosted trees on LambdaRank", "trees"),
        "mart": Gradient("squared-error", "MART: boosted regression trees on labels", "trees"),
        "linear-regression": Gradient("squared-error", "least squares on labels"),
        "gradient": Gradient("listnet", "any loss with any scorer: set loss=NAME", any_loss=True),
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
        )
    }
)
