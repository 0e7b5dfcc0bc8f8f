// Package echotest is what the tests of the adapters have in common: the messages of
// harena/test/echo.proto, what the service makes of them, and streams of them.
package echotest

import (
	"fmt"
	"math/rand"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/harena-project/harena/go/arena"
)

// New returns a note with something in most fields.
func New(text string) *Note {
	return &Note{
		Text:     text,
		Number:   5, // Repeat answers so often
		Blob:     []byte("blob " + text),
		Author:   &Author{Name: "author " + text, Mails: []string{"a@" + text, "b@" + text}},
		Children: []*Note{{Text: "child " + text}, {Texts: []string{"x", "y"}}},
		Labels:   map[string]string{"k": "v " + text},
		Texts:    []string{"one " + text, "two " + text},
	}
}

// Random fills a random choice of fields; every text carries the mark.
func Random(random *rand.Rand, mark string, depth int) *Note {
	n := &Note{}
	text := func() string { return mark + strings.Repeat("z", random.Intn(40)) }
	maybe := func() bool { return random.Intn(2) == 0 }
	if maybe() {
		n.Text = text()
	}
	if maybe() {
		n.Number = random.Int63()
	}
	if maybe() {
		n.Blob = []byte(text())
	}
	if maybe() {
		n.Author = &Author{Name: text(), Mails: []string{text(), text()}}
	}
	for range random.Intn(4) {
		if depth > 0 {
			n.Children = append(n.Children, Random(random, mark, depth-1))
		}
		n.Texts = append(n.Texts, text())
		n.Numbers = append(n.Numbers, random.Int63n(1<<20))
	}
	for i := range random.Intn(3) {
		if n.Labels == nil {
			n.Labels, n.Authors = map[string]string{}, map[string]*Author{}
		}
		n.Labels[fmt.Sprint(mark, i)] = text()
		n.Authors[fmt.Sprint(mark, i)] = &Author{Name: text()}
	}
	if maybe() {
		n.Maybe = proto.String(text())
	}
	switch random.Intn(3) {
	case 0:
		n.Choice = &Note_ChoiceText{ChoiceText: text()}
	case 1:
		n.Choice = &Note_ChoiceAuthor{ChoiceAuthor: &Author{Name: text()}}
	}
	return n
}

// Shout returns the note with its texts in upper case, in the arena.
func Shout(a *arena.Arena, in *Note) *Note {
	out := arena.NewOf[Note](a)
	out.Text = a.String(strings.ToUpper(in.Text))
	out.Number = in.Number
	out.Blob = a.Bytes(in.Blob)
	out.Author = in.Author // part of the request, which lives as long
	out.Texts = arena.MakeSlice[string](a, 0, len(in.Texts))
	for _, text := range in.Texts {
		out.Texts = append(out.Texts, strings.ToUpper(text))
	}
	for _, child := range in.Children {
		out.Children = arena.Append(a, out.Children, Shout(a, child))
	}
	out.Labels = arena.MakeMap[string, string](a)
	for k, v := range in.Labels {
		out.Labels[k] = strings.ToUpper(v)
	}
	return out
}

// Shouted is the same, made without Harena.
func Shouted(in *Note) *Note {
	out := &Note{Text: strings.ToUpper(in.Text), Number: in.Number, Blob: in.Blob, Author: in.Author}
	for _, text := range in.Texts {
		out.Texts = append(out.Texts, strings.ToUpper(text))
	}
	for _, child := range in.Children {
		out.Children = append(out.Children, Shouted(child))
	}
	for k, v := range in.Labels {
		if out.Labels == nil {
			out.Labels = map[string]string{}
		}
		out.Labels[k] = strings.ToUpper(v)
	}
	return out
}
