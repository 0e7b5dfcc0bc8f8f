// The table of methods. Rows are kept and changed in place, so that focus and selection stay.
import {byId, el, say} from "./dom.js";
import {bytes, count, percent, rate} from "./format.js";

/** What tells methods apart: several servers of a process may have one of the same name. */
export function keysOf(status) {
  const seen = new Map();
  return status.methods.map((method) => {
    const name = `${method.framework} ${method.name}`;
    const nth = (seen.get(name) || 0) + 1;
    seen.set(name, nth);
    return `${name} ${nth}`;
  });
}

/** Requests and refusals per second, by the order of methods; known once there are two answers. */
export function ratesOf(status, before) {
  const seconds = before ? (new Date(status.now) - new Date(before.now)) / 1000 : 0;
  const old = new Map(before ? keysOf(before).map((key, i) => [key, before.methods[i]]) : []);
  const keys = keysOf(status);
  const of = (field) => status.methods.map((method, i) => {
    const was = old.get(keys[i]);
    return was && seconds > 0 ? Math.max(0, (method[field] - was[field]) / seconds) : undefined;
  });
  return {known: seconds > 0, requests: of("requests"), refused: of("refused")};
}

export class MethodTable {
  constructor(choose) {
    this.choose = choose;
    this.filter = "";
    this.sort = {by: null, down: false};
    this.rows = new Map();
    for (const head of document.querySelectorAll("#table th")) {
      head.querySelector("button").addEventListener("click", () => this.#sortBy(head));
    }
  }

  focus(key) {
    this.rows.get(key)?.button.focus();
  }

  show(status, rates, chosen) {
    this.last = {status, rates, chosen};
    const keys = keysOf(status);
    const entries = status.methods.map((method, i) => this.#entry(keys[i], method, rates, i))
      .filter(({method}) => method.name.toLowerCase().includes(this.filter.trim().toLowerCase()));
    this.#order(entries);
    for (const [key, row] of this.rows) {
      if (!entries.some((entry) => entry.key === key)) {
        row.tr.remove();
        this.rows.delete(key);
      }
    }
    const body = document.querySelector("#table tbody");
    entries.forEach((entry, i) => {
      const row = this.rows.get(entry.key) || this.#makeRow(entry);
      if (body.children[i] !== row.tr) body.insertBefore(row.tr, body.children[i] || null);
      this.#fill(row, entry, entry.key === chosen);
    });
    const none = byId("no-methods");
    none.hidden = entries.length > 0;
    say(none, status.methods.length ? "No method has that in its name." :
      "No server of this process is on Harena yet: methods appear when an adapter makes one.");
  }

  #entry(key, method, rates, i) {
    const limit = method.settings.request_bytes_max;
    const typical = method.bytes.p99;
    return {
      key, method, typical, limit, name: method.name, mode: method.mode, live: method.scopes.live, refused: method.refused,
      rate: rates.requests[i], refusing: rates.refused[i] > 0, headroom: limit === null ? -1 : typical / limit,
    };
  }

  #order(entries) {
    const {by, down} = this.sort;
    if (!by) return;
    entries.sort((a, b) => {
      const order = typeof a[by] === "string" ? a[by].localeCompare(b[by]) : (a[by] ?? -1) - (b[by] ?? -1);
      return down ? -order : order;
    });
  }

  #sortBy(head) {
    const by = head.dataset.sort;
    const numbers = head.classList.contains("n") || by === "headroom";
    this.sort = this.sort.by === by ? {by, down: !this.sort.down} : {by, down: numbers};
    for (const other of document.querySelectorAll("#table th")) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", this.sort.down ? "descending" : "ascending");
    if (this.last) this.show(this.last.status, this.last.rates, this.last.chosen);
  }

  #makeRow({key, method}) {
    const cells = {};
    const cell = (name, ...children) => {
      cells[name] = el("td", {class: name, "data-title": name}, ...children);
      return cells[name];
    };
    const slash = method.name.lastIndexOf("/");
    const button = el("button", {type: "button", class: "method", "aria-expanded": "false", "aria-controls": "detail",
      onclick: () => this.choose(button.getAttribute("aria-expanded") === "true" ? null : key)},
    el("b", {}, method.name.slice(slash + 1)), el("small", {class: "muted"}, `${method.name.slice(0, slash + 1)} · ${method.framework}`));
    const mode = el("span", {class: "mode"});
    const served = el("small", {class: "muted"});
    const meter = el("meter", {min: 0, max: 1, low: 0.5, high: 0.8, optimum: 0, "aria-label": "of the request's limit"});
    const share = el("small");
    const tr = el("tr", {}, el("th", {scope: "row"}, button), cell("mode-cell", mode, served), cell("n rate"), cell("n typical"),
      cell("room", meter, share), cell("n refused"), cell("n live"));
    const row = {tr, button, mode, served, meter, share, cells};
    this.rows.set(key, row);
    return row;
  }

  #fill(row, entry, chosen) {
    const {method} = entry;
    row.button.setAttribute("aria-expanded", String(chosen));
    row.tr.classList.toggle("chosen", chosen);
    say(row.mode, method.mode);
    row.mode.dataset.mode = method.mode;
    say(row.served, method.served === method.mode ? "" : `served as ${method.served}`);
    say(row.cells["n rate"], rate(entry.rate));
    say(row.cells["n typical"], method.requests ? bytes(entry.typical) : "–");
    row.meter.hidden = entry.limit === null;
    row.meter.value = Math.min(1, Math.max(0, entry.headroom));
    say(row.share, entry.limit === null ? "no limit" : `${percent(entry.headroom)} of ${bytes(entry.limit)}`);
    say(row.cells["n refused"], count(entry.refused));
    row.cells["n refused"].classList.toggle("bad", entry.refusing);
    say(row.cells["n live"], count(entry.live));
  }
}
