"""Documents that are changed under existing judgments keep their old versions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from topkit.web.columns import floats, integers, reference, texts

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    columns = (reference("document"), *integers("version"), *texts("kind", "title", "body"), *floats("until"))
    op.create_table("document_version", *columns, sa.PrimaryKeyConstraint("document", "version"))
