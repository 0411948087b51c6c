"""PageRank and HITS against dense algebra, the other link features by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topkit.data import InputError, Strings
from topkit.features import (
    LINK_FEATURES,
    Document,
    Index,
    LinkGraph,
    build_dataset,
    build_index,
    hits,
    host_rank,
    pagerank,
    read_links,
)
from topkit.features.links import address_features, hosts, iterate, parents
from topkit.features.propagation import matching_part, spread_links, spread_site

LINKS = np.array([[0, 1], [0, 2], [1, 2], [2, 0], [3, 2], [3, 2], [4, 4]])  # 4 links only to itself


def test_pagerank_solves_its_linear_equation() -> None:
    graph = LinkGraph.of(5, LINKS)
    move = np.zeros((5, 5))  # column-stochastic by hand: 4 has no way out and jumps anywhere
    move[[1, 2], 0] = 0.5
    move[2, 1] = move[0, 2] = move[2, 3] = 1.0
    move[:, 4] = 0.2
    exact = np.linalg.solve(np.eye(5) - 0.85 * move, np.full(5, 0.15 / 5))
    np.testing.assert_allclose(pagerank(graph), exact, atol=1e-9)
    assert pagerank(graph).sum() == pytest.approx(1)


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=25))
def test_pagerank_of_any_graph_is_a_distribution(links: list[tuple[int, int]]) -> None:
    rank = pagerank(LinkGraph.of(7, np.array(links, np.int64).reshape(-1, 2)))
    assert rank.sum() == pytest.approx(1)
    assert (rank > 0).all()


def test_hits_are_singular_vectors() -> None:
    graph = LinkGraph.of(5, LINKS)
    u, s, v = np.linalg.svd(graph.matrix.toarray())
    assert s[0] > s[1] + 0.1  # so that the vectors are determined
    authority, hub = hits(graph)
    np.testing.assert_allclose(authority, np.abs(v[0]), atol=1e-6)
    np.testing.assert_allclose(hub, np.abs(u[:, 0]), atol=1e-6)


def test_iteration_that_does_not_settle_warns() -> None:
    with pytest.warns(RuntimeWarning, match="did not converge"):
        iterate(lambda value: -value, np.ones(1), "a swing")


URLS = Strings.of(["http://a.org/", "http://a.org/x", "http://a.org/x/1", "http://b.org/y/z", "b.org"])


def test_addresses_by_hand() -> None:
    assert hosts(URLS).tolist() == [0, 0, 0, 1, 1]
    assert parents(URLS).tolist() == [-1, 0, 1, 4, -1]
    features = address_features(URLS)
    assert features["url_slashes"].tolist() == [1, 1, 2, 2, 0]
    assert features["url_length"].tolist() == [13, 14, 16, 16, 5]
    assert features["url_children"].tolist() == [1, 1, 0, 0, 1]


def test_host_rank_by_hand() -> None:
    graph = LinkGraph.of(5, np.array([[0, 3], [1, 4], [1, 2]]))  # a.org links to b.org, which links nowhere
    # r_a = 0.85 r_b/2 + 0.075, r_b = 0.85 (r_a + r_b/2) + 0.075, from the equation of two hosts
    r_a = 0.5 / 1.425
    expected = [r_a / 3] * 3 + [(1 - r_a) / 2] * 2
    np.testing.assert_allclose(host_rank(graph, hosts(URLS)), expected, atol=1e-9)


def test_site_propagation_by_hand() -> None:
    values = np.array([[1.0], [2.0], [4.0], [0.0], [10.0]])
    expected = [0.9 * 1 + 0.1 * 2, 0.9 * 2 + 0.1 * 4, 4, 0, 0.9 * 10]
    np.testing.assert_allclose(spread_site(values, parents(URLS))[:, 0], expected)


def test_link_propagation_of_one_link_by_hand() -> None:
    graph = LinkGraph.of(3, np.array([[0, 1], [0, 2]]))
    scores = np.array([4.0, 1.0, 3.0])
    column = scores[:, None]
    part = matching_part(graph, scores)
    # In: 1 gets 1/4 and 2 gets 3/4 of page 0, which stays at 0.85 · 4.
    first = 0.85 * 4
    expected = [first, 0.85 * 1 + 0.15 * first / 4, 0.85 * 3 + 0.15 * first * 3 / 4]
    np.testing.assert_allclose(spread_links(part, scores, "in", column)[:, 0], expected)
    # Out: page 0 is the only one that links to 1 and 2, so it gets all of both.
    expected = [0.85 * 4 + 0.15 * 0.85 * (1 + 3), 0.85, 0.85 * 3]
    for kind in ("out", "uniform"):
        np.testing.assert_allclose(spread_links(part, scores, kind, column)[:, 0], expected)
    unmatched = np.zeros((3, 1))
    np.testing.assert_array_equal(
        spread_links(matching_part(graph, np.zeros(3)), np.zeros(3), "in", unmatched), unmatched
    )


@pytest.fixture
def web(tmp_path: Path) -> Index:
    texts = ["wing red", "wing", "blue wing wing", "nothing", "red"]
    documents = [
        Document(f"d{i}", {"title": text, "body": text, "anchor": "", "extracted": text, "url": url})
        for i, (text, url) in enumerate(zip(texts, URLS, strict=True))
    ]
    return build_index(documents, tmp_path / "index")


def test_all_64_features_of_the_trec_table(web: Index, tmp_path: Path) -> None:
    (tmp_path / "links").write_text("d0 d1\nd0 d2\nd1 d2\nd2 d0\nd3 d2\nd0 elsewhere\n")
    graph = read_links(tmp_path / "links", web)
    assert graph.unknown == 1
    graph = graph.with_topics(np.array([0, 0, 1, 1, 0]))
    queries = {"q": "red wing", "r": "blue"}
    data, _ = build_dataset(
        web, queries, {"q": {"d2": 1.0}, "r": {}}, features="trec", sampling="matching", links=graph
    )
    assert data.n_features == 64
    assert set(LINK_FEATURES) <= set(data.feature_names or ())
    assert np.isfinite(data.X).all()
    names = list(data.feature_names or ())
    docs = data.names_of_documents().tolist()[: int(data.ptr[1])]
    assert docs == ["d0", "d1", "d2", "d4"]
    rank = pagerank(graph)
    np.testing.assert_allclose(data.X[:4, names.index("pagerank")], rank[[0, 1, 2, 4]], rtol=1e-6)
    assert data.X[:4, names.index("in_links")].tolist() == [1, 1, 3, 0]
    without, _ = build_dataset(web, queries, {}, features="trec", sampling="matching")
    assert not {"pagerank", "host_rank", "topical_hub"} & set(without.feature_names or ())
    assert {"url_slashes", "sitemap_score"} <= set(without.feature_names or ())


def test_bad_links(web: Index, tmp_path: Path) -> None:
    (tmp_path / "links").write_text("d0 d1 d2\n")
    with pytest.raises(InputError, match="expected 2 fields, got 3"):
        read_links(tmp_path / "links", web)
    with pytest.raises(InputError, match="one topic per document"):
        LinkGraph.of(5, LINKS).with_topics(np.zeros(3, np.int64))
    with pytest.raises(InputError, match="needs links"):
        build_dataset(web, {"q": "wing"}, {}, features="pagerank", sampling="matching")
