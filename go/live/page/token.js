// Asking for the token, and saying whether there is one.
import {byId, say} from "./dom.js";

export class TokenDialog {
  constructor(api, changed) {
    this.api = api;
    this.asked = false;
    this.dialog = byId("token-dialog");
    byId("unlock").addEventListener("click", () => {
      if (api.token) {
        api.token = "";
        changed();
      } else {
        this.open("Changing settings needs the token that the server was started with.");
      }
    });
    this.dialog.addEventListener("close", () => {
      if (this.dialog.returnValue === "ok") api.token = byId("token").value.trim();
      byId("token").value = "";
      changed();
    });
    // Enter is "Use it", although Cancel comes first.
    byId("token").addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      byId("token-ok").click();
    });
  }

  open(text) {
    say(byId("token-text"), text);
    if (!this.dialog.open) this.dialog.showModal();
    byId("token").focus();
  }

  /** Opens by itself, but does not nag. */
  askOnce(text) {
    if (this.asked) return;
    this.asked = true;
    this.open(text);
  }

  wrong(reason) {
    this.api.token = "";
    this.open(`The server did not take that token: ${reason}.`);
  }

  showState(writable) {
    const button = byId("unlock");
    const text = !writable ? "Read-only" : this.api.token ? "Lock" : "Unlock…";
    say(button, text);
    button.disabled = !writable && !this.api.token;
    button.title = writable ? "" : "The server was started without a token, so nothing can be changed here";
  }
}
