// Memory and rates of the last quarter of an hour.
import {byId} from "./dom.js";
import {bytes, rate} from "./format.js";
import {colour} from "./theme.js";

const KEPT_MS = 15 * 60 * 1000;
const HEIGHT = 190;
// What the scale of time shows at least.
const SHORTEST_S = 30;

const MEMORY = {
  "c++": [["in use", "pool_bytes_in_use", "c1"], ["kept by threads", "pool_bytes_thread_cached", "c2"],
    ["kept centrally", "pool_bytes_retained", "c3"]],
  go: [["in use", "process_bytes_used", "c1"], ["kept in arenas", "arena_bytes_kept", "c3"]],
};
const RATES = [["requests", "requests_per_s", "c1"], ["refused", "refused_per_s", "bad"]];

// Where a scale of bytes has its lines.
const SIZES = Array.from({length: 42}, (_, power) => 2 ** power);

export class Timeline {
  constructor() {
    this.samples = [];
    this.charts = null;
    new ResizeObserver(() => this.#resize()).observe(byId("memory-chart"));
  }

  get lastMs() {
    return this.samples.length ? this.samples[this.samples.length - 1].at_ms : 0;
  }

  clear() {
    this.samples = [];
  }

  add(samples) {
    this.samples.push(...samples.filter((sample) => sample.at_ms > this.lastMs));
    const oldest = this.lastMs - KEPT_MS;
    this.samples = this.samples.filter((sample) => sample.at_ms >= oldest);
  }

  /** Colours are read when a chart is made. */
  redraw() {
    for (const chart of this.charts || []) chart.uplot.destroy();
    this.charts = null;
    if (this.language) this.#draw();
  }

  show(status) {
    this.language = status.language;
    this.#draw();
  }

  #draw() {
    this.charts ??= [
      this.#chart("memory-chart", MEMORY[this.language] || MEMORY.go, bytes, true),
      this.#chart("rate-chart", RATES, rate, false),
    ];
    const times = this.samples.map((sample) => sample.at_ms / 1000);
    for (const {uplot, series, stacked} of this.charts) {
      const rows = series.map(([, field]) => this.samples.map((sample) => sample[field] ?? null));
      uplot.setData([times, ...(stacked ? stack(rows) : rows)]);
    }
  }

  #chart(id, series, format, stacked) {
    const place = byId(id);
    const axis = {stroke: colour("muted"), grid: {stroke: colour("line"), width: 1}, ticks: {stroke: colour("line"), width: 1}};
    const shown = series.map(([label, field, name], i) => ({
      label, stroke: colour(name), width: 1.5, fill: stacked ? `${colour(name)}55` : i === 0 ? `${colour(name)}22` : undefined,
      points: {show: false},
      // Stacked series show their own share, not the sum below their line.
      value: (_, value, __, index) => (index === null || index === undefined ? "–" : format(this.samples[index]?.[field])),
    }));
    const uplot = new uPlot({
      width: this.#width(place), height: HEIGHT, cursor: {y: false},
      legend: {live: true},
      scales: {x: {time: true, range: (_, low, high) => (high === null ? [0, SHORTEST_S] : [Math.min(low, high - SHORTEST_S), high])}, y: {range: (_, low, high) => [0, Math.max(high || 0, 1) * 1.1]}},
      axes: [axis, {...axis, size: 68, values: (_, ticks) => ticks.map(format), ...(stacked ? {incrs: SIZES} : {})}],
      series: [{label: "time", value: (_, v) => (v === null ? "–" : new Date(v * 1000).toLocaleTimeString())}, ...shown],
      bands: stacked ? series.slice(1).map((_, i) => ({series: [i + 2, i + 1]})) : [],
    }, [[]], place);
    return {uplot, series, stacked, place};
  }

  #width(place) {
    return Math.max(260, place.clientWidth);
  }

  #resize() {
    for (const {uplot, place} of this.charts || []) uplot.setSize({width: this.#width(place), height: HEIGHT});
  }
}

/** Each row on top of those before it. */
function stack(rows) {
  const sums = [];
  return rows.map((row) => row.map((value, i) => {
    sums[i] = (sums[i] || 0) + (value || 0);
    return sums[i];
  }));
}
