"""Best of c: one question about several documents, for judges that can read more than two at once."""

from __future__ import annotations

import heapq
from collections.abc import Generator
from math import ceil, log

from topkit.labelling.contest import LETTERS, Ask, Contest, Finish, Play, Strategy, count
from topkit.labelling.strategies.forest import Forest


def best_of(size: int) -> Strategy:
    """The strategy that asks for the best of up to ``size`` documents.

    Items that have not lost are compared, up to ``size`` at a time and those with the fewest known losers
    first. The winner of a question beats all others in it. When one is left it takes the next place, and
    those that lost to it directly are compared again. About n/(c−1) + (k−1)·log_c(n) questions. Setwise
    prompting: Zhuang et al., SIGIR 2024.
    """

    def setwise(contest: Contest) -> Play:
        return _play(contest, size)

    setwise.__doc__ = (
        f"Ask for the best of up to {size} documents; for language models.\n\n"
        "Use it with a chat judge that reads several documents at once, to save requests. Not with people: "
        "reading many documents at once is slow, and pairs are more reliable."
    )
    return setwise


def _play(contest: Contest, size: int) -> Play:
    forest = Forest(contest.n)
    weight = [1] * contest.n
    roots = contest.arrival()
    groups: list[list[int]] = []
    while roots and count(groups) < contest.k:
        best = yield from _winner(forest, roots, weight, size, contest.k - count(groups))
        groups.append([best, *forest.twins[best]])
        roots = forest.beaten[best]
    return Finish(groups)


def _winner(
    forest: Forest, roots: list[int], weight: list[int], size: int, places: int
) -> Generator[Ask, str, int]:
    """The best of the roots, after all questions that it takes."""
    heap = [(weight[item], order, item) for order, item in enumerate(roots)]
    heapq.heapify(heap)
    order = len(heap)
    while len(heap) > 1:
        questions = ceil((len(heap) - 1) / (size - 1))
        # each item of a later place loses at most once per question
        most = max(questions, forest.most_matches([item for *_, item in heap], places))
        replay = (places - 1) * log(max(len(weight), 2)) / log(size)
        entries = [heapq.heappop(heap) for _ in range(min(size, len(heap)))]
        items = [item for *_, item in entries]
        answer = yield Ask(items[0], items[1], questions, most, questions + replay, tuple(items[2:]))
        winner = _settled(forest, items, answer)
        weight[winner] = sum(weight[item] for item in items)
        heapq.heappush(heap, (weight[winner], order, winner))
        order += 1
    return heap[0][2]


def _settled(forest: Forest, items: list[int], answer: str) -> int:
    """The item that stays after the answer; the forest keeps who lost to it and who ties with it."""
    if answer.startswith("bad"):  # two documents: the bad one is removed with all that lost to it
        return items[1] if answer == "bad-a" else items[0]
    best = items[0] if answer == "tie" else items[LETTERS.index(answer)]
    for item in items:
        if item != best and answer == "tie":
            forest.twins[best] += [item, *forest.twins[item]]
            forest.beaten[best] += forest.beaten[item]
        elif item != best:
            forest.beaten[best].append(item)
    return best
