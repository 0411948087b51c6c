"""The HTML pages. Changes go through the API; without a script, forms can sign in and out (``forms``)."""

from topkit.web.pages.admin import router as admin_router
from topkit.web.pages.assessor import router as assessor_router
from topkit.web.pages.forms import router as forms_router
from topkit.web.pages.learning import router as learning_router
from topkit.web.pages.models import router as models_router
from topkit.web.pages.oidc import router as oidc_router
from topkit.web.pages.programs import router as programs_router
from topkit.web.pages.quality import router as quality_router
from topkit.web.pages.render import error_page
from topkit.web.pages.results import router as results_router

routers = (
    assessor_router,
    admin_router,
    forms_router,
    results_router,
    quality_router,
    programs_router,
    models_router,
    learning_router,
    oidc_router,
)

__all__ = ["error_page", "routers"]
