package io.throttlekit.service.telemetry.otlp;

import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.util.Collection;

/** Exports spans, and reports failures. Thread-safe. */
record ReportedSpanExporter(SpanExporter exporter, ExportReports reports) implements SpanExporter {

  @Override
  public CompletableResultCode export(Collection<SpanData> spans) {
    return reports.of(exporter.export(spans));
  }

  @Override
  public CompletableResultCode flush() {
    return exporter.flush();
  }

  @Override
  public CompletableResultCode shutdown() {
    return exporter.shutdown();
  }
}
