"""A knockout tournament with replay: the bracket is played once, then replayed along each winner's path."""

from __future__ import annotations

from collections.abc import Generator
from math import log2

from topkit.labelling.contest import Ask, Contest, Finish, Play


def knockout(contest: Contest) -> Play:
    """Play a bracket of random pairs; remove the winner, replay its path, and so on for k places.

    At most n − 1 + (k − 1)(⌈log₂n⌉ − 1) judgments. The order of the matches keeps the winner of the last
    match on the screen where possible.

    Use it if there is no prior ranking; it is within a question or two of the lower bound. Not with a good
    prior, which it does not use.
    """
    return _Bracket(contest).play()


class _Bracket:
    """A complete binary tree: the match of node v is between 2v and 2v+1; the leaves are n … 2n−1."""

    def __init__(self, contest: Contest) -> None:
        self.k, self.n = contest.k, contest.n
        order = contest.shuffled()
        self.winner = [-1] * self.n + order
        self.leaf = {item: self.n + place for place, item in enumerate(order)}
        self.open = [v < self.n for v in range(2 * self.n)]
        """Nodes whose match must be played or replayed."""
        self.size = [1] * (2 * self.n)
        """The number of remaining items below a node."""
        for node in reversed(range(1, self.n)):
            self.size[node] = self.size[2 * node] + self.size[2 * node + 1]
        self.twins: list[list[int]] = [[] for _ in order]
        self.places = 0
        self.matches = self.n - 1
        """The number of matches until the next place is known."""

    def play(self) -> Play:
        groups: list[list[int]] = []
        while self.places < self.k and self.size[1]:
            best = yield from self._settle(1)
            groups.append([best, *self.twins[best]])
            self.places += len(groups[-1])
            for item in groups[-1]:
                self._remove(self.leaf[item])
            self.matches = self._open_matches(1)
        return Finish(groups)

    def _settle(self, node: int) -> Generator[Ask, str, int]:
        """The winner of a node, after playing all open matches below it."""
        if not self.open[node]:
            return self.winner[node]
        left, right = 2 * node, 2 * node + 1
        if self.size[left] and self.size[right]:
            a = yield from self._settle(left)
            b = yield from self._settle(right)
            answer = yield Ask(a, b, *self._bounds())
            self.matches -= 1
            if answer == "tie":
                self.twins[a] += [b, *self.twins[b]]
            elif answer.startswith("bad"):  # and so are the items it beat: all items below it
                self._remove(left if answer == "bad-a" else right)
            self.winner[node] = b if answer in ("b", "bad-a") else a
        else:
            self.winner[node] = yield from self._settle(left if self.size[left] else right)
        self.open[node] = False
        return self.winner[node]

    def _remove(self, node: int) -> None:
        """Remove all items below a node; the matches above it are open again."""
        removed = self.size[node]
        if node < self.n and removed:
            self._remove(2 * node)
            self._remove(2 * node + 1)
            return
        while removed and node:
            self.size[node] -= removed
            self.open[node] = node < self.n
            node //= 2

    def _open_matches(self, node: int) -> int:
        if not self.open[node] or not self.size[node]:
            return 0
        left, right = 2 * node, 2 * node + 1
        both = bool(self.size[left] and self.size[right])
        return both + self._open_matches(left) + self._open_matches(right)

    def _bounds(self) -> tuple[int, int, float]:
        later = self.k - self.places - 1
        replay = (self.n - 1).bit_length() - 1
        return self.matches, self.matches + later * replay, self.matches + later * (log2(self.n) - 1)
