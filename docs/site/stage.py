"""Copies the pages of the site to one folder: docs/, and the pages that stand elsewhere in the tree (PAGES).

    stage.py TARGET

Links between pages are written anew for their new places; a link to another file of the tree becomes its text, to one of docs/ a
download. So every
link that works in the tree works on the site; one to docs/examples goes to the gallery. A link to nothing is a mistake, and so is a page that is in no toctree.
"""
import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = {  # file of the tree: page of the site
    "MATH.md": "method/mathematics.md",
    "ARCHITECTURE.md": "project/architecture.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changelog.md",
    "THIRD-PARTY.md": "project/third-party.md",
    "bench/peers/README.md": "project/peers.md",
}
GENERATED = {"gallery/index"}  # pages that the build writes
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
IMAGE = re.compile(r"!\[[^\]]*\]\(([^()\s:]+)\)")
CODE = re.compile(r"^( *)(`{3,}|~{3,}).*?^\1\2`*$|^(?:    [^\n]*\n)+|`[^`\n]+`", re.MULTILINE | re.DOTALL)
TOCTREE = re.compile(r"^(`{3,}|:{3,})\{toctree\}\n(.*?)^\1$", re.MULTILINE | re.DOTALL)


def pages(root=ROOT):
    """{page of the site: file of the tree}, paths from their roots."""
    found = {target: source for source, target in PAGES.items()}
    for path in sorted((root / "docs").rglob("*.md")):
        found[str(path.relative_to(root / "docs"))] = str(path.relative_to(root))
    return found


def slug(heading):
    """The anchor of a heading, as GitHub and MyST make it."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower().replace("`", "")
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors(text):
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    return {slug(line) for line in re.findall(r"^#{1,6} (.*)$", prose, re.MULTILINE)}


def outside_code(text):
    """Pieces of the text, (piece, whether it is prose)."""
    place = 0
    for match in CODE.finditer(text):
        yield text[place:match.start()], True
        yield match.group(), False
        place = match.end()
    yield text[place:], True


class Stage:
    def __init__(self, root=ROOT):
        self.root = root
        self.sources = pages(root)
        self.targets = {source: target for target, source in self.sources.items()}
        self.mistakes = []

    def rewritten(self, page):
        """The text of a page with links as its new place wants them."""
        source = self.sources[page]
        text = (self.root / source).read_text()
        for address in IMAGE.findall("".join(piece for piece, prose in outside_code(text) if prose)):
            if not ((self.root / source).parent / address).exists():
                self.mistakes.append(f"{source}: {address}: no such picture")
        pieces = [LINK.sub(lambda match: self.link(page, source, match), piece) if prose else piece for piece, prose in outside_code(text)]
        return "".join(pieces)

    def link(self, page, source, match):
        words, address = match.groups()
        if re.match(r"[a-z]+:", address):
            return match.group()
        path, _, anchor = address.partition("#")
        file = (self.root / source).parent / path if path else self.root / source
        file = file.resolve()
        if not file.exists() or self.root not in file.parents:
            self.mistakes.append(f"{source}: [{words}]({address}): no such file")
            return match.group()
        inside = str(file.relative_to(self.root))
        if anchor and (file.suffix != ".md" or anchor not in anchors(file.read_text())):
            self.mistakes.append(f"{source}: [{words}]({address}): no such heading")
        if inside.startswith("docs/examples"):
            return f"[{words}](/gallery/{file.stem if file.suffix else 'index'}.rst)"
        if inside not in self.targets:
            return match.group() if inside.startswith("docs/") else words
        if not path:
            return match.group()
        return f"[{words}](/{self.targets[inside]}{'#' + anchor if anchor else ''})"

    def in_toctrees(self):
        """Pages that some toctree names, without .md."""
        found = []
        for page, source in self.sources.items():
            for _, body in TOCTREE.findall((self.root / source).read_text()):
                entries = [line.strip() for line in body.splitlines() if line.strip() and not line.startswith(":")]
                names = [re.sub(r"^.*<(.*)>$", r"\1", entry).removesuffix(".md") for entry in entries]
                found += [(page, str((Path("/") / Path(page).parent / name).resolve().relative_to("/"))) for name in names]
        return found

    def check_toctrees(self):
        named = self.in_toctrees()
        known = {page.removesuffix(".md") for page in self.sources} | GENERATED
        self.mistakes += [f"{self.sources[page]}: toctree names {name}, which does not exist" for page, name in named if name not in known]
        names = [name for _, name in named]
        self.mistakes += [f"{name}: in {names.count(name)} toctrees" for name in sorted(set(names)) if names.count(name) > 1]
        self.mistakes += [f"{self.sources.get(name + '.md', name)}: in no toctree; name it in one of docs/*/index.md"
                          for name in sorted(known - {"index"}) if name not in names]

    def write(self, target):
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(self.root / "docs", target, ignore=shutil.ignore_patterns("__pycache__", "*.md"))
        for page in self.sources:
            file = target / page
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(self.rewritten(page))


def check(root=ROOT):
    """What is wrong with the pages, one line each."""
    stage = Stage(root)
    for page in stage.sources:
        stage.rewritten(page)
    stage.check_toctrees()
    return stage.mistakes


def main():
    if len(sys.argv) != 2:
        sys.exit("stage: want a folder: stage.py TARGET")
    stage = Stage()
    stage.write(Path(sys.argv[1]))
    stage.check_toctrees()
    if stage.mistakes:
        sys.exit("\n".join(stage.mistakes))
    print(f"stage: {len(stage.sources)} pages")


if __name__ == "__main__":
    main()
