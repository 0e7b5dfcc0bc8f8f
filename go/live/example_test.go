package live_test

import (
	"log"
	"net/http"

	"github.com/harena-project/harena/go/live"
)

func ExampleListen() {
	page, err := live.Listen("127.0.0.1:9090", live.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer page.Close()
	// ... serve
}

// Beside what a server shows already.
func ExampleNewHandler() {
	handler, err := live.NewHandler(live.Options{Hosts: []string{"metrics.internal"}})
	if err != nil {
		log.Fatal(err)
	}
	defer handler.Close()
	http.Handle("/harena", handler)
	http.Handle("/harena/", handler)
}
