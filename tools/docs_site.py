#!/usr/bin/env python3
"""Builds the docs site: stages the pages, writes Go's API reference, lets MkDocs build all of it, checks the links.

  tools/docs_site.py --go GO --gomarkdoc PROGRAM --mkdocs PROGRAM

Pages are staged into build/site/pages with the paths that they have here, so that links among them stay; links to
other files of the repository become links to the code host. C++'s API reference is made by doxygen (mkdocs.yml).
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import check_docs  # noqa: E402 (the path line above makes it importable)
import check_site  # noqa: E402
import check_versions  # noqa: E402

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "build/site/pages"
SITE = ROOT / "out/site"
SOURCES = "https://github.com/harena-project/harena/blob/main/"
# Pages that one page of the navigation leads to.
NOT_IN_NAV = re.compile(r"docs/decisions/(?!README).*")
ELSEWHERE = re.compile(r'(?<=src=")https?://[^"]*/iframe-worker/shim(?=")')
LIST_ITEM = re.compile(r"\s*(?:[-*]|\d+\.) ")
FAVICON = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><ellipse cx="12" cy="12" rx="11" ry="8"
fill="#795548"/><ellipse cx="12" cy="12" rx="7" ry="4.5" fill="#f3e3c3"/></svg>
"""


def known_files(root: Path, *patterns: str) -> list[Path]:
    """Those that git knows, relative to root."""
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns], cwd=root,
                            check=True, text=True, stdout=subprocess.PIPE).stdout
    return sorted({Path(name) for name in listed.splitlines() if (root / name).is_file() and "/vendor/" not in name})


def staged_pages(root: Path) -> list[Path]:
    return known_files(root, "*.md")


def staged_pictures(root: Path) -> list[Path]:
    return known_files(root, "docs/*.png", "docs/*.svg")


def rewrite_links(line: str, page: Path, staged: set[Path]) -> str:
    """Links of one line of prose to files that are no pages lead to the code host."""
    def target_of(found: re.Match) -> str:
        target = found.group(1)
        name, _, anchor = target.partition("#")
        if not name or re.match(r"[a-z][a-z0-9+.-]*:", target):
            return found.group(0)
        place = Path(os.path.normpath(page.parent / name))
        if place in staged:
            return found.group(0)
        return found.group(0).replace(target, SOURCES + place.as_posix() + (f"#{anchor}" if anchor else ""))
    # Inline code is not prose, even where it looks like a link; inside of a link's text it is.
    either = re.compile(rf"`[^`]+`|{check_docs.LINK.pattern}")
    return either.sub(lambda found: found.group(0) if found.group(1) is None else target_of(found), line)


def stage_page(root: Path, page: Path, staged: set[Path]) -> str:
    """The page's text for MkDocs: links rewritten, markers dropped, lists parted from the paragraph before them."""
    lines = (root / page).read_text(encoding="utf-8").splitlines()
    prose = dict(check_docs.read_page(root, page).prose)
    out: list[str] = []
    for number, line in enumerate(lines, 1):
        if number not in prose:
            out.append(line)
            continue
        if check_docs.MARKER.match(line):
            continue
        before = out[-1] if out else ""
        is_item = LIST_ITEM.match(line) and not line.startswith("    ")
        if is_item and before.strip() and not LIST_ITEM.match(before) and not before.startswith(" "):
            out.append("")
        out.append(rewrite_links(line, page, staged))
    return "\n".join(out) + "\n"


def stage(root: Path, pages: Path) -> list[Path]:
    shutil.rmtree(pages, ignore_errors=True)
    names, pictures = staged_pages(root), staged_pictures(root)
    for name in names + pictures:
        (pages / name).parent.mkdir(parents=True, exist_ok=True)
    for name in names:
        (pages / name).write_text(stage_page(root, name, {*names, *pictures}), encoding="utf-8")
    for name in pictures:
        shutil.copy(root / name, pages / name)
    (pages / "favicon.svg").write_text(FAVICON, encoding="utf-8")
    return names


def missing_in_nav(names: list[Path], config: str) -> list[str]:
    listed = set(re.findall(r"^\s+- [^:]+: (\S+)$", config, re.MULTILINE))
    return [name.as_posix() for name in names
            if name.as_posix() not in listed and not NOT_IN_NAV.fullmatch(name.as_posix())]


def go_reference(go: str, gomarkdoc: str, pages: Path) -> None:
    """A page for each public package, and one that lists them."""
    env = dict(os.environ, GOWORK="off")
    rows = []
    for module in check_versions.go_modules(ROOT):
        if module.startswith("bench/") or module == "go/tools":
            continue
        listed = subprocess.run([go, "list", "-f", "{{.ImportPath}}\t{{.Doc}}", "./..."], cwd=ROOT / module, env=env,
                                check=True, text=True, stdout=subprocess.PIPE).stdout
        for line in filter(None, listed.splitlines()):
            path, _, doc = line.partition("\t")
            if "/internal" in path:
                continue
            folder = path.removeprefix(check_versions.OURS)
            if folder == "go":
                continue
            text = subprocess.run(
                [gomarkdoc, "--repository.url", SOURCES.split("/blob/")[0], "--repository.default-branch", "main",
                 "--repository.path", f"/{module}", "." if folder == module else f"./{Path(folder).relative_to(module)}"],
                cwd=ROOT / module, env=env, check=True, text=True, stdout=subprocess.PIPE).stdout
            page = pages / "api" / f"{folder}.md"
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(text, encoding="utf-8")
            rows.append(f"| [`{folder.removeprefix('go/')}`]({folder}.md) | {doc} |\n")
    (pages / "api/go.md").write_text(
        f"# Go\n\nImport paths begin with `{check_versions.OURS}go/`.\n\n| package | what |\n|---|---|\n"
        + "".join(sorted(rows)), encoding="utf-8")


def load_nothing_from_elsewhere(site: Path) -> None:
    """The theme takes what search needs on a page that is read from disk from another host: here it has a copy."""
    shutil.copy(ROOT / "tools/site/iframe-worker.js", site / "assets/javascripts")
    for file in site.rglob("*.html"):
        text = file.read_text(encoding="utf-8")
        here = os.path.relpath(site / "assets/javascripts/iframe-worker.js", file.parent)
        file.write_text(ELSEWHERE.sub(here, text), encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--go", default="go")
    parser.add_argument("--gomarkdoc", default="gomarkdoc")
    parser.add_argument("--mkdocs", default="mkdocs")
    args = parser.parse_args()
    names = stage(ROOT, PAGES)
    lost = missing_in_nav(names, (ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    if lost:
        sys.exit(f"site: mkdocs.yml has no place in `nav` for {', '.join(lost)}")
    go_reference(args.go, args.gomarkdoc, PAGES)
    built = subprocess.run([args.mkdocs, "build", "--clean", "--config-file", ROOT / "mkdocs.yml"], text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if built.returncode != 0:  # its `strict` makes one of every warning
        sys.exit("\n".join(line for line in built.stdout.splitlines() if not line.startswith(("INFO", "  - "))))
    load_nothing_from_elsewhere(SITE)
    problems, pages = check_site.check(SITE)
    for problem in problems:
        print(f"site: {problem}", file=sys.stderr)
    print(f"site: {pages} pages in {SITE.relative_to(ROOT)}, problems: {len(problems)}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
