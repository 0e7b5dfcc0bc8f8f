// Package config reads Harena's settings from a YAML file, the environment and flags, and applies them
// to the servers of the process: once, or whenever the file changes. The C++ library reads the same
// files. docs/configuration.md is the guide.
package config
