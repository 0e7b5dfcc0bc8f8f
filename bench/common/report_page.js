// Draws the charts and draws them again when the reader's colour scheme changes.
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const percentiles = Object.entries(
    { p50: "p50", p80: "p80", p90: "p90", p99: "p99", p999: "p99.9" });
  const points = {
    heap: "rect", arena: "triangle", pages: "circle", reuse: "rectRot", codec: "star",
    vtproto: "circle", brpc_arena: "triangle",
  };
  const dashes = { heap: [6, 4], arena: [2, 3], brpc_arena: [2, 3], reuse: [10, 3, 2, 3] };
  let charts = [];

  const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const colour = mode => style("--" + mode) || style("--text");
  const number = value => value.toLocaleString("en", { maximumFractionDigits: 0 });
  const rowsOf = (workload, allocator) => data.rows.filter(
    row => row.workload === workload && (!allocator || row.allocator === allocator));

  function axes(overrides) {
    const grid = { color: style("--line") };
    const ticks = { color: style("--soft") };
    return Object.fromEntries(Object.entries(overrides).map(([axis, extra]) => [axis, {
      ...extra, grid, ticks: { ...ticks, ...(extra.ticks || {}) },
    }]));
  }

  function common(label, legend) {
    return {
      animation: false, responsive: true, maintainAspectRatio: false,
      plugins: {
        legend: {
          display: legend,
          labels: { color: style("--text"), usePointStyle: true, boxWidth: 9, boxHeight: 9 },
        },
        tooltip: { callbacks: { label } },
      },
    };
  }

  // A log axis starts, ends and is ruled at 1, 2 or 5 times a power of ten: more would overlap.
  const steps = Array.from({ length: 30 }, (_, i) => [1, 2, 5][i % 3] * 10 ** Math.floor(i / 3));
  const logTicks = axis => {
    axis.ticks = steps.filter(step => step >= axis.min && step <= axis.max)
      .map(value => ({ value }));
  };
  const logRange = values => ({
    min: steps.findLast(step => step <= Math.min(...values)),
    max: steps.find(step => step >= Math.max(...values)),
  });

  function latency(workload, allocator) {
    const datasets = rowsOf(workload, allocator).map(row => ({
      label: row.mode, data: percentiles.map(([key]) => row.latency_us[key]),
      borderColor: colour(row.mode), backgroundColor: colour(row.mode),
      borderDash: dashes[row.mode] || [], borderWidth: 2, pointRadius: 5,
      pointStyle: points[row.mode] || "circle",
    }));
    const range = logRange(datasets.flatMap(dataset => dataset.data));
    return {
      type: "line", data: { labels: percentiles.map(([, name]) => name), datasets },
      options: {
        ...common(item => `${item.dataset.label}: ${number(item.parsed.y)} µs`, true),
        clip: false,
        scales: axes({
          x: {},
          y: {
            type: "logarithmic", ...range, afterBuildTicks: logTicks, ticks: { callback: number },
          },
        }),
      },
    };
  }

  function cpu(workload, allocator) {
    const rows = rowsOf(workload, allocator);
    const heap = rows.find(row => row.mode === "heap");
    const ratio = row => (row.cpu_us_per_request / heap.cpu_us_per_request).toFixed(2);
    const share = row => heap ? ` (${ratio(row)} of heap)` : "";
    return {
      type: "bar",
      data: {
        labels: rows.map(row => row.mode),
        datasets: [{ data: rows.map(row => row.cpu_us_per_request),
          backgroundColor: rows.map(row => colour(row.mode)), maxBarThickness: 38 }],
      },
      options: {
        ...common(item => `${number(item.parsed.x)} µs${share(rows[item.dataIndex])}`, false),
        indexAxis: "y",
        scales: axes({ x: { beginAtZero: true }, y: {} }),
      },
    };
  }

  function allocators(workload) {
    const names = [...new Set(rowsOf(workload).filter(row => row.language === "C++")
      .map(row => row.allocator))];
    const datasets = data.modes.map(mode => ({
      label: mode, backgroundColor: colour(mode), pointStyle: points[mode] || "circle",
      data: names.map(name => rowsOf(workload, name)
        .find(row => row.mode === mode)?.cpu_us_per_request),
    }));
    return {
      type: "bar", data: { labels: names, datasets },
      options: {
        ...common(item => `${item.dataset.label}: ${number(item.parsed.y)} µs`, true),
        scales: axes({ x: {}, y: { beginAtZero: true } }),
      },
    };
  }

  const kinds = { latency, cpu, allocators };

  function draw() {
    charts.forEach(chart => chart.destroy());
    charts = [...document.querySelectorAll("canvas[data-chart]")].map(
      canvas => new Chart(canvas, kinds[canvas.dataset.chart](
        canvas.dataset.workload, canvas.dataset.allocator)));
  }

  draw();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
})();
