// The page: asks once a second, shows what came, says so when nothing does.
import {Api} from "./api.js";
import {Cards} from "./cards.js";
import {Changes} from "./changes.js";
import {Detail} from "./detail.js";
import {byId, say} from "./dom.js";
import {duration, time} from "./format.js";
import {MethodTable, ratesOf} from "./methods.js";
import {ProcessPanel} from "./process.js";
import {startTheme} from "./theme.js";
import {Timeline} from "./timeline.js";
import {TokenDialog} from "./token.js";

const INTERVAL_MS = 1000;

const api = new Api();
const dialog = new TokenDialog(api, () => refresh());
const changes = new Changes(api, dialog, () => refresh());
const change = (where, settings) => changes.make(where, settings);
const detail = new Detail(change);
const table = new MethodTable((method) => {
  detail.choose(method);
  if (last) show(last);
});
const cards = new Cards();
const panel = new ProcessPanel(change);
const timeline = new Timeline();
startTheme(() => timeline.redraw());

let last = null;
let before = null;
let refreshing = null;

/** One round of questions; those who ask meanwhile share it. */
function refresh() {
  refreshing ??= askAll().finally(() => { refreshing = null; });
  return refreshing;
}

async function askAll() {
  try {
    const [status, samples] = await Promise.all([api.status(), api.timeline(timeline.lastMs)]);
    if (last && last.started_at !== status.started_at) {
      before = null; // another process: its counts began anew
      timeline.clear();
    } else {
      before = last;
    }
    last = status;
    timeline.add(samples.samples);
    show(status);
    connected(status);
  } catch (error) {
    disconnected(error);
  }
}

function show(status) {
  const rates = ratesOf(status, before);
  const writable = status.writable && api.token !== "";
  document.body.classList.toggle("writable", writable);
  cards.show(status, rates);
  table.show(status, rates, detail.key);
  detail.show(status, writable);
  panel.show(status, writable);
  changes.show(status, writable);
  timeline.show(status);
}

function connected(status) {
  const language = {"c++": "C++", go: "Go"}[status.language] || status.language;
  say(byId("server"), `${language} · ${status.harena} · process ${status.pid} · up ` +
    duration(new Date(status.now) - new Date(status.started_at)));
  document.title = `Harena · ${language} ${status.pid}`;
  document.body.classList.remove("stale");
  say(byId("link-text"), "live");
  byId("trouble").hidden = true;
  dialog.showState(status.writable);
}

function disconnected(error) {
  document.body.classList.add("stale");
  say(byId("link-text"), "no answer");
  const trouble = byId("trouble");
  if (error.status === 401) {
    say(trouble, `The server refuses: ${error.message}.`);
    dialog.askOnce("Other machines need the token that the server was started with, to see anything.");
  } else if (error.status) {
    say(trouble, `The server refuses: ${error.message}.`);
  } else {
    say(trouble, `No answer from the server (${error.name === "TimeoutError" ? "it takes too long" : error.message}). ` +
      `Asking again each second.${last ? ` The numbers are those of ${time(last.now)}.` : ""}`);
  }
  trouble.hidden = false;
}

byId("filter").addEventListener("input", () => {
  table.filter = byId("filter").value;
  if (last) show(last);
});
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, select, textarea, dialog");
  if (event.key === "/" && !typing) {
    event.preventDefault();
    byId("filter").focus();
  } else if (event.key === "Escape" && !event.target.closest("dialog")) {
    if (event.target === byId("filter") && table.filter) {
      byId("filter").value = table.filter = "";
    } else if (detail.key) {
      table.focus(detail.key);
      detail.choose(null);
    }
    if (last) show(last);
  }
});

async function forever() {
  for (;;) {
    if (!document.hidden) await refresh();
    await new Promise((wake) => { setTimeout(wake, INTERVAL_MS); });
  }
}
forever();
