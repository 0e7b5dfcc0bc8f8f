// How large requests were, on a scale of powers of two, against the first block and the limits.
import {svg} from "./dom.js";
import {bytes, count} from "./format.js";

const BEYOND = 2 ** 31;
const HEIGHT = 210, LEFT = 8, RIGHT = 8, TOP = 46, BOTTOM = 26;

/** `width` is in the pixels that it will have, so that text is as large as elsewhere. */
export function histogram(method, width) {
  // The last one has no bound; it is drawn as if it had the next.
  const bars = (method.bytes.histogram || []).map(({le, count: n}) => ({le: le ?? BEYOND, n}));
  const marks = marksOf(method);
  const seen = bars.filter(({n}) => n > 0).map(({le}) => le).concat(marks.map(({at}) => at)).filter((at) => at > 0);
  if (!seen.length) return empty(width);
  const low = Math.floor(Math.log2(Math.min(...seen))) - 1;
  const high = Math.max(low + 4, Math.ceil(Math.log2(Math.max(...seen))) + 0.4);
  const x = (n) => LEFT + ((Math.log2(Math.max(n, 2 ** low)) - low) / (high - low)) * (width - LEFT - RIGHT);
  const total = bars.reduce((sum, {n}) => sum + n, 0);
  const summary = marks.map(({name, at}) => `${name} ${bytes(at)}`).join(", ");
  return svg("svg", {viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": `${count(total)} requests by size. ${summary}`},
    ...axis(low, high, x, width), ...drawBars(bars, x), ...drawMarks(marks, x, width));
}

function marksOf(method) {
  const {bytes: b, settings} = method;
  return [
    {name: "p50", at: b.p50, kind: "share"}, {name: "p99", at: b.p99, kind: "share"},
    {name: "largest", at: b.max, kind: "share"},
    {name: "first block", at: method.first_block_bytes, kind: "block"},
    {name: "limit", at: settings.request_bytes_max, kind: "limit"},
  ].filter(({at}) => at);
}

function axis(low, high, x, width) {
  const step = [1, 2, 4, 8].find((powers) => (powers / (high - low)) * width > 62) || 16;
  const floor = HEIGHT - BOTTOM;
  const parts = [svg("line", {class: "axis", x1: LEFT, x2: width - RIGHT, y1: floor, y2: floor})];
  for (let power = Math.ceil(low / step) * step; power <= high; power += step) {
    const at = x(2 ** power);
    if (at < LEFT + 14 || at > width - RIGHT - 14) continue;
    parts.push(svg("line", {class: "axis", x1: at, x2: at, y1: floor, y2: floor + 4}),
      svg("text", {class: "tick", x: at, y: HEIGHT - 7}, bytes(2 ** power)));
  }
  return parts;
}

function drawBars(bars, x) {
  const most = Math.max(1, ...bars.map(({n}) => n));
  const room = HEIGHT - BOTTOM - TOP;
  return bars.filter(({n}) => n > 0).map(({le, n}) => {
    const from = x(le / 2), to = x(le);
    const height = Math.max(2, (n / most) * room);
    return svg("rect", {class: "bar", x: from + 1, width: Math.max(2, to - from - 2), y: HEIGHT - BOTTOM - height, height, rx: 2},
      svg("title", {}, `${bytes(le / 2)} to ${bytes(le)}: ${count(n)} requests`));
  });
}

/** Names stand in rows above, so that neighbours do not cover each other. */
function drawMarks(marks, x, width) {
  const ends = [];
  const lines = [], names = [];
  for (const {name, at, kind} of [...marks].sort((a, b) => a.at - b.at)) {
    const here = x(at);
    const wide = name.length * 6.4 + 10;
    const start = Math.min(Math.max(here - wide / 2, LEFT), width - RIGHT - wide);
    let row = ends.findIndex((end) => end <= start);
    if (row < 0) row = ends.length;
    ends[row] = start + wide;
    const y = 12 + (row % 3) * 14;
    lines.push(svg("line", {class: `mark ${kind}`, x1: here, x2: here, y1: y + 4, y2: HEIGHT - BOTTOM}));
    names.push(svg("text", {class: `mark-name ${kind}`, x: start + wide / 2, y}, name, svg("title", {}, bytes(at))));
  }
  return [...lines, ...names];
}

function empty(width) {
  return svg("svg", {viewBox: `0 0 ${width} 80`, role: "img", "aria-label": "No request yet"},
    svg("text", {class: "tick", x: width / 2, y: 44}, "No request yet"));
}
