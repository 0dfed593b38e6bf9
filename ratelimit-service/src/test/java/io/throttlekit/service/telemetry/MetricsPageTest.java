package io.throttlekit.service.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The tables of docs/METRICS.md against a scrape. */
class MetricsPageTest {
  private static final Path PAGE = Path.of("..", "docs", "METRICS.md");
  private static final Pattern ROW =
      Pattern.compile("\\| `(throttlekit_[a-z_]+)(?:\\{([a-z_, ]+)})?` \\|.*");
  private static final Pattern SAMPLE =
      Pattern.compile("(throttlekit_[a-z_]+?)(?:_bucket|_count|_sum)?(?:\\{(.*)})? [-0-9.E]+");

  @Test
  void hasEveryMetricOfOursWithItsLabelsAndNoOther() throws IOException {
    assertThat(onThePage()).containsExactlyElementsOf(scraped());
  }

  private static Set<String> onThePage() throws IOException {
    return Files.readAllLines(PAGE).stream()
        .map(ROW::matcher)
        .filter(Matcher::matches)
        .map(row -> name(row.group(1), row.group(2) == null ? "" : row.group(2)))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static Set<String> scraped() throws IOException {
    try (MetricsFixture fixture = MetricsFixture.of("domain: d\n")) {
      StoreMetrics.ofStore(fixture.telemetry.meter()).roundTrip(1, 1);
      StoreMetrics.ofCoordinator(fixture.telemetry.meter()).roundTrip(1, 1);
      new TierMetrics(fixture.telemetry.meter());
      new FederationMetrics(fixture.telemetry.meter());
      return fixture.scraped().stream()
          .map(SAMPLE::matcher)
          .filter(Matcher::matches)
          .map(sample -> name(sample.group(1), labels(sample.group(2))))
          .collect(Collectors.toCollection(TreeSet::new));
    }
  }

  private static String labels(@Nullable String sample) {
    if (sample == null) {
      return "";
    }
    return Stream.of(sample.split(","))
        .map(label -> label.substring(0, label.indexOf('=')))
        .filter(label -> !label.equals("le"))
        .collect(Collectors.joining(", "));
  }

  private static String name(String metric, String labels) {
    return labels.isEmpty() ? metric : metric + "{" + labels + "}";
  }
}
