// The process in four numbers.
import {byId, el, say} from "./dom.js";
import {bytes, count, percent, rate} from "./format.js";

export class Cards {
  constructor() {
    this.cards = {};
    for (const name of ["Requests/s", "Refused/s", "Memory taken", "Memory kept"]) {
      const value = el("strong");
      const note = el("small", {class: "muted"});
      const bar = el("meter", {min: 0, max: 1, hidden: true, "aria-label": `${name}, of its limit`});
      this.cards[name] = {value, note, bar};
      byId("cards").append(el("div", {class: "card"}, el("span", {}, name), value, bar, note));
    }
  }

  show(status, rates) {
    const total = (of) => status.methods.reduce((sum, method) => sum + of(method), 0);
    const sum = (list) => list.reduce((all, one) => all + (one || 0), 0);
    this.#set("Requests/s", rate(rates.known ? sum(rates.requests) : undefined),
      `${count(total((m) => m.requests))} since the start`);
    this.#set("Refused/s", rate(rates.known ? sum(rates.refused) : undefined),
      `${count(total((m) => m.refused))} since the start`);
    const {bytes_used: used, bytes_max: most} = status.process;
    this.#set("Memory taken", bytes(used), most === null ? "by requests and threads; no limit" : `${percent(used / most)} of ${bytes(most)}`,
      most === null ? null : used / most);
    if (status.pools) {
      const kept = sum(status.pools.map((pool) => pool.bytes_retained + pool.bytes_thread_cached));
      this.#set("Memory kept", bytes(kept), `free pages, of ${bytes(sum(status.pools.map((p) => p.bytes_mapped)))} mapped`);
    } else {
      this.#set("Memory kept", bytes(total((m) => m.arenas?.bytes_kept || 0)),
        `in ${count(total((m) => m.arenas?.kept || 0))} arenas that wait`);
    }
  }

  #set(name, value, note, share = null) {
    const card = this.cards[name];
    say(card.value, value);
    say(card.note, note);
    card.bar.hidden = share === null;
    if (share !== null) card.bar.value = Math.min(1, share);
  }
}
