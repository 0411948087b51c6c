"""The HTML pages. Changes go through the API; without a script, forms can sign in and out (``forms``)."""

from topkit.web.pages.admin import router as admin_router
from topkit.web.pages.assessor import router as assessor_router
from topkit.web.pages.forms import router as forms_router
from topkit.web.pages.render import error_page

routers = (assessor_router, admin_router, forms_router)

__all__ = ["error_page", "routers"]
