package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// tree is file contents by path, relative to the repository.
type tree map[string]string

// isGenerated tells the files that only protogen writes from those that people put beside them.
func isGenerated(path string) bool {
	return strings.HasSuffix(path, ".pb.go") || strings.HasSuffix(path, ".connect.go")
}

// readTree reads the generated files that are there now.
func readTree(root string, plan []unit) (tree, error) {
	found := tree{}
	for _, u := range plan {
		err := filepath.WalkDir(filepath.Join(root, u.dir), func(path string, entry fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil || entry.IsDir() || !isGenerated(path) {
				return err
			}
			name, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			content, err := os.ReadFile(path)
			found[filepath.ToSlash(name)] = string(content)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// replace makes old into made on disk. Files that are the same are not touched.
func replace(root string, old, made tree) error {
	for path := range old {
		if _, keep := made[path]; !keep {
			if err := os.Remove(filepath.Join(root, path)); err != nil {
				return err
			}
		}
	}
	for path, content := range made {
		if before, same := old[path]; same && before == content {
			continue
		}
		file := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// compare says of each file what is wrong with it, or returns nil.
func compare(old, made tree) error {
	var problems []string
	for _, path := range slices.Sorted(maps.Keys(made)) {
		if before, there := old[path]; !there {
			problems = append(problems, path+": missing")
		} else if before != made[path] {
			problems = append(problems, path+":"+firstDifference(before, made[path]))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(old)) {
		if _, keep := made[path]; !keep {
			problems = append(problems, path+": no schema makes this file any more")
		}
	}
	if len(problems) == 0 {
		return nil
	}
	return fmt.Errorf("generated code is stale; `make generate` mends this\n  %s", strings.Join(problems, "\n  "))
}

// firstDifference is the line number and both lines, as `12: is "...", should be "..."`.
func firstDifference(old, made string) string {
	olds, mades := strings.Split(old, "\n"), strings.Split(made, "\n")
	for i := range max(len(olds), len(mades)) {
		var a, b string
		if i < len(olds) {
			a = olds[i]
		}
		if i < len(mades) {
			b = mades[i]
		}
		if a != b || i >= len(olds) || i >= len(mades) {
			return fmt.Sprintf("%d: is %q, should be %q", i+1, a, b)
		}
	}
	return ""
}
