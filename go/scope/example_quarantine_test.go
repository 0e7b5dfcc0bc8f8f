package scope_test

import (
	"fmt"
	"log"

	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/scope"
)

func ExampleOptions_quarantineOneIn() {
	pool, err := scope.NewPool(scope.Options{QuarantineOneIn: 1000})
	arena.OnStaleWrite(func(w *arena.StaleWrite) { log.Print(w) })
	fmt.Println(pool.Options().QuarantineOneIn, err)
	arena.OnStaleWrite(nil)
	// Output: 1000 <nil>
}
