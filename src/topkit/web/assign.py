"""Assignment plans: who judges which topic in which tool."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from topkit.data.errors import InputError
from topkit.labelling.study import cyclic_folds
from topkit.web.store.labellings import Assignment


def cyclic(topics: Sequence[int], people: Sequence[int]) -> list[Assignment]:
    """The paper's plan in two rounds (:func:`topkit.labelling.study.cyclic_folds`).

    There are as many folds as assessors; a fold consists of consecutive topics. Everybody uses both tools,
    and nobody sees a query in both. With four or more assessors, two judge each topic in each tool, so that
    agreement can be measured; with two or three there is one round.

    >>> cyclic([1, 2, 3], [7, 8])  # the first fold is topics 1 and 2, the second is topic 3
    [Assignment(topic=1, person=7, tool='pairs'), Assignment(topic=2, person=7, tool='pairs'),
     Assignment(topic=3, person=7, tool='grades'), Assignment(topic=3, person=8, tool='pairs'),
     Assignment(topic=1, person=8, tool='grades'), Assignment(topic=2, person=8, tool='grades')]
    """
    count = len(people)
    if count < 2:
        raise InputError(
            f"a cyclic assignment needs at least two assessors, got {count}",
            "choose more, or assign by hand",
        )
    cuts = [-(-i * len(topics) // count) for i in range(count + 1)]
    folds = [topics[a:b] for a, b in pairwise(cuts)]
    assignments = []
    for assessor, by_preferences, by_grades in cyclic_folds(count):
        person = people[assessor]
        assignments += [Assignment(topic, person, "pairs") for topic in folds[by_preferences]]
        assignments += [Assignment(topic, person, "grades") for topic in folds[by_grades]]
    return assignments


def overlapping(
    topics: Sequence[int], people: Sequence[int], tools: Sequence[str], copies: int
) -> list[Assignment]:
    """Every topic is judged by ``copies`` assessors in each tool, so that agreement can be measured.

    Topic t is judged by consecutive assessors starting with assessor t (cyclically), so everybody gets about
    the same number of topics.

    >>> overlapping([1, 2], [7, 8, 9], ["pairs"], 2)
    [Assignment(topic=1, person=7, tool='pairs'), Assignment(topic=1, person=8, tool='pairs'),
     Assignment(topic=2, person=8, tool='pairs'), Assignment(topic=2, person=9, tool='pairs')]
    """
    needed = copies * len(tools)
    if copies < 1 or needed > len(people):
        raise InputError(
            f"{copies} assessors per topic in each of {len(tools)} tools need at least {max(needed, 1)} "
            f"assessors, got {len(people)}",
            "choose more assessors or fewer per topic",
        )
    return [
        Assignment(topic, people[(number + place) % len(people)], tools[place // copies])
        for number, topic in enumerate(topics)
        for place in range(needed)
    ]
