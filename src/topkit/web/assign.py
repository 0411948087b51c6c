"""Who judges which topic in which tool."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from topkit.data.errors import InputError
from topkit.web.store.work import Assignment


def cyclic(topics: Sequence[int], people: Sequence[int]) -> list[Assignment]:
    """The paper's assignment: assessor i judges fold i in pairs and fold i+1 in grades, cyclically.

    There are as many folds as assessors, made of neighbouring topics. Everybody uses both tools, and nobody
    sees one query in both.

    Reference: S. Niu et al., Top-k learning to rank: labeling, ranking and evaluation, SIGIR 2012, 4.1.1.

    >>> cyclic([1, 2, 3], [7, 8])  # topics 1 and 2 are the first fold, 3 the second
    [Assignment(topic=1, person=7, tool='pairs'), Assignment(topic=2, person=7, tool='pairs'),
     Assignment(topic=3, person=7, tool='grades'), Assignment(topic=3, person=8, tool='pairs'),
     Assignment(topic=1, person=8, tool='grades'), Assignment(topic=2, person=8, tool='grades')]
    """
    many = len(people)
    if many < 2:
        raise InputError("the assignment in a circle needs two assessors", "choose more, or assign by hand")
    cuts = [-(-i * len(topics) // many) for i in range(many + 1)]
    folds = [topics[a:b] for a, b in pairwise(cuts)]
    found = []
    for i, person in enumerate(people):
        found += [Assignment(topic, person, "pairs") for topic in folds[i]]
        found += [Assignment(topic, person, "grades") for topic in folds[(i + 1) % many]]
    return found


def overlapping(
    topics: Sequence[int], people: Sequence[int], tools: Sequence[str], copies: int
) -> list[Assignment]:
    """Every topic by ``copies`` assessors in each tool, so that their agreement can be measured.

    The assessors of a topic are neighbours in a circle that moves on by one a topic, so everybody gets about
    the same number of topics.

    >>> overlapping([1, 2], [7, 8, 9], ["pairs"], 2)
    [Assignment(topic=1, person=7, tool='pairs'), Assignment(topic=1, person=8, tool='pairs'),
     Assignment(topic=2, person=8, tool='pairs'), Assignment(topic=2, person=9, tool='pairs')]
    """
    if copies < 1 or copies * len(tools) > len(people):
        needed = f"{copies} × {len(tools)} tools"
        raise InputError(f"{needed} for a topic need as many assessors, not {len(people)}", "choose more")
    found = []
    for number, topic in enumerate(topics):
        for place in range(copies * len(tools)):
            who = people[(number + place) % len(people)]
            found.append(Assignment(topic, who, tools[place // copies]))
    return found
