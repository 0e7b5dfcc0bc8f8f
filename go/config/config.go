package config

import (
	"fmt"
	"io"
	"os"
	"slices"
)

// FileBytesMax is how large a file may be.
const FileBytesMax = 1 << 20

// Config is what a file, the environment and flags say together. It does not change.
//
// Thread rule: any goroutine.
type Config struct {
	name      string   // the file's
	process   Settings // process_bytes_max
	pool      Settings // page_pool's
	defaults  Settings
	overrides Settings // of any section
	methods   []methodSection
}

type methodSection struct {
	name     string
	place    Place
	settings Settings
}

// Load reads a file. What is wrong with its content is an [*Error].
func Load(path string) (*Config, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, data)
}

// readFile returns a file's content, up to a byte more than Parse takes.
func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("harena/config: %w", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, FileBytesMax+1))
	if err != nil {
		return nil, fmt.Errorf("harena/config: %w", err)
	}
	return data, nil
}

// With returns the settings with the overrides laid over all of them, those of single methods too:
// the later ones win. A nil receiver stands for an empty file.
func (c *Config) With(overrides ...Override) (*Config, error) {
	laid := new(Config)
	if c != nil {
		*laid = *c
	}
	var found problems
	own := Settings{}.over(laid.overrides)
	for _, o := range overrides {
		at := Place{Source: o.Source}
		k := find(allKeys, o.Key)
		if k == nil {
			found.unknown(at, "setting", o.Key, names(allKeys))
			continue
		}
		if v, ok := k.read(o.Text, at, &found); ok {
			own[o.Key] = v
		}
	}
	laid.overrides = own
	laid.check(&found)
	if err := found.err(); err != nil {
		return nil, err
	}
	return laid, nil
}

// Name returns the file's name.
func (c *Config) Name() string { return c.name }

// Methods returns the names of the methods that have settings of their own, in the order of the file.
func (c *Config) Methods() []string {
	all := make([]string, len(c.methods))
	for i, m := range c.methods {
		all[i] = m.name
	}
	return all
}

// For returns the settings of a method by its full name: the defaults, with the method's own and the
// overrides laid over them.
func (c *Config) For(method string) Settings {
	merged := c.defaults
	if i := c.section(method); i >= 0 {
		merged = merged.over(c.methods[i].settings)
	}
	return merged.over(c.overrides.only(methodKeys))
}

// Process returns the settings that no method has: process_bytes_max, and the page pool's.
func (c *Config) Process() Settings {
	return c.process.over(c.pool).over(c.overrides.only(slices.Concat(processKeys, poolKeys)))
}

func (c *Config) section(method string) int {
	return slices.IndexFunc(c.methods, func(m methodSection) bool { return m.name == method })
}

// check reports settings that cannot be together.
func (c *Config) check(found *problems) {
	c.For("").check(c.defaults.over(c.overrides), found)
	for _, m := range c.methods {
		c.For(m.name).check(m.settings, found)
	}
}
