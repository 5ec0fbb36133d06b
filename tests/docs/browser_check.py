"""The built site in a headless Chromium, from file://: scripts/docs.sh --check calls it.

    browser_check.py SITE SHOTS

Every page: no error or warning in its console, nothing asked of a network, no link to a file or place that is not there, no page wider
than a narrow screen. Formulas are drawn, tabs follow one another, search finds pages that have titles. SHOTS gets pictures of
some pages at two widths, light and dark.
"""
import sys
import time
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "report"))
from browser import Browser  # noqa: E402

WIDTHS = {"wide": 1280, "narrow": 390}
SHOWN = ["index.html", "start/tutorial.html", "howto/index.html", "howto/clusters.html", "method/penalties.html", "method/screening.html",
         "gallery/index.html", "gallery/plot_02_genes.html", "reference/python-api.html", "reference/cpp-api.html", "reference/cli-help.html",
         "performance.html", "paper.html"]
QUERIES = {"prox": "prox", "glmnet": "From glmnet", "missing values": "Missing values"}  # a word, and a title among what is found


class Addresses(HTMLParser):
    """What a page names and links to."""

    def __init__(self, text):
        super().__init__()
        self.places, self.links = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.places |= {found[key] for key in ("id", "name") if found.get(key)}
        for key in ("href", "src"):
            if found.get(key):
                self.links.append(found[key])


def dead_links(site):
    parsed = {path: Addresses(path.read_text()) for path in sorted(site.rglob("*.html"))}
    found, count = [], 0
    for path, page in parsed.items():
        for link in page.links:
            address, _, place = link.partition("#")
            if ":" in address.split("/")[0]:
                continue
            count += 1
            target = (path.parent / unquote(address.split("?")[0])).resolve() if address else path
            if not target.exists():
                found.append(f"{path.relative_to(site)}: {link}: no such file")
            elif place and target in parsed and unquote(place) not in parsed[target].places:
                found.append(f"{path.relative_to(site)}: {link}: no such place")
    return found, count


def look_at(browser, site, page):
    """What is wrong with a page."""
    browser.open(page)
    browser.settle()
    name = page.relative_to(site)
    found = [f"{name}: {text}" for text in browser.complaints()]
    found += [f"{name}: asks for {url}" for url in browser.requests() if not url.startswith("file:")]
    too_wide = browser.run("document.documentElement.scrollWidth - window.innerWidth")
    if too_wide > 0:
        found.append(f"{name}: {too_wide} pixels wider than a screen of {WIDTHS['narrow']}")
    return found


def check_formulas(browser, site):
    browser.open(site / "method" / "penalties.html")
    browser.wait("window.MathJax && document.querySelectorAll('mjx-container svg').length > 0")
    drawn, wrong = browser.run("[document.querySelectorAll('mjx-container').length, document.querySelectorAll('mjx-merror').length]")
    return [] if drawn > 0 and wrong == 0 else [f"penalties.html: {drawn} formulas drawn, {wrong} with errors"]


def check_tabs(browser, site):
    browser.open(site / "start" / "tutorial.html")
    browser.run("[...document.querySelectorAll('label.sd-tab-label')].find((tab) => tab.textContent.trim() === 'Python').click()")
    browser.settle()
    shown = browser.run("""[...document.querySelectorAll('.sd-tab-set')].map((set) =>
        [...set.querySelectorAll('input')].find((input) => input.checked).nextElementSibling.textContent.trim())""")
    return [] if shown and set(shown) == {"Python"} else [f"tutorial.html: after a click on Python the tabs are {shown}"]


def check_search(browser, site):
    found = []
    for query, title in QUERIES.items():
        browser.open(site / "search.html")
        browser.send("Page.navigate", url=(site / "search.html").resolve().as_uri() + "?q=" + query.replace(" ", "+"))
        browser.wait("document.querySelectorAll('ul.search li').length > 0 && /found|finished/i.test(document.querySelector('.search-summary').textContent)")
        titles = browser.run("[...document.querySelectorAll('ul.search li > a')].map((link) => link.textContent.trim())")
        if not any(title.lower() in text.lower() for text in titles) or not all(titles) or "<no title>" in titles:
            found.append(f"search for {query}: {titles}")
        found += [f"search for {query}: {text}" for text in browser.complaints()]
    return found


def take_pictures(browser, site, shots):
    shots.mkdir(parents=True, exist_ok=True)
    for name in SHOWN:
        for size, width in WIDTHS.items():
            for scheme in ("light", "dark"):
                browser.size(width, 900, mobile=size == "narrow")
                browser.prefer(scheme)
                browser.open(site / name)
                time.sleep(0.4)  # until colours have changed
                browser.screenshot(shots / f"{name[:-5].replace('/', '-')}-{size}-{scheme}.png")


def main():
    site, shots = (Path(name).resolve() for name in sys.argv[1:])
    pages = sorted(site.rglob("*.html"))
    mistakes, links = dead_links(site)
    browser = Browser()
    try:
        browser.size(WIDTHS["narrow"], 900, mobile=True)
        for page in pages:
            mistakes += look_at(browser, site, page)
        browser.size(WIDTHS["wide"], 900)
        mistakes += check_formulas(browser, site) + check_tabs(browser, site) + check_search(browser, site)
        take_pictures(browser, site, shots)
    finally:
        browser.close()
    print("\n".join(mistakes), end="\n" if mistakes else "")
    print(f"browser: {len(pages)} pages, {links} internal links, {len(mistakes)} mistakes; pictures in {shots}")
    sys.exit(bool(mistakes))


if __name__ == "__main__":
    main()
