#!/usr/bin/env python3
"""Makes the pictures of the report in docs/images, with a headless Chromium: scripts/make-pictures.py [PROGRAM]"""
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "report"))
from browser import Browser  # noqa: E402

IMAGES = ROOT / "docs" / "images"
WIDTH, STEP = 1100, 45
SIMULATE = ["--rows", "150", "--cols", "400", "--groups", "3", "--group-size", "5", "--correlation", "0.97", "--snr", "20",
            "--seed", "7", "--output", "data.csv", "--quiet"]
PATH = ["data.csv", "--target", "y", "--weights", "bh", "--ratio", "0.02", "--report", "report.html", "--quiet"]


def top_and_bottom(browser, first, last):
    """Where the first element begins and the last one ends, on the page."""
    return browser.run(f"""(() => {{ const box = (s) => document.querySelector(s).getBoundingClientRect();
        return [box({first!r}).top + scrollY - 16, box({last!r}).bottom + scrollY + 6]; }})()""")


def picture(browser, name, first, last):
    top, bottom = top_and_bottom(browser, first, last)
    browser.screenshot(IMAGES / name, clip={"x": 0, "y": max(0, top), "width": WIDTH, "height": bottom - max(0, top), "scale": 0.8})


def show_path(browser):
    """The path, with the pointer on a group."""
    browser.run(f"chooseStep({STEP})")
    browser.size(WIDTH, 1400)
    browser.settle()
    x, y = browser.run("""(() => { const canvas = document.querySelector('#path-chart canvas'), box = canvas.getBoundingClientRect();
        const point = Chart.getChart(canvas).getDatasetMeta(0).data[30]; return [box.x + point.x, box.y + point.y]; })()""")
    browser.move(x, y)


def main():
    program = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "tyto").resolve()
    IMAGES.mkdir(parents=True, exist_ok=True)
    browser = Browser()
    try:
        with tempfile.TemporaryDirectory(prefix="tyto-pictures-") as folder:
            subprocess.run([program, "simulate", *SIMULATE], cwd=folder, check=True)
            subprocess.run([program, "path", *PATH], cwd=folder, check=True)
            browser.size(WIDTH, 1000)
            browser.prefer("light")
            browser.open(Path(folder) / "report.html")
            show_path(browser)
            picture(browser, "report-path.webp", "header.top", "#path-chart .legend")
            browser.prefer("dark")
            browser.open(Path(folder) / "report.html")
            browser.run(f"chooseStep({STEP})")
            browser.settle()
            picture(browser, "report-groups.webp", "#groups-title", "#quality .canvas")
    finally:
        browser.close()
    for name in ("report-path.webp", "report-groups.webp"):
        print(f"{IMAGES / name}: {(IMAGES / name).stat().st_size // 1024} KB")


if __name__ == "__main__":
    main()
