// Sends a demo server a request that takes far more memory than it has bytes, then an ordinary one,
// and prints as JSON what became of both.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/harena-project/harena/bench/go/demo"
	"github.com/harena-project/harena/bench/go/workloads"
)

func main() {
	port := flag.Int("port", 0, "the server's loopback port")
	entities := flag.Int("entities", 1_500_000, "empty entities in the request, of four bytes each")
	flag.Parse()
	if err := run(*port, *entities); err != nil {
		fmt.Fprintf(os.Stderr, "demo bomb: %v\n", err)
		os.Exit(1)
	}
}

func run(port, entities int) error {
	next, err := workloads.Load("ranking_8k_one", "")
	if err != nil {
		return err
	}
	client, err := grpc.NewClient(fmt.Sprintf("127.0.0.1:%d", port), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return json.NewEncoder(os.Stdout).Encode(demo.SendBomb(ctx, client, entities, next))
}
