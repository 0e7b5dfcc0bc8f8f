// Stalewrite writes a value after its arena was reset. Built with the tag harena_debug it has to stop
// at the next Reset.
package main

import "github.com/harena-project/harena/go/arena"

type value struct {
	number int
	text   string
}

func main() {
	a := arena.New()
	v := arena.NewOf[value](a)
	a.Reset()
	v.text = "too late"
	a.Reset()
}
