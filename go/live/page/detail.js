// One method: how large its requests are, why some were refused, and its switches.
import {byId, el, say} from "./dom.js";
import {bytes, count, mean, nanos} from "./format.js";
import {SettingsForm} from "./forms.js";
import {histogram} from "./histogram.js";
import {keysOf} from "./methods.js";

const LIMITS = ["request_bytes_max", "process_bytes_max", "decoded_ratio_max", "depth_max", "memory"];

/** Of a step that some requests were timed in; null where none was. */
function meanTime(step) {
  return step?.timed ? nanos(step.nanos_sum / step.timed) : null;
}

export class Detail {
  constructor(change) {
    this.change = change;
    this.section = byId("detail");
    this.key = null;
  }

  /** The key of a method, or null to close. */
  choose(key) {
    this.key = key;
    this.built = null;
  }

  show(status, writable) {
    const i = this.key === null ? -1 : keysOf(status).indexOf(this.key);
    this.section.hidden = i < 0;
    if (i < 0) {
      this.key = this.built = null;
      return;
    }
    const method = status.methods[i];
    if (this.built !== this.key) this.#build(method);
    this.#fill(method, writable);
  }

  #build(method) {
    this.built = this.key;
    const where = {method: method.name};
    this.modes = el("fieldset", {class: "segments modes"}, el("legend", {}, "Mode"),
      ...method.modes.map((mode) => el("label", {}, el("input", {type: "radio", name: "mode", value: mode,
        onchange: () => this.#setMode(where, mode)}), el("span", {}, mode))));
    this.modeError = el("p", {class: "error", role: "alert"});
    this.served = el("p", {class: "muted"});
    this.form = new SettingsForm(Object.keys(method.settings), `Limits of ${method.name}`,
      (settings) => this.change(where, settings));
    this.drawing = el("div", {class: "histogram"});
    this.facts = el("dl", {class: "facts"});
    this.values = new Map();
    this.section.replaceChildren(
      el("div", {class: "panel-head"}, el("h2", {id: "detail-title"}, method.name),
        el("button", {type: "button", class: "quiet", "aria-label": "Close the method",
          onclick: () => this.section.dispatchEvent(new KeyboardEvent("keydown", {key: "Escape", bubbles: true}))}, "Close")),
      el("div", {class: "detail-columns"},
        el("figure", {}, el("figcaption", {}, "Bytes that one request took"), this.drawing, this.facts),
        el("div", {class: "switches"}, this.modes, this.modeError, this.served, this.form.element)));
  }

  async #setMode(where, mode) {
    const wrong = await this.change(where, {mode});
    say(this.modeError, wrong || "");
    this.mode = undefined; // shows again what is in force
    if (this.method) this.#fillMode(this.method);
  }

  #fillMode(method) {
    if (this.mode === method.mode) return;
    this.mode = method.mode;
    for (const input of this.modes.querySelectorAll("input")) input.checked = input.value === method.mode;
  }

  #fill(method, writable) {
    this.method = method;
    this.modes.disabled = !writable;
    this.#fillMode(method);
    say(this.served, method.served === method.mode ? "" :
      `Requests are served as ${method.served}: these messages cannot do ${method.mode}.`);
    this.form.show(method.settings, writable);
    this.drawing.replaceChildren(histogram(method, Math.max(280, this.drawing.clientWidth)));
    const learned = method.first_block_bytes;
    this.#fact("p50 / p90 / p99", [method.bytes.p50, method.bytes.p90, method.bytes.p99].map(bytes).join(" / "));
    this.#fact("Largest", bytes(method.bytes.max));
    this.#fact("Mean", method.scopes.ended ? bytes(Math.round(method.bytes.sum / method.scopes.ended)) : null);
    this.#fact("First block", learned === undefined ? null : bytes(learned));
    this.#fact("Blocks per request", method.blocks === undefined || !method.scopes.ended ? null :
      mean(method.blocks, method.scopes.ended));
    this.#fact("On the wire, mean", method.wire_bytes_sum && method.scopes.ended ?
      bytes(Math.round(method.wire_bytes_sum / method.scopes.ended)) : null);
    this.#fact("Parsing, mean", meanTime(method.parse));
    this.#fact("Serializing, mean", meanTime(method.serialize));
    this.#fact("Requests", count(method.requests));
    this.#fact("Malformed", method.malformed === undefined ? null : count(method.malformed));
    for (const limit of LIMITS) {
      this.#fact(`Refused: ${limit}`, method.refused_by[limit] ? count(method.refused_by[limit]) : null);
    }
    for (const [reason, requests] of Object.entries(method.heap_fallbacks ?? {})) {
      this.#fact(`On the heap: ${reason}`, requests ? count(requests) : null);
    }
    const {scopes} = method;
    this.#fact("Changed thread", scopes.moved === undefined ? null : count(scopes.moved));
    this.#fact("Outlived their call", scopes.detached === undefined ? null : count(scopes.detached));
    this.#fact("Left to the collector", scopes.retained === undefined ? null : count(scopes.retained));
    this.#fact("In quarantine so far", scopes.sampled === undefined ? null : count(scopes.sampled));
    this.#fact("Kept messages", method.kept?.instances_built ? `${count(method.kept.instances_idle)}, ${bytes(method.kept.bytes_idle)}` : null);
    this.#fact("Kept arenas", method.arenas ? `${count(method.arenas.kept)}, ${bytes(method.arenas.bytes_kept)}` : null);
  }

  #fact(name, text) {
    let pair = this.values.get(name);
    if (text === null) {
      pair?.element.remove();
      this.values.delete(name);
      return;
    }
    if (!pair) {
      const value = el("dd");
      pair = {value, element: el("div", {}, el("dt", {}, name), value)};
      this.values.set(name, pair);
      this.facts.append(pair.element);
    }
    say(pair.value, text);
  }
}
