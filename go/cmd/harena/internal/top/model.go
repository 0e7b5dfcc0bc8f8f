package top

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/harena-project/harena/go/cmd/harena/internal/status"
)

var (
	titleStyle  = lipgloss.NewStyle().Bold(true)
	headStyle   = lipgloss.NewStyle().Reverse(true)
	faintStyle  = lipgloss.NewStyle().Faint(true)
	wrongStyle  = lipgloss.NewStyle().Foreground(lipgloss.Color("1")).Bold(true)
	helpLine    = "s sort  r reverse  / filter  up/down scroll  q quit"
	linesAround = 4 // headline, titles, status line, help
)

// answered is what a request for the status brought.
type answered struct {
	status status.Status
	err    error
}

type tick struct{}

// model is the state of the screen.
type model struct {
	ctx      context.Context
	ask      func(context.Context) (status.Status, error)
	interval time.Duration

	before, now   *status.Status
	err           error
	view          View
	filtering     bool
	offset        int
	width, height int
}

// Run shows the table until q is pressed or ctx ends.
func Run(ctx context.Context, server *status.Server, interval time.Duration, view View) error {
	m := model{ctx: ctx, ask: server.Status, interval: interval, view: view, width: 80, height: 24}
	_, err := tea.NewProgram(m, tea.WithContext(ctx)).Run()
	return err
}

func (m model) Init() tea.Cmd { return m.fetch }

func (m model) fetch() tea.Msg {
	s, err := m.ask(m.ctx)
	return answered{s, err}
}

func (m model) Update(message tea.Msg) (tea.Model, tea.Cmd) {
	switch message := message.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = message.Width, message.Height
	case answered:
		m.err = message.err
		if message.err == nil {
			m.before, m.now = m.now, &message.status
		}
		return m, tea.Tick(m.interval, func(time.Time) tea.Msg { return tick{} })
	case tick:
		return m, m.fetch
	case tea.KeyPressMsg:
		return m.key(message)
	}
	return m, nil
}

func (m model) key(key tea.KeyPressMsg) (tea.Model, tea.Cmd) {
	name := key.String()
	if name == "ctrl+c" {
		return m, tea.Quit
	}
	if m.filtering {
		switch name {
		case "enter":
			m.filtering = false
		case "esc":
			m.filtering, m.view.Filter = false, ""
		case "backspace":
			if letters := []rune(m.view.Filter); len(letters) > 0 {
				m.view.Filter = string(letters[:len(letters)-1])
			}
		default:
			m.view.Filter += key.Text
		}
		m.offset = 0
		return m, nil
	}
	switch name {
	case "q", "esc":
		return m, tea.Quit
	case "s", "right":
		m.view.SortBy = m.neighbour(1)
	case "S", "left":
		m.view.SortBy = m.neighbour(-1)
	case "r":
		m.view.Reverse = !m.view.Reverse
	case "/":
		m.filtering = true
	case "down", "j":
		m.offset++
	case "up", "k":
		m.offset = max(0, m.offset-1)
	}
	return m, nil
}

// neighbour returns the column so many places from the one that is sorted by.
func (m model) neighbour(steps int) string {
	all := Columns()
	return all[(max(0, slices.Index(all, m.view.SortBy))+steps+len(all))%len(all)]
}

func (m model) View() tea.View {
	view := tea.NewView(m.text())
	view.AltScreen = true
	return view
}

func (m model) text() string {
	var out []string
	if m.now != nil {
		table := lines(m.view.pick(rows(m.before, *m.now)), m.width, m.view.SortBy)
		body := table[1:]
		room := max(1, m.height-linesAround)
		first := min(m.offset, max(0, len(body)-room))
		out = append(out, titleStyle.Render(m.cut(headline(*m.now))), headStyle.Render(m.cut(table[0])))
		for _, line := range body[first:min(len(body), first+room)] {
			out = append(out, m.cut(line))
		}
		if len(body) == 0 {
			out = append(out, faintStyle.Render("no method here"+m.filterText()))
		}
	}
	switch {
	case m.err != nil:
		out = append(out, wrongStyle.Render(m.cut(m.err.Error())))
	case m.now == nil:
		out = append(out, "asking...")
	case m.filtering:
		out = append(out, "filter: "+m.view.Filter+"_")
	default:
		direction := ""
		if m.view.Reverse {
			direction = ", reversed"
		}
		out = append(out, faintStyle.Render(fmt.Sprintf("sorted by %s%s%s", m.view.SortBy, direction, m.filterText())))
	}
	return strings.Join(append(out, faintStyle.Render(m.cut(helpLine))), "\n")
}

func (m model) filterText() string {
	if m.view.Filter == "" {
		return ""
	}
	return ", with " + m.view.Filter
}

// cut keeps a line on one line.
func (m model) cut(line string) string {
	if letters := []rune(line); len(letters) > m.width {
		return string(letters[:max(0, m.width)])
	}
	return line
}
