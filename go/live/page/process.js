// What belongs to the whole process: its limit, its page pools.
import {byId, el, say} from "./dom.js";
import {bytes, count} from "./format.js";
import {SettingsForm} from "./forms.js";

const POOL_FACTS = [
  ["In use", "bytes_in_use"], ["Kept by threads", "bytes_thread_cached"], ["Kept centrally", "bytes_retained"],
  ["Given back", "bytes_cold"], ["Mapped", "bytes_mapped"],
];

export class ProcessPanel {
  constructor(change) {
    this.change = change;
    this.form = new SettingsForm(["process_bytes_max"], "Limit of the process", (settings) => change({method: ""}, settings));
    this.refusals = el("p", {class: "muted"});
    this.pools = new Map();
    this.poolsElement = el("div");
    byId("process").append(el("div", {class: "panel-head"}, el("h2", {id: "process-title"}, "Process")),
      this.form.element, this.refusals, this.poolsElement);
  }

  show(status, writable) {
    this.form.show({process_bytes_max: status.process.bytes_max}, writable);
    say(this.refusals, status.process.refusals ? `${count(status.process.refusals)} refusals by this limit so far.` : "");
    const pools = status.pools || [];
    for (const [name, shown] of this.pools) {
      if (!pools.some((pool) => pool.name === name)) {
        shown.element.remove();
        this.pools.delete(name);
      }
    }
    for (const pool of pools) this.#showPool(pool, writable);
  }

  #showPool(pool, writable) {
    let shown = this.pools.get(pool.name);
    if (!shown) {
      const form = new SettingsForm(["retained_bytes_max", "decay_after_ms"], `Retention of pool ${pool.name}`,
        (settings) => this.change({method: "", pool: pool.name}, settings));
      const values = POOL_FACTS.map(() => el("dd"));
      shown = {form, values, element: el("div", {class: "pool"}, el("h3", {}, `Page pool: ${pool.name}`),
        el("dl", {class: "facts"}, ...POOL_FACTS.map(([title], i) => el("div", {}, el("dt", {}, title), values[i]))), form.element)};
      this.pools.set(pool.name, shown);
      this.poolsElement.append(shown.element);
    }
    POOL_FACTS.forEach(([, field], i) => say(shown.values[i], bytes(pool[field])));
    shown.form.show(pool, writable);
  }
}
