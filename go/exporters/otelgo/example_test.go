package otelgo_test

import (
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/sdk/metric"

	"github.com/harena-project/harena/go/exporters/otelgo"
)

func Example() {
	var exporter metric.Exporter // of OTLP, say
	reader := metric.NewPeriodicReader(exporter, metric.WithProducer(otelgo.NewProducer()))
	provider := metric.NewMeterProvider(metric.WithReader(reader))
	otel.SetMeterProvider(provider)
	defer provider.Shutdown(context.Background())
}
