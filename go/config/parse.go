package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v4"
)

const (
	versionKey  = "version"
	pagePoolKey = "page_pool"
	defaultsKey = "defaults"
	methodsKey  = "methods"
)

// Parse reads a file's content; name is what errors call it. What is wrong with it is an [*Error].
func Parse(name string, data []byte) (*Config, error) {
	r := &reader{source: name, config: &Config{name: name}}
	r.file(data)
	if len(r.found) == 0 {
		r.config.check(&r.found)
	}
	if err := r.found.err(); err != nil {
		return nil, err
	}
	return r.config, nil
}

// reader turns YAML's nodes into a Config.
type reader struct {
	source string
	config *Config
	found  problems
}

func (r *reader) start() Place             { return Place{r.source, 1, 1} }
func (r *reader) place(n *yaml.Node) Place { return Place{r.source, n.Line, n.Column} }

func (r *reader) file(data []byte) {
	if len(data) > FileBytesMax {
		r.found.add(r.start(), "the file is larger than %d bytes, which no such file needs", FileBytesMax)
		return
	}
	documents := yaml.NewDecoder(bytes.NewReader(data))
	var document, second yaml.Node
	if err := documents.Decode(&document); errors.Is(err, io.EOF) || err == nil && isNull(content(&document)) {
		r.found.add(r.start(), "the file is empty; begin it with \"version: 1\"")
		return
	} else if err != nil {
		r.syntax(err)
		return
	}
	if err := documents.Decode(&second); err == nil {
		r.found.add(r.place(content(&second)), "a second document; everything belongs into one")
		return
	} else if !errors.Is(err, io.EOF) {
		r.syntax(err)
		return
	}
	r.top(content(&document))
}

// content returns what a document holds.
func content(document *yaml.Node) *yaml.Node {
	if document.Kind == yaml.DocumentNode && len(document.Content) == 1 {
		return document.Content[0]
	}
	return document
}

func (r *reader) syntax(err error) {
	at, reason := r.start(), err.Error()
	var load *yaml.LoadError
	if errors.As(err, &load) {
		reason = load.Message
		if load.Mark.Line > 0 {
			at.Line, at.Column = load.Mark.Line, max(load.Mark.Column, 1)
		}
	}
	r.found.add(at, "no valid YAML: %s", reason)
}

func isNull(n *yaml.Node) bool {
	return n.Kind == 0 || n.Kind == yaml.ScalarNode && n.Tag == "!!null"
}

// each visits the keys of a mapping and reports those that stand there twice. Aliases are followed.
func (r *reader) each(name string, at Place, n *yaml.Node, visit func(key string, at Place, value *yaml.Node)) {
	n = follow(n)
	if isNull(n) {
		r.found.add(at, "%s has no value; give it one, or leave the key out", name)
		return
	}
	if n.Kind != yaml.MappingNode {
		r.found.add(r.place(n), "%s must be a mapping of keys to values", name)
		return
	}
	lines := make(map[string]int)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := follow(n.Content[i])
		at := r.place(n.Content[i])
		if k.Kind != yaml.ScalarNode || isNull(k) {
			r.found.add(at, "a key must be plain text")
			continue
		}
		if line, there := lines[k.Value]; there {
			r.found.add(at, "duplicate key %s; line %d has it already", quote(k.Value), line)
			continue
		}
		lines[k.Value] = at.Line
		visit(k.Value, at, n.Content[i+1])
	}
}

func follow(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

// text returns a scalar's; its place is that of its key when there is nothing.
func (r *reader) text(name string, at Place, n *yaml.Node) (string, Place, bool) {
	place := r.place(n)
	n = follow(n)
	switch {
	case isNull(n):
		return "", at, true
	case n.Kind != yaml.ScalarNode:
		r.found.add(place, "%s must be a single value", name)
		return "", place, false
	}
	return n.Value, place, true
}

func (r *reader) top(n *yaml.Node) {
	known := []string{versionKey, ProcessBytesMaxKey, pagePoolKey, defaultsKey, methodsKey}
	versioned := false
	r.config.process = Settings{}
	r.each("the file", r.start(), n, func(name string, at Place, value *yaml.Node) {
		switch name {
		case versionKey:
			versioned = true
			if text, at, ok := r.text(name, at, value); ok && text != "1" {
				r.found.add(at, "version is %s; this Harena reads version 1", quote(text))
			}
		case ProcessBytesMaxKey:
			r.setting(processKeys, r.config.process, name, at, value)
		case pagePoolKey:
			r.config.pool = r.section(pagePoolKey, poolKeys, at, value)
		case defaultsKey:
			r.config.defaults = r.section(defaultsKey, methodKeys, at, value)
		case methodsKey:
			r.each(methodsKey, at, value, r.method)
		default:
			r.found.unknown(at, "key", name, known)
		}
	})
	if !versioned && len(r.found) == 0 {
		r.found.add(r.start(), "the file has no version; begin it with \"version: 1\"")
	}
}

func (r *reader) method(name string, at Place, value *yaml.Node) {
	if !isMethodName(name) {
		r.found.add(at, "%s is no method's full name; write it as \"/package.Service/Method\" "+
			"(brpc: \"package.Service.Method\")", quote(name))
	}
	settings := r.section(fmt.Sprintf("method %s", quote(name)), methodKeys, at, value)
	r.config.methods = append(r.config.methods, methodSection{name, at, settings})
}

func (r *reader) section(name string, keys []key, at Place, n *yaml.Node) Settings {
	settings := Settings{}
	r.each(name, at, n, func(name string, at Place, value *yaml.Node) {
		r.setting(keys, settings, name, at, value)
	})
	return settings
}

func (r *reader) setting(keys []key, into Settings, name string, at Place, n *yaml.Node) {
	k := find(keys, name)
	if k == nil {
		r.found.unknown(at, "key", name, names(keys))
		return
	}
	text, place, ok := r.text(name, at, n)
	if !ok {
		return
	}
	if v, ok := k.read(text, place, &r.found); ok {
		into[name] = v
	}
}
