"""Request counts, request times and the state of the model, in the text format of Prometheus."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from topkit.serving.served import ModelFile

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
"""Upper bounds of the histogram, in seconds: one candidate list takes about a millisecond, a full batch
seconds."""


class ServiceMetrics:
    """The metrics of one app. Each app has its own registry, so a process may contain several apps."""

    def __init__(self, file: ModelFile) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "topkit_requests",
            "Requests by endpoint and status.",
            ("endpoint", "status"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "topkit_request_seconds",
            "Seconds from the complete request body to the response.",
            ("endpoint",),
            registry=self._registry,
            buckets=BUCKETS,
        )
        self._candidates = Counter(
            "topkit_candidates", "Number of candidates scored.", registry=self._registry
        )
        self._registry.register(_ModelCollector(file))

    def count(self, endpoint: str, status: int, seconds: float, candidates: int) -> None:
        """Record one request."""
        self._requests.labels(endpoint, str(status)).inc()
        self._seconds.labels(endpoint).observe(seconds)
        self._candidates.inc(candidates)

    def text(self) -> bytes:
        """All metrics, as Prometheus reads them."""
        return generate_latest(self._registry)


class _ModelCollector(Collector):
    """Reads the state of the model file at each request for the metrics."""

    def __init__(self, file: ModelFile) -> None:
        self._file = file

    def collect(self) -> Iterator[Metric]:
        file = self._file
        yield CounterMetricFamily("topkit_reloads", "New models put into service.", value=file.reloads)
        yield CounterMetricFamily(
            "topkit_reload_failures", "Model files that could not be loaded.", value=file.failures
        )
        info = GaugeMetricFamily("topkit_model_info", "The model in service.", labels=("ranker", "sha256"))
        info.add_metric((file.current.ranker.name, file.current.sha256), 1)
        yield info
