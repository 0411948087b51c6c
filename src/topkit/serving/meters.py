"""Counts and times in Prometheus' text format."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter

BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
"""Upper bounds of the histogram's buckets, in seconds."""


class Meters:
    """What happened since the start; written by the event loop's thread only."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, int]] = Counter()
        self.buckets: Counter[tuple[str, int]] = Counter()
        self.seconds: Counter[str] = Counter()
        self.candidates = 0

    def count(self, endpoint: str, status: int, seconds: float, candidates: int) -> None:
        self.requests[endpoint, status] += 1
        self.buckets[endpoint, bisect_left(BOUNDS, seconds)] += 1
        self.seconds[endpoint] += seconds  # type: ignore[assignment]  # a Counter adds any number
        self.candidates += candidates

    def text(self, reloads: int, failures: int, ranker: str, sha256: str) -> str:
        """Everything as Prometheus scrapes it."""
        lines = ["# HELP topkit_requests_total Requests by endpoint and status."]
        lines.append("# TYPE topkit_requests_total counter")
        lines += [
            f'topkit_requests_total{{endpoint="{endpoint}",status="{status}"}} {count}'
            for (endpoint, status), count in sorted(self.requests.items())
        ]
        lines += ["# HELP topkit_request_seconds Time from the whole body to the answer."]
        lines += ["# TYPE topkit_request_seconds histogram"]
        for endpoint in sorted(self.seconds):
            total = 0
            for place, bound in enumerate((*map(str, BOUNDS), "+Inf")):
                total += self.buckets[endpoint, place]
                lines.append(f'topkit_request_seconds_bucket{{endpoint="{endpoint}",le="{bound}"}} {total}')
            lines.append(f'topkit_request_seconds_sum{{endpoint="{endpoint}"}} {self.seconds[endpoint]:.6f}')
            lines.append(f'topkit_request_seconds_count{{endpoint="{endpoint}"}} {total}')
        for name, value, what in (
            ("topkit_candidates_total", self.candidates, "Candidates scored."),
            ("topkit_reloads_total", reloads, "New models taken into service."),
            ("topkit_reload_failures_total", failures, "Model files that could not be loaded."),
        ):
            lines += [f"# HELP {name} {what}", f"# TYPE {name} counter", f"{name} {value}"]
        lines += ["# HELP topkit_model_info The model in service.", "# TYPE topkit_model_info gauge"]
        lines.append(f'topkit_model_info{{ranker="{ranker}",sha256="{sha256}"}} 1')
        return "\n".join(lines) + "\n"
