package io.throttlekit.service.http;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Renders the metrics of the process in the formats that Prometheus reads. Thread-safe. */
public interface MetricsSource {

  /** The body of a scrape, with its content type. */
  record Page(String contentType, String body) {}

  /** Returns whether the Accept header of a request prefers OpenMetrics. */
  boolean asOpenMetrics(@Nullable String accept);

  /**
   * Collects all metrics.
   *
   * @param accept the request's Accept header: OpenMetrics if it names that, otherwise Prometheus
   *     text
   */
  Page page(@Nullable String accept) throws IOException;
}
