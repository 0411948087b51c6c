"""The runnable example on the reference page of each method.

The tests run each of them; they use the data that comes with topkit, so a reader can copy them as they are.
"""

from __future__ import annotations

import topkit as tk
from topkit.data.settings import Setting

K = "k=5"


def ranker_example(name: str, settings: dict[str, Setting]) -> str:
    """Fit, measure and save."""
    given = f', {K}, metric="kndcg@5"' if "k" in settings and name != "lambdamart" else ""
    truth = ".top_k(5)" if given else ""
    if name == "sortnet":
        given = ", rounds=2"
    if name == "tune-and-mix":
        given = ', trees=(), products=(), rankers=("listnet",)'
    lines = [
        "import topkit as tk",
        "",
        f"train, valid, test = tk.query_folds(tk.demo_data(){truth}, 5)[0]",
        f'ranker = tk.ranker("{name}"{given}).fit(train, valid)',
        "run = ranker.rank(test)",
        'print(run["1"][:3] if "1" in run else run)',
    ]
    if name != "sortnet":
        metric = "kndcg@5" if truth else "ndcg@5"
        lines.append(f'print(tk.evaluate(test, ranker.score(test), "{metric}"))')
    return "\n".join(lines)


def loss_example(name: str, settings: dict[str, Setting]) -> str:
    """The value and gradient of four scores, and a ranker that minimises it."""
    given = ", k=2" if "k" in settings else ""
    return "\n".join(
        [
            "import topkit as tk",
            "",
            "scores, labels, ptr = [2.0, 0.5, 1.0, 0.0], [2, 1, 0, 0], [0, 4]",
            f'value, gradient = tk.loss("{name}"{given})(scores, labels, ptr)',
            "print(round(value, 4), gradient.round(4))",
            "",
            f'ranker = tk.ranker("gradient", loss="{name}").fit(tk.demo_data())',
        ]
    )


def measure_example(name: str, settings: dict[str, Setting]) -> str:
    """One value of the measure."""
    measure = tk.METRICS[name]
    metric = f"{name}@3" if measure.depth == "optional" else name
    if measure.needs == "preferences":
        return "\n".join(
            [
                "import topkit as tk",
                "",
                'answers = tk.Judgments(preferences=(tk.Preference("q", "d1", "d2", "a"), '
                'tk.Preference("q", "d2", "d3", "b")))',
                'run = {"q": {"d1": 3.0, "d2": 2.0, "d3": 1.0}}',
                f'print(tk.evaluate_run(answers, run, "{metric}"))',
            ]
        )
    if measure.needs == "clicks":
        return "\n".join(
            [
                "import topkit as tk",
                "",
                'page = tk.Page("q", ("d1", "d2", "d3"), (False, True, False))',
                'run = {"q": {"d1": 3.0, "d2": 2.0, "d3": 1.0}}',
                f'print(tk.evaluate_run(tk.Judgments(pages=(page,)), run, "{metric}"))',
            ]
        )
    truth = {"top-k": ".top_k(5)", "order": ".top_k(5)"}.get(measure.needs, "")
    return "\n".join(
        [
            "import topkit as tk",
            "",
            f"data = tk.demo_data(){truth}",
            'scores = data.X[:, data.feature_names.index("bm25.docstring")]',
            f'print(tk.evaluate(data, scores, "{metric}"))',
        ]
    )


def strategy_example(name: str, settings: dict[str, Setting]) -> str:
    """A whole labelling."""
    answer = '"good"' if name == "graded" else '"a" if order.index(a) < order.index(b) else "b"'
    unpack = [] if name == "graded" else ["    a, b = lab.question"]
    return "\n".join(
        [
            "import topkit as tk",
            "",
            "order = list(range(20))  # the true order, best first",
            f'lab = tk.Labelling(order[::-1], k=5, strategy="{name}", seed=0)',
            "questions = 0",
            "while lab.question:",
            *unpack,
            f"    lab = lab.answer({answer})",
            "    questions += 1",
            "print(lab.result.order, questions)",
        ]
    )


def aggregator_example(name: str, settings: dict[str, Setting]) -> str:
    """Three runs become one."""
    given = ", weights=[0.5, 0.3, 0.2]" if name == "weighted-borda" else ""
    return "\n".join(
        [
            "import topkit as tk",
            "",
            "data = tk.demo_data()",
            "runs = [tk.Run.from_scores(data, data.X[:, i], data.feature_names[i]) for i in (0, 1, 2)]",
            f'fused = tk.aggregate(runs, "{name}"{given})',
            'print([doc for doc, _ in fused["1"][:3]])',
        ]
    )


def click_model_example(name: str, settings: dict[str, Setting]) -> str:
    """Fit to one half of a log, measure on the other."""
    return "\n".join(
        [
            "import topkit as tk",
            "",
            "data = tk.demo_data()",
            "log = tk.simulate_clicks(data, data.X[:, 0], 2_000, seed=1)",
            "train, test = log.select(range(1_000)), log.select(range(1_000, 2_000))",
            f'model = tk.fit_click_model(train, "{name}")',
            "print(round(tk.click_fit(model, test).perplexity, 3))",
        ]
    )


EXAMPLES = {
    "ranker": ranker_example,
    "loss": loss_example,
    "measure": measure_example,
    "strategy": strategy_example,
    "fusion method": aggregator_example,
    "click model": click_model_example,
}
"""Kind of method → the example of one of its names."""
