package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/harena-project/harena/go/scope"
)

// parseValues reads the settings of a change. An empty method may have both the process's and those of
// all methods.
func parseValues(method string, raw map[string]json.RawMessage) (map[string]any, error) {
	if len(raw) == 0 {
		return nil, errors.New(`there is nothing to change; want {"method": NAME, "settings": {"mode": "codec"}}`)
	}
	values := make(map[string]any, len(raw))
	for name, text := range raw {
		var parse func(json.RawMessage) (any, error)
		if s := find(methodSettings, name); s != nil {
			parse = s.parse
		} else if s := find(processSettings, name); s != nil && method == "" {
			parse = s.parse
		} else if s != nil {
			return nil, fmt.Errorf("%s is the whole process's; set it with an empty method", name)
		} else {
			return nil, fmt.Errorf("no setting %q can be changed while the server runs; there are %s", name, knownSettings())
		}
		value, err := parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s cannot be that: %w", name, err)
		}
		values[name] = value
	}
	return values, nil
}

func knownSettings() string {
	var names []string
	for _, s := range methodSettings {
		names = append(names, s.name)
	}
	for _, s := range processSettings {
		names = append(names, s.name)
	}
	return strings.Join(names, ", ")
}

// applyValues changes the settings of a method, or of every method and the process when it is empty,
// wherever it is served: all of that or nothing.
func applyValues(method string, values map[string]any) error {
	if err := applyToMethods(method, values); err != nil {
		return err
	}
	for _, s := range processSettings {
		if value, given := values[s.name]; given {
			s.set(scope.ProcessBudget(), value)
		}
	}
	return nil
}

func applyToMethods(method string, values map[string]any) error {
	edit := func(o *scope.Options) {
		for _, s := range methodSettings {
			if value, given := values[s.name]; given {
				s.set(o, value)
			}
		}
	}
	if !slices.ContainsFunc(methodSettings, func(s setting[*scope.Options]) bool { _, given := values[s.name]; return given }) {
		return nil
	}
	var changes []scope.MethodChange
	for _, served := range scope.AllServed() {
		for _, m := range served.Methods() {
			if method == "" || m.Name == method {
				changes = append(changes, scope.MethodChange{Group: served.Group, Name: m.Name, Edit: edit})
			}
		}
	}
	if len(changes) == 0 && method != "" {
		return fmt.Errorf("no server of this process has a method %q; there are %s", method, strings.Join(servedNames(), ", "))
	}
	if _, err := scope.ChangeAll(changes); err != nil {
		return errors.New(strings.ReplaceAll(err.Error(), "harena/scope: ", ""))
	}
	return nil
}

func servedNames() []string {
	var names []string
	for _, served := range scope.AllServed() {
		for _, m := range served.Methods() {
			names = append(names, m.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
