package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"weak"

	"github.com/harena-project/harena/go/scope"
)

// who is whose these changes are, in lists of them.
const who = "config"

// Applier applies settings to what the process serves: to all methods or to none. A setting that the
// next settings do not have any more becomes again what the code had. The zero value is ready to use.
//
// Thread rule: any goroutine.
type Applier struct {
	mutex   sync.Mutex
	current *Config
	seen    map[methodKey]*methodState

	processCode    int64 // the budget's bound before there were settings
	processApplied bool
}

type methodKey struct {
	group weak.Pointer[scope.Group]
	name  string
}

type methodState struct {
	code    scope.Options // before there were settings
	applied Settings
}

// change is what one method is about to get.
type change struct {
	key    methodKey
	group  *scope.Group
	state  *methodState
	before scope.Options
	wanted Settings
}

func (c change) edit(o *scope.Options) {
	for key := range c.state.applied {
		if _, still := c.wanted[key]; !still {
			restore(key, o, c.state.code)
		}
	}
	c.wanted.lay(o)
}

// Apply makes the settings those in force. The error is an [*Error] that says what is wrong with them
// for which method; then nothing has changed.
func (a *Applier) Apply(c *Config) error {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if err := c.CheckGo(); err != nil {
		return err
	}
	changes, err := a.plan(c, func(*methodState) bool { return true })
	if err != nil {
		return err
	}
	scope.ChangeAs(who, func() {
		if err = a.make(changes); err == nil {
			a.applyProcess(c)
		}
	})
	if err != nil {
		return err
	}
	a.current = c
	return nil
}

// ApplyToNew applies the settings in force to the methods that were registered since. Each that cannot
// have them stays as its code says; the error names them, once.
func (a *Applier) ApplyToNew() error {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if a.current == nil {
		return nil
	}
	changes, err := a.plan(a.current, func(known *methodState) bool { return known == nil })
	if len(changes) == 0 {
		return err
	}
	scope.ChangeAs(who, func() {
		for _, c := range changes {
			err = errors.Join(err, a.make([]change{c}))
		}
	})
	return err
}

// plan looks at the methods that are wanted, known or not, and says what is wrong for any of them. Those
// that are in order are returned all the same.
func (a *Applier) plan(c *Config, want func(known *methodState) bool) ([]change, error) {
	a.forgetGone()
	var changes []change
	var found problems
	for _, served := range scope.AllServed() {
		for _, m := range served.Methods() {
			key := methodKey{weak.Make(served.Group), m.Name}
			known := a.seen[key]
			if !want(known) {
				continue
			}
			if known == nil {
				known = &methodState{code: m.Options}
				a.seen[key] = known
			}
			planned := change{key, served.Group, known, m.Options, c.For(m.Name)}
			if problem := planned.whyNot(); problem != nil {
				found = append(found, problem...)
				continue
			}
			changes = append(changes, planned)
		}
	}
	return changes, found.err()
}

func (c change) whyNot() problems {
	after := c.before
	c.edit(&after)
	if after.QuarantineOneIn != c.before.QuarantineOneIn {
		at := c.wanted[QuarantineOneInKey].Place
		return problems{{at, fmt.Sprintf("%s: quarantine_one_in is %d since the server was made and cannot change "+
			"while it runs; restart it with this file, or write %d",
			c.key.name, c.before.QuarantineOneIn, c.before.QuarantineOneIn)}}
	}
	var wrong *Error
	if errors.As(c.wanted.explain(c.key.name, c.group.CheckChange(c.key.name, c.edit)), &wrong) {
		return wrong.Problems
	}
	return nil
}

// make makes changes that were looked at, all or none: somebody may have changed a method meanwhile so
// that one does not fit any more.
func (a *Applier) make(changes []change) error {
	all := make([]scope.MethodChange, len(changes))
	for i, c := range changes {
		all[i] = scope.MethodChange{Group: c.group, Name: c.key.name, Edit: c.edit}
	}
	if _, err := scope.ChangeAll(all); err != nil {
		return fmt.Errorf("harena/config: %w", err)
	}
	for _, c := range changes {
		c.state.applied = c.wanted
	}
	return nil
}

func (a *Applier) applyProcess(c *Config) {
	budget := scope.ProcessBudget()
	v, given := c.Process()[ProcessBytesMaxKey]
	switch {
	case given:
		if !a.processApplied {
			a.processCode = budget.BytesMax()
		}
		budget.SetBytesMax(v.Int)
	case a.processApplied:
		budget.SetBytesMax(a.processCode)
	}
	a.processApplied = given
}

func (a *Applier) forgetGone() {
	if a.seen == nil {
		a.seen = make(map[methodKey]*methodState)
	}
	for key := range a.seen {
		if key.group.Value() == nil {
			delete(a.seen, key)
		}
	}
}

// Warnings returns what is likely a mistake in the settings and no error: methods that nothing serves
// yet, and settings that only C++ reads.
func (c *Config) Warnings() []Problem {
	var served []string
	for _, s := range scope.AllServed() {
		for _, m := range s.Methods() {
			served = append(served, m.Name)
		}
	}
	var found problems
	for _, m := range c.methods {
		if slices.Contains(served, m.name) {
			continue
		}
		hint := ""
		if meant := near(m.name, served); meant != "" {
			hint = "; did you mean " + quote(meant) + "?"
		}
		found.add(m.place, "nothing serves %s yet%s", quote(m.name), hint)
	}
	if ignored := c.ForCpp(); len(ignored) > 0 {
		found.add(Place{Source: c.name}, "Go leaves these settings unread, which are for C++: %s", strings.Join(ignored, ", "))
	}
	return found
}
