"""Headless Chromium as Debian has it."""

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common import utils

ADDRESS = "127.0.0.1"

CHROMIUM = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
            # Not through a port of localhost, which a chroot without /etc/hosts does not find.
            "--remote-debugging-pipe",
            # Whatever the page asked of another machine would fail, and be in the log.
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE " + ADDRESS)


class Driver(Service):
    """chromedriver by its address, for the same reason."""

    @property
    def service_url(self):
        return f"http://{ADDRESS}:{self.port}"

    def is_connectable(self):
        return utils.is_connectable(self.port, ADDRESS)


def open_browser():
    """A browser that reaches this machine alone. Its log has what the page wrote."""
    options = webdriver.ChromeOptions()
    for argument in CHROMIUM:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(service=Driver("/usr/bin/chromedriver"), options=options)
