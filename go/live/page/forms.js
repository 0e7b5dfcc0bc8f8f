// Fields for settings: what is typed stays while numbers go on moving, and what is wrong is said beside it.
import {el, say} from "./dom.js";
import {parseNumber, parseSize, sizeText} from "./format.js";

const numberText = (n) => (n === null || n === undefined ? "none" : String(n));
const size = {parse: parseSize, text: sizeText};
const number = {parse: parseNumber, text: numberText};

/** How each setting is written, and what it is for. */
const FIELDS = {
  request_bytes_max: {...size, title: "Bytes per request", hint: "Crossing it fails that request alone. A size, or none"},
  decoded_ratio_max: {...number, title: "Decoded ratio", hint: "Bytes that decoding may take per byte of the request, or none"},
  decoded_floor_bytes: {...size, title: "Decoded floor", hint: "Below this size nothing is refused for its ratio"},
  depth_max: {...number, title: "Depth", hint: "Levels of messages in a request, 1 to 100, or none for protobuf's own limit"},
  first_block_bytes: {title: "First block", hint: "Bytes that each request starts with; “learned” has them follow the traffic",
    parse: (text) => (/^\s*learned\s*$/i.test(text) ? null : parseSize(text)), text: (n) => (n === null ? "learned" : sizeText(n))},
  process_bytes_max: {...size, title: "Bytes of the process", hint: "What all requests may take together, or none"},
  retained_bytes_max: {...size, title: "Kept free pages", hint: "Free memory beyond it goes back to the system; none keeps all"},
  decay_after_ms: {...number, title: "Given back after", hint: "Milliseconds that free pages stay unused; 0 keeps them for ever"},
};

/** The fields of one thing that has settings. `change(settings)` resolves to null or what is wrong. */
export class SettingsForm {
  constructor(names, label, change) {
    this.change = change;
    this.fields = Object.keys(FIELDS).filter((name) => names.includes(name)).map((name) => this.#field(name));
    this.element = el("div", {class: "fields", role: "group", "aria-label": label}, ...this.fields.map((field) => field.element));
  }

  show(values, writable) {
    for (const field of this.fields) {
      field.value = values[field.name];
      field.input.disabled = !writable;
      const text = FIELDS[field.name].text(field.value);
      if (!field.dirty && field.input.value !== text) field.input.value = text;
      field.buttons.hidden = !field.dirty;
    }
  }

  #field(name) {
    const kind = FIELDS[name];
    const id = `f${++SettingsForm.count}`;
    const field = {name, dirty: false, value: null};
    field.input = el("input", {id, type: "text", autocomplete: "off", spellcheck: "false", "data-setting": name,
      "aria-describedby": `${id}-hint ${id}-error`,
      oninput: () => this.#dirty(field, true),
      onkeydown: (event) => {
        if (event.key === "Escape") {
          if (field.dirty) event.stopPropagation();
          this.#reset(field);
        }
      }});
    field.error = el("p", {id: `${id}-error`, class: "error", role: "alert"});
    field.buttons = el("span", {class: "field-buttons", hidden: true},
      el("button", {type: "submit", class: "primary"}, "Set"),
      el("button", {type: "button", class: "quiet", onclick: () => this.#reset(field)}, "Cancel"));
    field.element = el("form", {class: "field", onsubmit: (event) => {
      event.preventDefault();
      this.#send(field);
    }}, el("label", {for: id}, kind.title), el("div", {class: "field-line"}, field.input, field.buttons),
    el("small", {id: `${id}-hint`, class: "muted"}, kind.hint), field.error);
    return field;
  }

  #dirty(field, dirty) {
    field.dirty = dirty;
    field.buttons.hidden = !dirty;
    field.input.classList.toggle("dirty", dirty);
    field.input.removeAttribute("aria-invalid");
    say(field.error, "");
  }

  #reset(field) {
    this.#dirty(field, false);
    field.input.value = FIELDS[field.name].text(field.value);
  }

  async #send(field) {
    let wrong = null;
    try {
      wrong = await this.change({[field.name]: FIELDS[field.name].parse(field.input.value)});
    } catch (error) {
      wrong = error.message;
    }
    if (wrong) {
      field.input.setAttribute("aria-invalid", "true");
      say(field.error, wrong);
    } else {
      this.#dirty(field, false);
    }
  }
}
SettingsForm.count = 0;
