package pb

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Report says what the codec does for a message type and the types below it. See [Explain].
type Report struct {
	Types []TypeReport // the message's own first, each type once
}

// TypeReport says what the codec does for the messages of one type.
type TypeReport struct {
	Name protoreflect.FullName
	// Fallback says why messages of this type, with all that they contain, are left to protobuf.
	// It is empty for a type that has a table.
	Fallback string
	// Notes say what protobuf has a part in although the type has a table.
	Notes []string
	// Fields are those that have something of their own to say, in the order of the declaration.
	Fields []FieldReport
}

// FieldReport says what is not the fast path about one field.
type FieldReport struct {
	Name protoreflect.Name
	Note string
}

// Explain says, for the type of m and every type that a field of it can hold, whether the codec
// handles its messages or leaves them to protobuf, and why. It looks at types alone: m may be empty
// or a nil pointer. Extensions are no fields; the types that they hold are not in the report.
//
// It is for logs at start-up and for tests: a service that means to be fast can assert
// [Report.Fast]. Thread rule: any goroutine.
func Explain(m proto.Message) Report {
	root := m.ProtoReflect()
	t := tableOf(root)
	if t == foreign {
		return Report{Types: []TypeReport{{Name: root.Descriptor().FullName(), Fallback: t.fallback}}}
	}
	var report Report
	seen := map[*table]bool{t: true}
	for queue := []*table{t}; len(queue) > 0; queue = queue[1:] {
		t := queue[0]
		report.Types = append(report.Types, t.report())
		if t.fallback != "" {
			continue // what it contains is protobuf's with it
		}
		for _, sub := range t.below {
			if !seen[sub] {
				seen[sub] = true
				queue = append(queue, sub)
			}
		}
	}
	return report
}

func (t *table) report() TypeReport {
	md := t.mt.Descriptor()
	r := TypeReport{Name: md.FullName(), Fallback: t.fallback}
	if t.fallback != "" {
		return r
	}
	if t.extensionOffset != noOffset {
		r.Notes = append(r.Notes, "protobuf decodes extensions, and encodes messages that hold some")
	}
	if t.lazyOffset != noOffset {
		r.Notes = append(r.Notes, "protobuf handles messages in which it left lazy fields undecoded")
	}
	if t.needsInit {
		r.Notes = append(r.Notes, "protobuf checks required fields where one may be missing, unless AllowPartial is set")
	}
	fields := md.Fields()
	for i := range fields.Len() {
		fd := fields.Get(i)
		f := t.find(uint64(fd.Number()))
		sub := f.sub
		if f.entry != nil {
			sub = f.entry.value.sub
		}
		lazy, _ := fd.(interface{ IsLazy() bool })
		switch {
		case sub != nil && sub.fallback != "":
			r.Fields = append(r.Fields, FieldReport{fd.Name(), "protobuf handles " + string(sub.mt.Descriptor().FullName())})
		case t.lazyOffset != noOffset && lazy != nil && lazy.IsLazy():
			r.Fields = append(r.Fields, FieldReport{fd.Name(), "lazy: decoded at once all the same"})
		}
	}
	return r
}

// Fast reports whether every type has a table. Messages may still be left to protobuf for what they
// hold: see [TypeReport.Notes].
func (r Report) Fast() bool {
	for _, t := range r.Types {
		if t.Fallback != "" {
			return false
		}
	}
	return true
}

// String returns the report as a table: a line for each type, and one for each note, indented.
func (r Report) String() string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	for _, t := range r.Types {
		if t.Fallback != "" {
			fmt.Fprintf(w, "%s\tprotobuf: %s\n", t.Name, t.Fallback)
		} else {
			fmt.Fprintf(w, "%s\tfast\n", t.Name)
		}
		for _, note := range t.Notes {
			fmt.Fprintf(w, "\t- %s\n", note)
		}
		for _, f := range t.Fields {
			fmt.Fprintf(w, "  .%s\t- %s\n", f.Name, f.Note)
		}
	}
	w.Flush() // into a builder: it cannot fail
	return out.String()
}
