package promgo_test

import (
	"log"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/harena-project/harena/go/exporters/promgo"
)

func Example() {
	prometheus.MustRegister(promgo.NewCollector())
	http.Handle("/metrics", promhttp.Handler())
	log.Fatal(http.ListenAndServe("127.0.0.1:9100", nil))
}
