"""The HTML pages. They only read; every change goes through the API."""

from topkit.web.pages.admin import router as admin_router
from topkit.web.pages.assessor import router as assessor_router
from topkit.web.pages.render import error_page

routers = (assessor_router, admin_router)

__all__ = ["error_page", "routers"]
