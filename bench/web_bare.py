"""The baseline of ``bench.web``: a bare FastAPI endpoint that inserts one row. ``DATABASE PORT``"""

from __future__ import annotations

import sys

import sqlalchemy as sa
import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel

from topkit.web.settings import Settings
from topkit.web.store.engine import make_engine, writing

app = FastAPI()
engine = make_engine(Settings(sys.argv[1]))
table = sa.Table(
    "bare",
    sa.MetaData(),
    sa.Column("id", sa.Integer, primary_key=True),
    *(sa.Column(name, sa.Text) for name in ("key", "a", "b", "answer")),
    sa.Column("seconds", sa.Float),
)


class Row(BaseModel):
    """What a judgment holds."""

    key: str
    a: str
    b: str
    answer: str
    seconds: float


@app.post("/threads")
def insert(row: Row) -> dict[str, bool]:
    """As FastAPI runs a plain function: in a thread."""
    with writing(engine) as connection:
        connection.execute(table.insert(), [row.model_dump()])
    return {"saved": True}


@app.post("/loop")
async def insert_on_the_loop(row: Row) -> dict[str, bool]:
    """One after the other, without the cost of threads."""
    return insert(row)


if __name__ == "__main__":
    table.create(engine, checkfirst=True)
    uvicorn.run(app, port=int(sys.argv[2]), access_log=False, log_level="warning", server_header=False)
