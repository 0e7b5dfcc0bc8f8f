"""Headless Chromium as Debian has it."""

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

CHROMIUM = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
            # Whatever the page asked of another machine would fail, and be in the log.
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")


def open_browser():
    """A browser that reaches this machine alone. Its log has what the page wrote."""
    options = webdriver.ChromeOptions()
    for argument in CHROMIUM:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
