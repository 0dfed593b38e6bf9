package io.throttlekit.service.telemetry;

import io.throttlekit.Decision;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.service.config.load.ConfigLoader;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Metrics of some policies, and a scrape to read them. */
final class MetricsFixture implements AutoCloseable {
  final Policies policies;
  final Telemetry telemetry = Telemetry.start(ConfigLoader.defaults().telemetry());
  final RateLimitMetrics metrics;

  MetricsFixture(Policies policies, int maxSeries) {
    this.policies = policies;
    this.metrics =
        new RateLimitMetrics(telemetry.meter(), policies::book, () -> 7, () -> 2, 0.8, maxSeries);
  }

  static MetricsFixture of(String yaml) {
    return new MetricsFixture(Policies.of(yaml), 10_000);
  }

  /** Returns an admitted charge that leaves {@code remaining} of {@code limit}. */
  void admit(long hits, long limit, long remaining, String domain, String... entries) {
    decide(hits, Decision.admit(limit, remaining, 0), domain, entries);
  }

  /** Returns a refused charge; {@code remaining} is below 0 when it was charged anyway. */
  void refuse(long hits, long limit, long remaining, String domain, String... entries) {
    decide(hits, Decision.refuse(limit, remaining, 0, 1), domain, entries);
  }

  private void decide(long hits, Decision decision, String domain, String... entries) {
    Rule rule = policies.match(domain, entries);
    metrics.decided(rule, entries, hits, decision, rule.shadow());
  }

  List<String> scraped() throws IOException {
    return scraped(null);
  }

  List<String> scraped(@Nullable String accept) throws IOException {
    Scrape scrape = telemetry.scrape();
    if (scrape == null) {
      throw new AssertionError("Prometheus is off");
    }
    return scrape.page(accept).body().lines().toList();
  }

  @Override
  public void close() {
    telemetry.close();
  }
}
