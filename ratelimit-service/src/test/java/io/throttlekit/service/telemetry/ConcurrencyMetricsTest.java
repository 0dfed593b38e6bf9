package io.throttlekit.service.telemetry;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.ManualTime;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.limiter.Refusal;
import io.throttlekit.limiter.tenants.ShareFigures;
import io.throttlekit.service.Logged;
import io.throttlekit.service.concurrency.ConcurrencyLimiter;
import io.throttlekit.service.concurrency.DroppedRelease;
import io.throttlekit.service.concurrency.IgnoredReport;
import io.throttlekit.service.concurrency.StreamEnd;
import io.throttlekit.service.config.load.ConfigLoader;
import io.throttlekit.service.server.Book;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ConcurrencyMetricsTest {
  private final ManualTime time = new ManualTime(0);
  private final PolicyBook book =
      Book.of("domain: d\ndescriptors: [{key: a, concurrency: {}}, {key: b, concurrency: {}}]\n");
  private final Rule one = book.rules().getFirst();
  private final Rule other = book.rules().getLast();

  @Test
  void countsChangesOfLimitsByDirectionAndThoseOfTheThreshold() throws IOException {
    try (Telemetry telemetry = Telemetry.start(ConfigLoader.defaults().telemetry())) {
      ConcurrencyMetrics metrics = new ConcurrencyMetrics(telemetry.meter(), time);
      metrics.limitChanged(one, 10, 11);
      metrics.limitChanged(one, 11, 12);
      metrics.limitChanged(other, 12, 6);
      metrics.thresholdChanged(0, 200);
      assertThat(Objects.requireNonNull(telemetry.scrape()).page(null).body().lines())
          .contains(
              "throttlekit_concurrency_limit_changes_total{direction=\"up\"} 2.0",
              "throttlekit_concurrency_limit_changes_total{direction=\"down\"} 1.0",
              "throttlekit_concurrency_threshold_changes_total 1.0");
    }
  }

  @Test
  void countsRefusalsByRuleAndReason() throws IOException {
    try (Telemetry telemetry = Telemetry.start(ConfigLoader.defaults().telemetry())) {
      ConcurrencyMetrics metrics = new ConcurrencyMetrics(telemetry.meter(), time);
      metrics.show(new ConcurrencyLimiter(time, (_, _) -> {}, metrics, () -> 1_000));
      metrics.refused(one, Refusal.ABOVE_PART);
      metrics.refused(one, Refusal.ABOVE_PART);
      metrics.refused(other, Refusal.LIMIT_REACHED);
      assertThat(Objects.requireNonNull(telemetry.scrape()).page(null).body().lines())
          .contains(
              refused("d", "a", "above_part") + " 2.0",
              refused("d", "a", "limit_reached") + " 0.0",
              refused("d", "b", "limit_reached") + " 1.0");
    }
  }

  @Test
  void countsRefusalsOfTooManyRulesTogether() throws IOException {
    try (Telemetry telemetry = Telemetry.start(ConfigLoader.defaults().telemetry())) {
      ConcurrencyMetrics metrics = new ConcurrencyMetrics(telemetry.meter(), time);
      metrics.show(new ConcurrencyLimiter(time, (_, _) -> {}, metrics, () -> 1_000));
      int rules = ConcurrencyMetrics.MAX_RULES + 2;
      Book.of(
              IntStream.range(0, rules)
                  .mapToObj(i -> "{key: k" + i + ", concurrency: {}}")
                  .collect(joining(", ", "domain: d\ndescriptors: [", "]\n")))
          .rules()
          .forEach(rule -> metrics.refused(rule, Refusal.LIMIT_REACHED));
      assertThat(Objects.requireNonNull(telemetry.scrape()).page(null).body().lines())
          .contains(refused("other", "other", "limit_reached") + " 2.0")
          .filteredOn(line -> line.contains("reason=\"limit_reached\""))
          .hasSize(ConcurrencyMetrics.MAX_RULES + 1);
    }
  }

  private static String refused(String domain, String rule, String reason) {
    return "throttlekit_concurrency_refused_total{domain=\"%s\",reason=\"%s\",rule=\"%s\"}"
        .formatted(domain, reason, rule);
  }

  @Test
  void countsReportedEndsByKindAndIgnoredReportsByReason() throws IOException {
    try (Telemetry telemetry = Telemetry.start(ConfigLoader.defaults().telemetry())) {
      ConcurrencyMetrics metrics = new ConcurrencyMetrics(telemetry.meter(), time);
      metrics.reported(StreamEnd.TIMED_OUT);
      metrics.reported(StreamEnd.TIMED_OUT);
      metrics.ignored(IgnoredReport.OUT_OF_RANGE);
      assertThat(Objects.requireNonNull(telemetry.scrape()).page(null).body().lines())
          .contains(
              "throttlekit_concurrency_reported_ends_total{kind=\"timed_out\"} 2.0",
              "throttlekit_concurrency_reported_ends_total{kind=\"answered\"} 0.0",
              "throttlekit_concurrency_ignored_reports_total{reason=\"out_of_range\"} 1.0");
    }
  }

  @Test
  void showsHowTenantsShareTheLimitsOfARule() throws IOException {
    try (Telemetry telemetry = Telemetry.start(ConfigLoader.defaults().telemetry())) {
      ShareFigures figures = new ShareFigures(3, 5, 2);
      LimitGauges.showTenants(
          telemetry.meter(),
          limits -> {
            limits.accept(one, figures);
            limits.accept(one, figures);
          });
      assertThat(Objects.requireNonNull(telemetry.scrape()).page(null).body().lines())
          .contains(
              "throttlekit_concurrency_tenants{domain=\"d\",rule=\"a\"} 6.0",
              "throttlekit_concurrency_tenant_reserve{domain=\"d\",rule=\"a\"} 10.0",
              "throttlekit_concurrency_borrowed{domain=\"d\",rule=\"a\"} 4.0");
    }
  }

  @Test
  void countsForwardedReceivedOrphanedAndDroppedReleases() throws IOException {
    try (Telemetry telemetry = Telemetry.start(ConfigLoader.defaults().telemetry())) {
      ConcurrencyMetrics metrics = new ConcurrencyMetrics(telemetry.meter(), time);
      metrics.forwarded(7);
      metrics.received(5);
      metrics.orphansReleased(2);
      metrics.dropped(DroppedRelease.QUEUE_FULL, 3);
      assertThat(Objects.requireNonNull(telemetry.scrape()).page(null).body().lines())
          .contains(
              "throttlekit_concurrency_forwarded_releases_total 7.0",
              "throttlekit_concurrency_received_releases_total 5.0",
              "throttlekit_concurrency_orphaned_releases_total 2.0",
              "throttlekit_concurrency_dropped_releases_total{reason=\"queue_full\"} 3.0",
              "throttlekit_concurrency_dropped_releases_total{reason=\"stopped\"} 0.0");
    }
  }

  @Test
  void logsAFailedExchangeOfReleasesAtMostOnceInTenSeconds() throws IOException {
    try (Telemetry telemetry = Telemetry.start(ConfigLoader.defaults().telemetry());
        Logged logged = Logged.by(ConcurrencyMetrics.class)) {
      ConcurrencyMetrics metrics = new ConcurrencyMetrics(telemetry.meter(), time, Runnable::run);
      metrics.exchangeFailed("NOPERM");
      metrics.exchangeFailed("NOPERM");
      assertThat(logged.lines())
          .containsExactly(
              "WARNING releases of leases are not exchanged with other processes at present, so"
                  + " that leases may last until their ttl: NOPERM");
      time.advance(10_000);
      metrics.exchangeFailed("NOPERM");
      assertThat(logged.lines()).hasSize(2);
      assertThat(Objects.requireNonNull(telemetry.scrape()).page(null).body().lines())
          .contains("throttlekit_concurrency_failed_exchanges_total 3.0");
    }
  }

  @Test
  void logsAMoveOfEachRuleAtMostOnceInTenSeconds() {
    try (Telemetry telemetry = Telemetry.start(ConfigLoader.defaults().telemetry())) {
      ConcurrencyMetrics metrics = new ConcurrencyMetrics(telemetry.meter(), time, _ -> {});
      assertThat(metrics.limitMoved(one, 10, 20)).isTrue();
      assertThat(metrics.limitMoved(one, 20, 10)).isFalse();
      assertThat(metrics.limitMoved(other, 10, 20)).isTrue();
      time.advance(9_999);
      assertThat(metrics.limitMoved(one, 20, 10)).isFalse();
      time.advance(1);
      assertThat(metrics.limitMoved(one, 20, 10)).isTrue();
    }
  }

  /** Event loops report moves, and must not wait for the log. */
  @Test
  void logsOnAnExecutorAndDropsLinesThatItRejects() {
    List<Runnable> tasks = new ArrayList<>();
    try (Telemetry telemetry = Telemetry.start(ConfigLoader.defaults().telemetry());
        Logged logged = Logged.by(ConcurrencyMetrics.class)) {
      ConcurrencyMetrics metrics = new ConcurrencyMetrics(telemetry.meter(), time, tasks::add);
      assertThat(metrics.limitMoved(one, 10, 20)).isTrue();
      assertThat(logged.lines()).isEmpty();
      tasks.forEach(Runnable::run);
      assertThat(logged.lines())
          .containsExactly(
              "INFO the concurrency limit of " + one.path() + " in domain d moved from 10 to 20");
      Executor full =
          _ -> {
            throw new RejectedExecutionException();
          };
      assertThat(new ConcurrencyMetrics(telemetry.meter(), time, full).limitMoved(one, 10, 20))
          .isFalse();
    }
  }
}
