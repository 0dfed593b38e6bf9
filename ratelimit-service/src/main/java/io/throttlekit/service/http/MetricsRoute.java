package io.throttlekit.service.http;

import io.throttlekit.TimeSource;
import java.nio.charset.StandardCharsets;

/**
 * Serves the metrics, rendered once for all concurrent scrapes of all listeners; at most one
 * rendering of each of the two formats runs at a time.
 */
public final class MetricsRoute implements Route {
  private static final String OPEN_METRICS = "application/openmetrics-text";

  private final MetricsSource metrics;
  private final SharedPage text;
  private final SharedPage openMetrics;

  /** Creates a route that serves {@code metrics}. */
  public MetricsRoute(MetricsSource metrics, TimeSource time) {
    this.metrics = metrics;
    this.text = new SharedPage(() -> reply(metrics.page(null)), time);
    this.openMetrics = new SharedPage(() -> reply(metrics.page(OPEN_METRICS)), time);
  }

  @Override
  public Reply answer(HttpQuery query) throws InterruptedException {
    return (metrics.asOpenMetrics(query.accept()) ? openMetrics : text).get();
  }

  private static Reply reply(MetricsSource.Page page) {
    return new Reply(200, page.contentType(), page.body().getBytes(StandardCharsets.UTF_8));
  }
}
