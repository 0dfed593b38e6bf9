package io.throttlekit.service.telemetry.otlp;

import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.common.export.MemoryMode;
import io.opentelemetry.sdk.metrics.Aggregation;
import io.opentelemetry.sdk.metrics.InstrumentType;
import io.opentelemetry.sdk.metrics.data.AggregationTemporality;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.metrics.export.MetricExporter;
import java.util.Collection;

/** Exports metrics, and reports failures. Thread-safe. */
record ReportedMetricExporter(MetricExporter exporter, ExportReports reports)
    implements MetricExporter {

  @Override
  public CompletableResultCode export(Collection<MetricData> metrics) {
    return reports.of(exporter.export(metrics));
  }

  @Override
  public CompletableResultCode flush() {
    return exporter.flush();
  }

  @Override
  public CompletableResultCode shutdown() {
    return exporter.shutdown();
  }

  @Override
  public AggregationTemporality getAggregationTemporality(InstrumentType instrument) {
    return exporter.getAggregationTemporality(instrument);
  }

  @Override
  public Aggregation getDefaultAggregation(InstrumentType instrument) {
    return exporter.getDefaultAggregation(instrument);
  }

  @Override
  public MemoryMode getMemoryMode() {
    return exporter.getMemoryMode();
  }
}
