package config_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/harena-project/harena/go/config"
	"github.com/harena-project/harena/go/scope"
)

// A server's options come from the code, from a file, and from the environment; the file may change
// while the server runs.
func ExampleWatch() {
	path := exampleFile()
	defer os.RemoveAll(filepath.Dir(path))
	ctx, stop := context.WithCancel(context.Background())

	overrides := config.FromEnvironment(os.LookupEnv)
	watcher, err := config.Watch(ctx, path, config.WatchOptions{Overrides: overrides})
	if err != nil {
		log.Fatal(err) // harena.yaml:3:9: mode is "fast"; write one of heap, arena, ...
	}
	options, err := watcher.Config().ServiceOptions(scope.ServiceOptions{}, "/shop.Ranking/Rank")
	if err != nil {
		log.Fatal(err)
	}
	// grpcgo.Register(server, &pb.Ranking_ServiceDesc, impl, options)

	fmt.Println(options.Method("/shop.Ranking/Rank").RequestBytesMax)
	stop()
	<-watcher.Done()
	// Output: 67108864
}

func exampleFile() string {
	folder, err := os.MkdirTemp("", "harena")
	if err != nil {
		log.Fatal(err)
	}
	path := filepath.Join(folder, "harena.yaml")
	if err := os.WriteFile(path, []byte("version: 1\ndefaults: {request_bytes_max: 64MiB}\n"), 0o600); err != nil {
		log.Fatal(err)
	}
	return path
}
