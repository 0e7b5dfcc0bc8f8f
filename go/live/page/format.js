// Numbers as people read them, and sizes as people write them.

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

/** 65536 -> "64 KiB". Absent numbers are a dash. */
export function bytes(n) {
  if (n === undefined || n === null) return "–";
  let unit = 0;
  let value = n;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${trimmed(value, unit === 0 ? 0 : value < 10 ? 2 : value < 100 ? 1 : 0)} ${UNITS[unit]}`;
}

export function count(n) {
  return n === undefined || n === null ? "–" : n.toLocaleString("en-US");
}

export function rate(n) {
  if (n === undefined || n === null || Number.isNaN(n)) return "–";
  return n < 10 && n > 0 ? n.toFixed(1) : count(Math.round(n));
}

export function percent(share) {
  const value = share * 100;
  return value > 0 && value < 0.1 ? "<0.1 %" : `${trimmed(value, value < 10 ? 1 : 0)} %`;
}

/** A mean with at most three digits: 1.03, 12.4, 250. */
export function mean(sum, n) {
  const value = sum / n;
  return value < 1000 ? trimmed(value, value < 10 ? 2 : value < 100 ? 1 : 0) : count(Math.round(value));
}

/** 12345 -> "12.3 µs". */
export function nanos(n) {
  for (const [size, unit] of [[1e9, "s"], [1e6, "ms"], [1e3, "µs"]]) {
    if (n >= size) return `${mean(n, size)} ${unit}`;
  }
  return `${Math.round(n)} ns`;
}

export function duration(ms) {
  const s = Math.max(0, Math.floor(ms / 1000));
  const parts = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
  const first = parts.findIndex(([size]) => s >= size);
  if (first < 0) return "0 s";
  const whole = Math.floor(s / parts[first][0]);
  const next = parts[first + 1];
  const rest = next ? Math.floor((s % parts[first][0]) / next[0]) : 0;
  return `${whole} ${parts[first][1]}${rest ? ` ${rest} ${next[1]}` : ""}`;
}

export function time(text) {
  return new Date(text).toLocaleTimeString([], {hour: "2-digit", minute: "2-digit", second: "2-digit"});
}

/** What a limit's field shows: "none", "64 MiB", or the exact bytes where that would round. */
export function sizeText(n) {
  if (n === null || n === undefined) return "none";
  for (let unit = UNITS.length - 1; unit > 0; unit--) {
    const size = 1024 ** unit;
    if (n >= size && n % size === 0) return `${n / size} ${UNITS[unit]}`;
  }
  return String(n);
}

/** "64 MiB" -> 67108864, "none" -> null; throws what is wrong. */
export function parseSize(text) {
  if (/^\s*(none|unlimited|)\s*$/i.test(text)) return null;
  const found = /^\s*(\d+(?:\.\d+)?)\s*(B|KiB|MiB|GiB|TiB)?\s*$/i.exec(text);
  if (!found) throw new Error(`“${text.trim()}” is no size: write bytes, or a number with KiB, MiB or GiB, or none`);
  const unit = UNITS.findIndex((u) => u.toLowerCase() === (found[2] || "B").toLowerCase());
  const n = Number(found[1]) * 1024 ** unit;
  if (!Number.isSafeInteger(n)) throw new Error(`“${text.trim()}” is not a whole number of bytes`);
  return n;
}

/** "20" -> 20, "none" -> null; throws what is wrong. */
export function parseNumber(text) {
  if (/^\s*(none|)\s*$/i.test(text)) return null;
  const n = Number(text);
  if (!Number.isFinite(n)) throw new Error(`“${text.trim()}” is no number`);
  return n;
}

function trimmed(value, digits) {
  return String(Number(value.toFixed(digits)));
}
