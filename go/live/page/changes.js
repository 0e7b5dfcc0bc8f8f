// Making changes, listing them, taking them back.
import {byId, el, say} from "./dom.js";
import {bytes, time} from "./format.js";

const TOAST_MS = 8000;
const WHO = {page: "by the page", config: "by the file of settings", api: "by the program"};

function valueText(setting, value) {
  return /_bytes(_max)?$/.test(setting) && /^\d+$/.test(value) ? bytes(Number(value)) : value;
}

function sentence(change) {
  return `${change.setting}: ${valueText(change.setting, change.from)} → ${valueText(change.setting, change.to)}`;
}

function whereOf(change) {
  return change.method || (change.pool ? `page pool ${change.pool}` : "process");
}

export class Changes {
  constructor(api, dialog, refresh) {
    this.api = api;
    this.dialog = dialog;
    this.refresh = refresh;
    this.shown = "";
  }

  /** Resolves to null, or to what is wrong. */
  async make(where, settings) {
    return this.#do(() => this.api.change(where, settings));
  }

  async #do(ask) {
    try {
      const {changes} = await ask();
      this.#toast(changes);
      await this.refresh();
      return null;
    } catch (error) {
      if (error.status === 401) this.dialog.wrong(error.message);
      await this.refresh();
      return error.message;
    }
  }

  #toast(changes) {
    const toast = byId("toast");
    clearTimeout(this.timer);
    if (!changes.length) {
      toast.replaceChildren("It was that already.");
    } else {
      const [first] = changes;
      const more = changes.length > 1 ? ` and ${changes.length - 1} more` : "";
      toast.replaceChildren(`${sentence(first)}${more}`);
      if (changes.length === 1) toast.append(this.#undoButton(first));
    }
    toast.hidden = false;
    this.timer = setTimeout(() => { toast.hidden = true; }, TOAST_MS);
  }

  #undoButton(change) {
    return el("button", {type: "button", class: "quiet", "aria-label": `Undo ${sentence(change)} of ${whereOf(change)}`,
      onclick: async () => {
        const wrong = await this.#do(() => this.api.undo(change.id));
        if (wrong) {
          const toast = byId("toast");
          toast.replaceChildren(el("span", {class: "error"}, wrong));
          toast.hidden = false;
        }
      }}, "Undo");
  }

  show(status, writable) {
    const state = JSON.stringify([status.changes, writable]);
    if (state === this.shown) return;
    this.shown = state;
    const list = byId("changes");
    list.replaceChildren(...[...status.changes].reverse().map((change) => el("li", {class: change.undone ? "undone" : ""},
      el("time", {datetime: change.at}, time(change.at)),
      el("span", {class: "what"}, el("b", {}, sentence(change)), el("small", {class: "muted"}, `${whereOf(change)} · ` +
        (WHO[change.who] ?? `by ${change.who}`) + (change.undone ? " · undone" : ""))),
      writable && !change.undone ? this.#undoButton(change) : null)));
    if (!status.changes.length) list.append(el("li", {class: "muted empty"}, "Nothing has changed since the page was started."));
    say(byId("changes-title"), status.changes.length ? `What changed when (${status.changes.length})` : "What changed when");
  }
}
