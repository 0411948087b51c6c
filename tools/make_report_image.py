"""Takes docs/images/study-report.png: the report of ``topkit demo`` in a browser and on a phone.

Run ``python -m tools.make_report_image REPORT`` in the root of the repository. Chromium must be installed.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import ViewportSize
from tests.support.browser import chromium

IMAGE = Path(__file__).resolve().parent.parent / "docs" / "images" / "study-report.png"
SIZES: tuple[ViewportSize, ...] = ({"width": 980, "height": 860}, {"width": 390, "height": 860})
GAP = 24


def main() -> None:
    report = Path(sys.argv[1]).resolve().as_uri()
    shots = []
    with chromium() as browser:
        for size in SIZES:
            page = browser.new_page(viewport=size)
            page.goto(report)
            shots.append(Image.open(io.BytesIO(page.screenshot())))
    width = sum(shot.width for shot in shots) + GAP * (len(shots) - 1)
    together = Image.new("RGB", (width, max(shot.height for shot in shots)), "#d5dae0")
    left = 0
    for shot in shots:
        together.paste(shot, (left, 0))
        left += shot.width + GAP
    together.quantize(64).save(IMAGE, optimize=True)


if __name__ == "__main__":
    main()
