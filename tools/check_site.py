#!/usr/bin/env python3
"""Says which links of a built site lead nowhere: files and anchors in it. Links to other hosts are not followed,
but nothing may be loaded from them.

  tools/check_site.py FOLDER
"""

import argparse
import os
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


@dataclass
class Page:
    links: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)
    loaded: set[str] = field(default_factory=set)  # scripts, pictures and style sheets


class Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.page = Page()

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.page.anchors |= {given[name] for name in ("id", "name") if given.get(name)}
        self.page.loaded |= {given["src"]} if given.get("src") else set()
        self.page.loaded |= {given["href"]} if tag == "link" and given.get("rel") == "stylesheet" else set()
        self.page.links += [given[name] for name in ("href", "src") if given.get(name)]


def read(file: Path) -> Page:
    reader = Reader()
    reader.feed(file.read_text(encoding="utf-8"))
    return reader.page


def check(site: Path) -> tuple[list[str], int]:
    """(problems, number of pages)."""
    pages = {file.relative_to(site): read(file) for file in sorted(site.rglob("*.html"))}
    problems = []
    for name, page in pages.items():
        if name == Path("404.html"):
            continue  # served below any path
        for link in sorted(set(page.links)):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.loaded and parts.scheme != "data":
                    problems.append(f"{name}: loads `{link}` from elsewhere")
                continue
            target = Path(os.path.normpath(name.parent / unquote(parts.path))) if parts.path else name
            if (site / target).is_dir():
                target /= "index.html"
            if not (site / target).is_file():
                problems.append(f"{name}: `{link}`: no such file")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors | {"top"}:
                problems.append(f"{name}: `{link}`: no such anchor")
    return problems, len(pages)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("site", type=Path)
    problems, pages = check(parser.parse_args().site)
    for problem in problems:
        print(f"site: {problem}", file=sys.stderr)
    print(f"site: {pages} pages, problems: {len(problems)}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
