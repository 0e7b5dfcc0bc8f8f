// Package tools is the module of what Harena's developers run: the generator of the checked-in code
// (generate.sh, protogen), and the tools that go.mod names, at their versions. No user's build needs it.
package tools
