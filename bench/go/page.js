// Draws the charts and draws them again when the reader's colour scheme changes.
(function () {
  const rows = JSON.parse(document.getElementById("data").textContent);
  // Harena's rows, the baseline, everybody else's.
  const ours = new Set(["kind", "newof", "dropped", "codec"]);
  let charts = [];

  const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const number = value => value.toLocaleString("en", { maximumSignificantDigits: 3 });
  const isOurs = row => ours.has(row.row) || row.row.startsWith("harena");
  const colour = (row, i) => style(isOurs(row) ? "--pages" : i === 0 ? "--heap" : "--arena");

  function chart(group) {
    const shown = rows.filter(row => row.group === group);
    const label = item => {
      const row = shown[item.dataIndex];
      return `${number(row.cpu_ns_per_unit)} ns (${row.cpu_to_baseline} of ${shown[0].row})`;
    };
    const axis = { grid: { color: style("--line") }, ticks: { color: style("--soft") } };
    return {
      type: "bar",
      data: {
        labels: shown.map(row => row.row),
        datasets: [{ data: shown.map(row => row.cpu_ns_per_unit),
          backgroundColor: shown.map(colour), maxBarThickness: 22 }],
      },
      options: {
        animation: false, responsive: true, maintainAspectRatio: false, indexAxis: "y",
        plugins: { legend: { display: false }, tooltip: { callbacks: { label } } },
        scales: {
          x: { ...axis, beginAtZero: true,
            title: { display: true, text: `CPU ns per ${shown[0].unit}`, color: style("--soft") } },
          y: axis,
        },
      },
    };
  }

  function draw() {
    charts.forEach(old => old.destroy());
    charts = [...document.querySelectorAll("canvas[data-group]")].map(
      canvas => new Chart(canvas, chart(canvas.dataset.group)));
  }

  draw();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
})();
