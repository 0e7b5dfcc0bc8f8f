"""The page that shows a tour: each step with its text and its screenshot."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from common.page import element  # noqa: E402 (the path line above makes it importable)

HEAD = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>A tour of Harena</title>
<style>
  :root { color-scheme: light dark; }
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 1100px; margin: 2rem auto; padding: 0 1rem; }
  pre { overflow-x: auto; padding: 1rem; border: 1px solid #8884; border-radius: 8px; }
  img { max-width: 100%; border: 1px solid #8884; border-radius: 8px; }
</style>
<h1>A tour of Harena</h1>
"""


def write(path, steps):
    """Writes the page of the steps so far: (title, text, name of a screenshot or None)."""
    body = ""
    for title, text, picture in steps:
        body += element("h2", title) + element("pre", text.strip())
        if picture:
            body += f'<img src="{picture}" alt="The live page after this step">'
    Path(path).write_text(HEAD + body + "</html>\n", encoding="utf-8")
