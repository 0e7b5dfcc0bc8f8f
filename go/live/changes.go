package live

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"
	"weak"

	"github.com/harena-project/harena/go/scope"
)

// changesMax is how many changes are remembered.
const changesMax = 200

// Who made a change. Changes that were not made here are noticed, and by whom is known only where
// scope.ChangeAs says.
const (
	byPage = "page"
	byAPI  = "api"
)

// change is one entry of what changed when. An empty method means the process.
type change struct {
	ID      int       `json:"id"`
	At      time.Time `json:"at"`
	Who     string    `json:"who"`
	Method  string    `json:"method"`
	Setting string    `json:"setting"`
	From    string    `json:"from"`
	To      string    `json:"to"`
	Undone  bool      `json:"undone"`

	// from and to as the setting takes them.
	from, to any
}

// place is where a setting has a value. Several servers may have a method of one name.
type place struct{ framework, method, setting string }

// changeLog is the list of changes. It also knows each setting's last value, to notice when others
// change one.
//
// Thread rule: any goroutine.
//
// Lifetime rule: it is told of changes for as long as it is reachable.
type changeLog struct {
	mutex   sync.Mutex
	changes []change
	next    int
	known   map[place][]any
}

func newChangeLog() *changeLog {
	l := &changeLog{next: 1}
	l.known = valuesNow()
	reachable := weak.Make(l)
	stop := scope.OnChange(func(who string) {
		if l := reachable.Value(); l != nil {
			l.noticeAs(cmp.Or(who, byAPI))
		}
	})
	runtime.AddCleanup(l, func(stop func()) { stop() }, stop)
	return l
}

func (l *changeLog) all() []change {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return append([]change{}, l.changes...)
}

// notice adds what others changed since the last call.
func (l *changeLog) notice() { l.noticeAs(byAPI) }

func (l *changeLog) noticeAs(who string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.noticeLocked(who)
}

// noticeLocked compares all settings with what they were, adds the differences in the name of who, and
// returns them. One entry speaks for all servers with a method of that name.
func (l *changeLog) noticeLocked(who string) []change {
	now := valuesNow()
	var made []change
	for _, at := range placesOf(now) {
		before, after := l.known[at], now[at]
		if len(before) != len(after) {
			continue // a server began or ended: nobody changed anything
		}
		for i := range after {
			if before[i] != after[i] {
				made = append(made, l.addLocked(who, at, before[i], after[i]))
				break
			}
		}
	}
	l.known = now
	return made
}

func (l *changeLog) addLocked(who string, at place, from, to any) change {
	c := change{ID: l.next, At: time.Now(), Who: who, Method: at.method, Setting: at.setting,
		From: textOf(from), To: textOf(to), from: from, to: to}
	l.next++
	l.changes = append(l.changes, c)
	if len(l.changes) > changesMax {
		l.changes = slices.Delete(l.changes, 0, len(l.changes)-changesMax)
	}
	return c
}

// undo sets back what a change set, unless it was changed again since.
func (l *changeLog) undo(id int) ([]change, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.noticeLocked(byAPI)
	i := slices.IndexFunc(l.changes, func(c change) bool { return c.ID == id })
	if i < 0 {
		return nil, fmt.Errorf("there is no change %d; the status lists those that can be undone", id)
	}
	c := l.changes[i]
	if c.Undone {
		return nil, fmt.Errorf("change %d was undone already", id)
	}
	for at, values := range l.known {
		if at.method == c.Method && at.setting == c.Setting && slices.ContainsFunc(values, func(v any) bool { return v != c.to }) {
			return nil, fmt.Errorf("%s is %s by now and not %s: set it to what you want instead", c.Setting, textOf(values[0]), c.To)
		}
	}
	if err := applyValues(c.Method, map[string]any{c.Setting: c.from}); err != nil {
		return nil, err
	}
	made := l.noticeLocked(byPage)
	if i = slices.IndexFunc(l.changes, func(c change) bool { return c.ID == id }); i >= 0 {
		l.changes[i].Undone = true
	}
	return made, nil
}

// set changes settings and notes that.
func (l *changeLog) set(method string, values map[string]any) ([]change, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.noticeLocked(byAPI)
	if err := applyValues(method, values); err != nil {
		return nil, err
	}
	return l.noticeLocked(byPage), nil
}

// valuesNow is every setting's value, of each server that has it.
func valuesNow() map[place][]any {
	values := make(map[place][]any)
	for _, s := range processSettings {
		values[place{setting: s.name}] = []any{s.get(scope.ProcessBudget())}
	}
	for _, served := range scope.AllServed() {
		for _, m := range served.Methods() {
			for _, s := range methodSettings {
				at := place{served.Framework, m.Name, s.name}
				values[at] = append(values[at], s.get(&m.Options))
			}
		}
	}
	return values
}

// placesOf orders the places, so that changes of one moment have an order.
func placesOf(values map[place][]any) []place {
	places := make([]place, 0, len(values))
	for at := range values {
		places = append(places, at)
	}
	slices.SortFunc(places, func(a, b place) int {
		return slices.Compare([]string{a.framework, a.method, a.setting}, []string{b.framework, b.method, b.setting})
	})
	return places
}
