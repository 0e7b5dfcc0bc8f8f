// Readafterreset reads a value in one goroutine while another one resets its arena. Built with -race
// it has to be reported; the sleeps are what a missing synchronization looks like in a server.
package main

import (
	"fmt"
	"time"

	"github.com/harena-project/harena/go/arena"
)

type value struct {
	number int
	text   string
}

func main() {
	a := arena.New()
	v := arena.NewOf[value](a)
	v.number = 42
	done := make(chan int)
	go func() {
		time.Sleep(50 * time.Millisecond)
		done <- v.number + len(v.text)
	}()
	a.Reset()
	fmt.Println("read", <-done)
}
