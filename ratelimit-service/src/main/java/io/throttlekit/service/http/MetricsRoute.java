package io.throttlekit.service.http;

import io.throttlekit.TimeSource;
import io.throttlekit.service.telemetry.Scrape;
import java.nio.charset.StandardCharsets;

/**
 * Serves the metrics, rendered once for all concurrent scrapes of all listeners; at most one
 * rendering of each of the two formats runs at a time.
 */
public final class MetricsRoute implements Route {
  private static final String OPEN_METRICS = "application/openmetrics-text";

  private final Scrape scrape;
  private final SharedPage text;
  private final SharedPage openMetrics;

  /** Creates a route that serves {@code scrape}. */
  public MetricsRoute(Scrape scrape, TimeSource time) {
    this.scrape = scrape;
    this.text = new SharedPage(() -> reply(scrape.page(null)), time);
    this.openMetrics = new SharedPage(() -> reply(scrape.page(OPEN_METRICS)), time);
  }

  @Override
  public Reply answer(HttpQuery query) throws InterruptedException {
    return (scrape.asOpenMetrics(query.accept()) ? openMetrics : text).get();
  }

  private static Reply reply(Scrape.Page page) {
    return new Reply(200, page.contentType(), page.body().getBytes(StandardCharsets.UTF_8));
  }
}
