package promgo

import (
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/internal/metrics"
	"github.com/harena-project/harena/go/scope"
)

// documented is a row of docs/metrics.md.
type documented struct {
	kind, unit, help string
	labels           []string
}

// readDocs returns the rows of the metrics that Go has, by their names.
func readDocs(t *testing.T) map[string]documented {
	t.Helper()
	page, err := os.ReadFile("../../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := make(map[string]documented)
	var common []string
	code := regexp.MustCompile("`([^`]+)`")
	for line := range strings.Lines(string(page)) {
		switch {
		case strings.HasPrefix(line, "## "):
			common = map[string][]string{"## Per method\n": {"framework", "method", "server"}, "## Per page pool\n": {"pool"}}[line]
		case strings.HasPrefix(line, "| `harena_"):
			cells := strings.Split(line, "|")
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			if !strings.Contains(cells[5], "Go") {
				continue
			}
			row := documented{kind: cells[2], unit: cells[3], help: cells[6], labels: slices.Clone(common)}
			for _, label := range code.FindAllStringSubmatch(cells[4], -1) {
				row.labels = append(row.labels, label[1])
			}
			rows[strings.Trim(cells[1], "`")] = row
		}
	}
	return rows
}

// serve publishes a group as an adapter does, and has it serve. Who reads it finds it for as long as the test runs.
func serve(t *testing.T, framework string, requests int) *scope.Group {
	t.Helper()
	group, err := scope.NewGroup([]string{"/s/A"}, scope.Options{RequestBytesMax: 1 << 20}, nil)
	if err != nil {
		t.Fatal(err)
	}
	group.Publish(framework)
	t.Cleanup(func() { runtime.KeepAlive(group) })
	for range requests {
		s := group.Pool("/s/A").Get()
		s.StartDecoding(1000).Stop()
		arena.MakeSlice[byte](s.Arena(), 3000, 3000)
		s.End()
	}
	return group
}

func TestDocsListWhatIsExported(t *testing.T) {
	rows := readDocs(t)
	if len(rows) < 20 {
		t.Fatalf("docs/metrics.md lists %d metrics of Go", len(rows))
	}
	serve(t, "docs-test", 1)
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(NewCollector())
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		name := family.GetName()
		row, there := rows[name]
		if !there {
			t.Errorf("%s is exported, and docs/metrics.md does not say that Go has it", name)
			continue
		}
		delete(rows, name)
		if kind := strings.ToLower(family.GetType().String()); kind != row.kind || family.GetHelp() != row.help {
			t.Errorf("%s is a %s, %q; docs/metrics.md has %s, %q", name, kind, family.GetHelp(), row.kind, row.help)
		}
		var labels []string
		for _, label := range family.GetMetric()[0].GetLabel() {
			labels = append(labels, label.GetName())
		}
		slices.Sort(row.labels)
		if !slices.Equal(labels, row.labels) {
			t.Errorf("%s has labels %v, docs/metrics.md lists %v", name, labels, row.labels)
		}
	}
	for name := range rows {
		t.Errorf("docs/metrics.md says that Go has %s, which is not exported", name)
	}
}

func TestDocsListTheUnits(t *testing.T) {
	rows := readDocs(t)
	for _, m := range metrics.All() {
		if rows[m.Name].unit != m.Unit {
			t.Errorf("%s is in %q, docs/metrics.md says %q", m.Name, m.Unit, rows[m.Name].unit)
		}
	}
}
