package io.throttlekit.service.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Decision;
import io.throttlekit.ManualTime;
import io.throttlekit.TimeSource;
import io.throttlekit.descriptors.policy.ConcurrencyRule;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.envoy.filter.FilterFigures;
import io.throttlekit.envoy.xds.SharePlan;
import io.throttlekit.service.concurrency.ConcurrencyLimiter;
import io.throttlekit.service.concurrency.PermitAcquisition;
import io.throttlekit.service.concurrency.ReachedLimit;
import io.throttlekit.service.concurrency.RequestPermit;
import io.throttlekit.service.concurrency.envoy.SteeringFigures;
import io.throttlekit.service.policies.ControlPlaneStatus;
import io.throttlekit.service.server.Book;
import io.throttlekit.service.server.GrpcServer;
import io.throttlekit.service.server.Setup;
import io.throttlekit.service.telemetry.fairness.FairMetrics;
import io.throttlekit.service.telemetry.policies.ControlPlaneMetrics;
import io.throttlekit.service.telemetry.policies.FilterMetrics;
import io.throttlekit.share.FleetFigures;
import io.throttlekit.steering.Acknowledgements;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Compares the tables of docs/METRICS.md with a scrape. */
class MetricsPageTest {
  private static final String LIMIT =
      "domain: d\ndescriptors: [{key: k, concurrency: {fair_share: {tenant: org}}}]\n";
  private static final String POOL =
      "domain: d\ndescriptors: [{key: p, rate_limit: {unit: second, requests_per_unit: 10,"
          + " fair_share: {tenant: org}}}]\n";
  private static final Path PAGE = Path.of("..", "docs", "METRICS.md");
  private static final Pattern ROW =
      Pattern.compile("\\| `(throttlekit_[a-z_]+)(?:\\{([a-z_, ]+)})?` \\|.*");
  private static final Pattern SAMPLE =
      Pattern.compile("(throttlekit_[a-z_]+?)(?:_bucket|_count|_sum)?(?:\\{(.*)})? [-0-9.E]+");

  @Test
  void listsExactlyOurMetricsWithTheirLabels() throws IOException {
    assertThat(documented()).containsExactlyElementsOf(scraped());
  }

  private static Set<String> documented() throws IOException {
    return Files.readAllLines(PAGE).stream()
        .map(ROW::matcher)
        .filter(Matcher::matches)
        .map(row -> name(row.group(1), row.group(2) == null ? "" : row.group(2)))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static Set<String> scraped() throws IOException {
    try (MetricsFixture fixture = MetricsFixture.of("domain: d\n")) {
      for (String role : List.of("store", "per_second_store", "coordinator")) {
        new StoreMetrics(fixture.telemetry.meter(), role, null).roundTrip(1, 1);
      }
      GrpcServer decisions = GrpcServer.ofStreams(Setup.loopback(), List.of(), 1);
      ServerMetrics.ofDecisions(fixture.telemetry.meter(), decisions);
      GrpcServer sensors = GrpcServer.ofStreams(Setup.loopback(), List.of(), 1);
      var _ = new ServerMetrics(fixture.telemetry.meter(), "throttlekit_sensors_", sensors);
      new TierMetrics(fixture.telemetry.meter());
      new CheckMetrics(fixture.telemetry.meter()).answered(1);
      new FederationMetrics(fixture.telemetry.meter());
      new AccessLogMetrics(fixture.telemetry.meter(), () -> true);
      new LoadReportMetrics(fixture.telemetry.meter());
      SteeringFigures figures =
          new SteeringFigures("a", "", 0, false, SharePlan.EMPTY, 0, Map.of());
      LimitGauges.showSteering(fixture.telemetry.meter(), () -> figures, () -> 0, () -> 0, () -> 0);
      var _ = ServerMetrics.refusedClients(fixture.telemetry.meter());
      Rule rule = Book.of(LIMIT).rules().getFirst();
      LimitGauges.showAcknowledgements(
          fixture.telemetry.meter(), reader -> reader.accept(rule, new Acknowledgements(0, 0, 0)));
      LimitGauges.showReserved(fixture.telemetry.meter(), reader -> reader.accept(rule, 0L));
      LimitGauges.showShares(
          fixture.telemetry.meter(),
          reader -> reader.accept(rule, new FleetFigures(0, 0, 0, false, "", 0, false)));
      var _ =
          new FleetMetrics(
              fixture.telemetry.meter(), fixture.telemetry.tracer(), TimeSource.system());
      LimitGauges.showRefusals(fixture.telemetry.meter(), reader -> reader.accept(rule, 0L));
      ControlPlaneMetrics.register(
          fixture.telemetry.meter(),
          () -> ControlPlaneStatus.of("xds:1").withResponse("1", 1, true, true));
      FilterMetrics.register(fixture.telemetry.meter(), () -> new FilterFigures(0, 0, 0, 0));
      showAPool(fixture);
      showALimit(new ConcurrencyMetrics(fixture.telemetry.meter(), TimeSource.system()));
      List<String> scraped = fixture.scraped();
      decisions.stop();
      sensors.stop();
      return scraped.stream()
          .map(SAMPLE::matcher)
          .filter(Matcher::matches)
          .map(sample -> name(sample.group(1), labels(sample.group(2))))
          .collect(Collectors.toCollection(TreeSet::new));
    }
  }

  private static void showAPool(MetricsFixture fixture) {
    PolicyBook book = Book.of(POOL);
    FairMetrics metrics =
        new FairMetrics(
            fixture.telemetry.meter(), () -> book, TimeSource.system(), fixture.metrics);
    String[] entries = {"p", "v", "org", "a"};
    metrics.decided(book.rules().getFirst(), entries, 1, Decision.admit(10, 9, 1_000), false);
  }

  private static void showALimit(ConcurrencyMetrics metrics) {
    ConcurrencyLimiter gate =
        new ConcurrencyLimiter(new ManualTime(0), (_, _) -> {}, metrics, () -> 1_000);
    metrics.show(gate);
    Rule rule = Book.of(LIMIT).rules().getFirst();
    ConcurrencyRule limit = Objects.requireNonNull(rule.concurrency());
    String[] entries = {"k", "v", "org", "acme"};
    var _ =
        gate.enter(
            List.of(
                new ReachedLimit(
                    rule, limit, (ConcurrencyRule.AtService) limit.gate(), entries, false, true)),
            0,
            new PermitAcquisition.AcquisitionCallback() {
              @Override
              public void entered(PermitAcquisition acquisition, @Nullable RequestPermit lease) {}

              @Override
              public void refused(PermitAcquisition acquisition) {}
            });
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
