package serving

import (
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/harena-project/harena/go/exporters/promgo"
)

// serveMetrics answers Prometheus on an address. It returns the one that it listens on, and what ends it.
func serveMetrics(address string) (string, func(), error) {
	registry := prometheus.NewRegistry()
	if err := registry.Register(promgo.NewCollector()); err != nil {
		return "", nil, err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return "", nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = server.Serve(listener) }() // returns when it is closed
	return listener.Addr().String(), func() { _ = server.Close() }, nil
}
