"""The labelling algorithm of Niu et al. (SIGIR 2012): a heap of the k best items so far."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator

from topkit.labelling.contest import Ask, Contest, Finish, Play
from topkit.labelling.known import Known, Relation, in_groups


def heap(contest: Contest) -> Play:
    """Algorithm 1 of the paper; every comparison of the heap is a question, even if it was asked before.

    k random items become a min-heap (the root is the least relevant). Every other item, in random order, is
    compared with the root, and replaces it and sifts down if it is better. Finally the heap is sorted.
    O(n log k) judgments. A tie never replaces the root, and it ends a sift.

    The paper's algorithm has no "bad". From the first document that is marked bad, the heap asks nothing that
    follows from earlier answers, so that the mark saves judgments.

    Reference: S. Niu, J. Guo, Y. Lan, X. Cheng: Top-k learning to rank, SIGIR 2012, section 3.1.

    Use it to repeat the published experiments. Not to save questions: `adaptive` needs about 40 % fewer at
    (50, 10).
    """
    return _Heap(contest, repeats=True).play()


def heap_once(contest: Contest) -> Play:
    """The same heap, but it never asks what the answers imply, so no pair is asked twice.

    Use it as the published strategy without repeated questions. Not to save questions; `adaptive` needs
    fewer.
    """
    return _Heap(contest, repeats=False).play()


class _Heap:
    """``tree[0]`` is the root, the least relevant item kept; ``queue`` contains the remaining items.

    An item that is marked bad is worse than all others, so comparisons with it are not asked. It rises to the
    root of its subtree, where the next item of the queue replaces it.
    """

    def __init__(self, contest: Contest, repeats: bool) -> None:
        self.k = contest.k
        self.repeats = repeats
        self.known = Known(contest.n)
        self.tree: list[int] = []
        self.queue = deque(contest.shuffled())
        self.sorting = self.k
        """The size of the part of the tree that is not sorted yet."""

    def play(self) -> Play:
        yield from self._build()
        yield from self._challenge()
        yield from self._sort()
        return Finish(in_groups(self.known, (item for item in self.tree if not self.known.is_bad(item))))

    def _build(self) -> Generator[Ask, str, None]:
        for _ in range(self.k):
            self.tree.append(self.queue.popleft())
        for place in reversed(range(self.k // 2)):
            yield from self._sink(place)
            yield from self._replace_bad(place)

    def _challenge(self) -> Generator[Ask, str, None]:
        while self.queue:
            winner = yield from self._compare(self.queue[0], self.tree[0])
            challenger = self.queue.popleft()
            if winner == "a":
                self.tree[0] = challenger
                yield from self._sink(0)
                yield from self._replace_bad(0)

    def _replace_bad(self, place: int) -> Generator[Ask, str, None]:
        """Replace the root of a subtree by an item of the queue as long as it is bad."""
        while self.queue and self.known.is_bad(self.tree[place]):
            self.tree[place] = self.queue.popleft()
            yield from self._sink(place)

    def _sort(self) -> Generator[Ask, str, None]:
        """Heapsort in place: the least relevant item moves to the end each time, so the best comes first."""
        while self.sorting > 1:
            self.sorting -= 1
            self._swap(0, self.sorting)
            yield from self._sink(0)

    def _sink(self, place: int) -> Generator[Ask, str, None]:
        while (child := 2 * place + 1) < self.sorting:
            if child + 1 < self.sorting:
                left, right = self.tree[child], self.tree[child + 1]
                child += (yield from self._compare(left, right)) == "a"
            if (yield from self._compare(self.tree[place], self.tree[child])) != "a":
                return
            self._swap(place, child)
            place = child

    def _swap(self, i: int, j: int) -> None:
        self.tree[i], self.tree[j] = self.tree[j], self.tree[i]

    def _compare(self, a: int, b: int) -> Generator[Ask, str, Relation]:
        implied = self.known.relation(a, b)
        if implied and (not self.repeats or self.known.bad):
            return implied
        answer = yield Ask(a, b, max(1, self.known.undefeated - 1), self._most())
        self.known.record(a, b, answer)
        if answer.startswith("bad"):
            return self.known.relation(a, b) or "tie"
        return "a" if answer == "a" else "b" if answer == "b" else "tie"

    def _most(self) -> int:
        """An upper bound: two comparisons per level and sift; the current sift counts as a whole one."""
        levels = self.k.bit_length() - 1
        sifts = len(self.queue) + self.sorting + self.k // 2 + 1
        return sifts * 2 * levels + len(self.queue) + 1
