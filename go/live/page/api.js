// The server's four answers. Nothing else is ever asked for.

const TOKEN_KEY = "harena-token";
const PATIENCE_MS = 5000;

/** An answer that is no success, in the server's words. */
export class Refusal extends Error {
  constructor(status, reason) {
    super(reason);
    this.status = status;
  }
}

export class Api {
  get token() {
    return sessionStorage.getItem(TOKEN_KEY) || "";
  }

  set token(value) {
    if (value) sessionStorage.setItem(TOKEN_KEY, value);
    else sessionStorage.removeItem(TOKEN_KEY);
  }

  status() {
    return this.#ask("GET", "status");
  }

  timeline(afterMs) {
    return this.#ask("GET", `timeline?after_ms=${afterMs}`);
  }

  /** `where` is {method} or {method: "", pool}. */
  change(where, settings) {
    return this.#ask("POST", "settings", {...where, settings});
  }

  undo(id) {
    return this.#ask("POST", "undo", {id});
  }

  async #ask(method, path, body) {
    const headers = {};
    if (body) headers["Content-Type"] = "application/json";
    if (this.token) headers.Authorization = `Bearer ${this.token}`;
    const answer = await fetch(`/harena/api/${path}`, {
      method, headers, body: body && JSON.stringify(body), signal: AbortSignal.timeout(PATIENCE_MS), cache: "no-store",
    });
    const text = await answer.text();
    let content;
    try {
      content = JSON.parse(text);
    } catch {
      throw new Refusal(answer.status, `the answer is no JSON: ${text.slice(0, 80)}`);
    }
    if (!answer.ok) throw new Refusal(answer.status, content.error || `status ${answer.status}`);
    return content;
  }
}
