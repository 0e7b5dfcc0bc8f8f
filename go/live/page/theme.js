// Light and dark: the system's choice, unless the reader makes one.
const KEY = "harena-theme";

export function startTheme(changed) {
  const chosen = localStorage.getItem(KEY) || "auto";
  apply(chosen);
  for (const input of document.querySelectorAll("#theme input")) {
    input.checked = input.value === chosen;
    input.addEventListener("change", () => {
      localStorage.setItem(KEY, input.value);
      apply(input.value);
      changed();
    });
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
}

function apply(theme) {
  document.documentElement.dataset.theme = theme;
}

/** The value of a colour of style.css, for what is drawn on canvases. */
export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
