package io.throttlekit.service.telemetry.otlp;

import io.opentelemetry.exporter.internal.FailedExportException.GrpcExportException;
import io.opentelemetry.exporter.internal.FailedExportException.HttpExportException;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.common.export.GrpcResponse;
import io.opentelemetry.sdk.common.export.HttpResponse;
import io.throttlekit.TimeSource;
import io.throttlekit.service.log.LogInterval;
import io.throttlekit.service.log.PrintableText;
import io.throttlekit.store.RootCause;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs that exports fail, without stack traces: one line at once, then at most one in {@link
 * #INTERVAL}, and one when an export succeeds again. The exporters' own loggers are off.
 * Thread-safe.
 */
final class ExportReports {
  /** Time between two lines while exports fail. */
  static final Duration INTERVAL = Duration.ofMinutes(5);

  private static final Logger LOG = LoggerFactory.getLogger(ExportReports.class);

  /** Length at which a reason is cut: a collector chooses its text. */
  private static final int MAX_REASON = 200;

  private final String what;
  private final String to;
  private final TimeSource time;
  private final LogInterval interval;
  private final AtomicLong failed = new AtomicLong(); // since the last export that succeeded

  /**
   * Creates reports of one exporter.
   *
   * @param what is exported, in the plural
   * @param to address of the collector, without secrets
   */
  ExportReports(String what, String to, TimeSource time) {
    this.what = what;
    this.to = to;
    this.time = time;
    this.interval = new LogInterval(INTERVAL, time.monotonicNanos());
  }

  /** Reports the result of an export once it is known, and returns it. */
  CompletableResultCode of(CompletableResultCode result) {
    return result.whenComplete(() -> {
      if (result.isSuccess()) {
        succeeded();
      } else {
        failed(result.getFailureThrowable());
      }
    });
  }

  private void succeeded() {
    if (failed.get() == 0) { // nearly always, without a write
      return;
    }
    long failures = failed.getAndSet(0);
    if (failures > 0) {
      LOG.info("{} are exported to {} again, after {} failed exports", what, to, failures);
    }
  }

  private void failed(@Nullable Throwable cause) {
    long failures = failed.incrementAndGet();
    if (interval.isDue(time.monotonicNanos())) {
      LOG.warn(
          "{} cannot be exported to {}: {} (failed exports: {})",
          what,
          to,
          reason(cause),
          failures);
    }
  }

  private static String reason(@Nullable Throwable cause) {
    String text =
        switch (cause) {
          case HttpExportException http when http.getResponse() != null -> status(http);
          case GrpcExportException grpc when grpc.getResponse() != null -> status(grpc);
          case null -> "no reason is known";
          default -> RootCause.innermost(cause).toString();
        };
    return PrintableText.of(text.length() <= MAX_REASON ? text : text.substring(0, MAX_REASON));
  }

  private static String status(HttpExportException failure) {
    HttpResponse response = failure.getResponse();
    return response == null
        ? ""
        : "HTTP status %d %s".formatted(response.getStatusCode(), response.getStatusMessage());
  }

  private static String status(GrpcExportException failure) {
    GrpcResponse response = failure.getResponse();
    return response == null
        ? ""
        : "gRPC status %s %s".formatted(response.getStatusCode(), response.getStatusDescription());
  }
}
