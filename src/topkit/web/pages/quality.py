"""Pages about quality: gold questions, adjudication, remarks, and the audit log."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from topkit.web import audit_log, dashboard
from topkit.web.guard import AdminVisit, Stored
from topkit.web.managed import Managed, ManagedProject
from topkit.web.pages.charts import lines
from topkit.web.pages.lists import listed, stored_listing
from topkit.web.pages.render import page, project_page
from topkit.web.shapes import LARGEST_NUMBER
from topkit.web.store import projects, quality

router = APIRouter()


@router.get("/projects/{number}/quality")
def project_quality(request: Request, project: Managed) -> Response:
    """Gold questions with the accuracy of assessors, unusual times, and remarks."""
    records, remarks = project.records(), project.load(quality.remarks_of)
    scores, mistakes = dashboard.gold_scores(records, project.load(quality.gold_by_topic))
    return project_page(
        request,
        "quality.html",
        project,
        topics=project.load(projects.topics_of),
        scores=scores,
        chart=lines({score.assessor: score.moving for score in scores}),
        gold=listed(
            request,
            project.load(quality.gold_of),
            name="gold-",
            search=lambda row: f"{row['topic_key']} {row['a']} {row['b']}",
        ),
        mistakes=listed(request, mistakes, name="mistakes-"),
        outliers=listed(
            request, dashboard.unusual_times(records), name="times-", search=lambda row: row.assessor
        ),
        remarks=listed(
            request, remarks, name="remarks-", search=lambda row: f"{row['assessor']} {row['text']}"
        ),
    )


@router.get("/projects/{number}/adjudication")
def adjudication(
    request: Request, project: Managed, show: Annotated[str, Query(max_length=20)] = "open"
) -> Response:
    """The queue of disagreements, and the decisions so far."""
    rows = disagreements_of(project)
    settled = sum(row.settled is not None for row in rows)
    counts = {"open": len(rows) - settled, "settled": settled, "all": len(rows)}
    chosen = show if show in counts else "open"
    shown = [row for row in rows if chosen == "all" or (row.settled is not None) == (chosen == "settled")]
    listing = listed(request, shown, search=_words, sorts={"topic": lambda row: row.topic_key}, size=10)
    return project_page(
        request, "adjudication.html", project, disagreements=listing, counts=counts, show=chosen
    )


def disagreements_of(project: ManagedProject) -> list[dashboard.Disagreement]:
    """Pairs of documents on which assessors disagree, with the decisions about them."""
    return dashboard.disagreements(project.records(), project.load(quality.adjudications_of))


def _words(row: dashboard.Disagreement) -> str:
    """What a search looks at."""
    documents = " ".join(f"{document.key} {document.title}" for document in row.documents)
    return f"{row.topic_key} {row.query} {documents} {' '.join(view.assessor for view in row.views)}"


@router.get("/audit")
def audit(
    request: Request,
    visit: AdminVisit,
    store: Stored,
    project: Annotated[int | None, Query(ge=1, le=LARGEST_NUMBER)] = None,
) -> Response:
    """The audit log."""
    with store.read() as connection:
        listing = stored_listing(
            request, lambda text, first, count: audit_log.entries(connection, project, text, first, count)
        )
        names = {row["id"]: row["name"] for row in projects.all_projects(connection)}
    summaries = summaries_of(request)
    rows = [_entry(row, summaries, names) for row in listing.rows]
    return page(request, "audit.html", visit, log=listing, rows=rows)


def summaries_of(request: Request) -> dict[str, str]:
    """What each route of the API does: the first sentence of its description."""
    return {
        f"{method.upper()} {path}": str(operation.get("description", "")).split(". ")[0].rstrip(".")
        for path, methods in request.app.openapi()["paths"].items()
        for method, operation in methods.items()
    }


def _entry(row: Any, summaries: dict[str, str], names: dict[int, str]) -> dict[str, Any]:
    detail = json.loads(row["detail"])
    shown = {**detail.get("path", {}), **detail.get("body", {})}
    return {
        "time": datetime.fromtimestamp(row["time"], UTC).strftime("%Y-%m-%d %H:%M:%S"),
        "person": row["person"],
        "what": summaries.get(row["action"]) or row["action"],
        "action": row["action"],
        "project": names.get(row["project"] or 0, ""),
        "detail": ", ".join(f"{name}: {value}" for name, value in shown.items() if name != "number"),
    }
