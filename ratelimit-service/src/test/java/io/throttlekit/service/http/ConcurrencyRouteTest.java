package io.throttlekit.service.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.ManualTime;
import io.throttlekit.descriptors.policy.ConcurrencyRule;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.envoy.xds.ClusterLimit;
import io.throttlekit.envoy.xds.ClusterLimit.Priority;
import io.throttlekit.envoy.xds.LimitDivision;
import io.throttlekit.envoy.xds.LimitServerSettings;
import io.throttlekit.envoy.xds.SharePlan;
import io.throttlekit.envoy.xds.StreamState;
import io.throttlekit.service.concurrency.ConcurrencyLimiter;
import io.throttlekit.service.concurrency.ConcurrencyListener;
import io.throttlekit.service.concurrency.Fleet;
import io.throttlekit.service.concurrency.FleetListener;
import io.throttlekit.service.concurrency.PermitAcquisition;
import io.throttlekit.service.concurrency.ReachedLimit;
import io.throttlekit.service.concurrency.RequestPermit;
import io.throttlekit.service.concurrency.envoy.SteeringFigures;
import io.throttlekit.service.server.Book;
import io.throttlekit.share.Coordination;
import io.throttlekit.share.InMemoryConcurrencyCoordinator;
import io.throttlekit.tier.ManualScheduler;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ConcurrencyRouteTest {
  private static final Rule RULE =
      Book.of("domain: d\ndescriptors: [{key: k, concurrency: {min: 6, max: 6}}]\n")
          .rules()
          .getFirst();

  private final ManualTime time = new ManualTime(0);
  private final ManualScheduler timer = new ManualScheduler(time);

  @Test
  void showsEachSharedLimitWithoutControlCharactersOfRequests() throws Exception {
    InMemoryConcurrencyCoordinator store =
        new InMemoryConcurrencyCoordinator(time, Coordination.DEFAULT);
    try (ConcurrencyLimiter limiter =
        limiter(new Fleet("pod-1", _ -> store, () -> 1, FleetListener.NONE))) {
      enter(limiter, "b\nc");
      enter(limiter, "a");
      assertThat(page(limiter).lines())
          .hasSize(3)
          .satisfiesExactly(
              first -> assertThat(first).isEqualTo("# node: pod-1"),
              second ->
                  assertThat(second)
                      .endsWith(
                          "|1:k|1:a: share=6 limit=6 in_flight=1 nodes=1 steering=pod-1 (this node)"
                              + " member"),
              third -> assertThat(third).contains("|1:k|3:b\uFFFDc: share=6 limit=6"));
    }
  }

  @Test
  void showsNoCharactersOfRequestsThatReverseHideOrBreakALine() throws Exception {
    InMemoryConcurrencyCoordinator store =
        new InMemoryConcurrencyCoordinator(time, Coordination.DEFAULT);
    try (ConcurrencyLimiter limiter =
        limiter(new Fleet("pod-1", _ -> store, () -> 1, FleetListener.NONE))) {
      enter(limiter, "b\u202Ec\u2028d\u2029e\u200Bf\u001B\u0085\u00FC\uD83D\uDE00");
      assertThat(page(limiter))
          .contains("b\uFFFDc\uFFFDd\uFFFDe\uFFFDf\uFFFD\uFFFD\u00FC\uD83D\uDE00: share=6");
    }
  }

  @Test
  void showsThatALimitIsIdle() throws Exception {
    InMemoryConcurrencyCoordinator store =
        new InMemoryConcurrencyCoordinator(time, Coordination.DEFAULT);
    try (ConcurrencyLimiter limiter =
        limiter(new Fleet("pod-1", _ -> store, () -> 1, FleetListener.NONE))) {
      enter(limiter, "a").cancelled();
      time.advance(1_100);
      timer.run();
      time.advance(11_000);
      timer.run();
      assertThat(page(limiter))
          .endsWith("|1:k|1:a: share=0 limit=6 in_flight=0 nodes=0 steering=- idle\n");
    }
  }

  @Test
  void saysThatNoLimitIsShared() throws Exception {
    try (ConcurrencyLimiter limiter = limiter(null)) {
      enter(limiter, "a");
      assertThat(page(limiter))
          .isEqualTo("# node: none, as the limits are of this process alone\n");
    }
  }

  @Test
  void showsTheTenantsOfADividedLimitWithTheMostInFlight() throws Exception {
    Rule rule =
        Book.of(
                "domain: d\ndescriptors: [{key: k, concurrency: {min: 15, max: 15, fair_share:"
                    + " {tenant: org}}}]\n")
            .rules()
            .getFirst();
    try (ConcurrencyLimiter limiter = limiter(null)) {
      enter(limiter, rule, "k", "a", "org", "gone").cancelled();
      for (int i = 0; i < 12; i++) {
        enter(limiter, rule, "k", "a", "org", "t" + i);
      }
      enter(limiter, rule, "k", "a", "org", "x\ny");
      enter(limiter, rule, "k", "a", "org", "x\ny");
      assertThat(page(limiter).lines())
          .hasSize(12)
          .satisfies(lines -> {
            assertThat(lines.get(1)).endsWith("|1:a: tenants=14 borrowed=1 tenant_reserve=1");
            assertThat(lines.get(2)).endsWith("|1:a tenant x\uFFFDy: in_flight=2 part=1 waiting=0");
            assertThat(lines.get(3)).endsWith("|1:a tenant t0: in_flight=1 part=1 waiting=0");
          });
    }
  }

  @Test
  void showsTheShareOfEachEnvoy() throws Exception {
    SharePlan plan =
        SharePlan.parse(
            // as a steering replica publishes it
            steered(time).text(), 7);
    SteeringFigures figures =
        new SteeringFigures(
            "pod-2", "pod-2", 5, false, plan, 5, Map.of("0123456789abcdef", "pod-1"));
    try (ConcurrencyLimiter limiter = limiter(null)) {
      Reply reply =
          new ConcurrencyRoute(limiter.limits(), () -> figures, time)
              .answer(new HttpQuery(null, null, new byte[0], null));
      assertThat(new String(reply.body(), StandardCharsets.UTF_8).lines())
          .containsExactly(
              "# node: none, as the limits are of this process alone",
              "# envoys: replica=pod-2 steering=pod-2 (this node) epoch=5 plan=7",
              "envoys|up|HIGH: limit=20 reserved=20 envoys=1",
              "envoys|up|HIGH edge-1: share=20 reserved=20 unacknowledged replica=pod-1");
    }
  }

  private static SharePlan steered(ManualTime time) {
    long now = time.monotonicNanos();
    LimitDivision division =
        LimitDivision.from(SharePlan.EMPTY, 1, LimitServerSettings.DEFAULT, (_, _, _) -> {}, now);
    division.offer(new ClusterLimit("up", Priority.HIGH), 20);
    division.reported(
        "pod-1", List.of(new StreamState("edge-1", "0123456789abcdef", 0, 0, Map.of())), now);
    return division.round(now);
  }

  private ConcurrencyLimiter limiter(@Nullable Fleet fleet) {
    return new ConcurrencyLimiter(time, timer, ConcurrencyListener.NONE, () -> 1_000, fleet);
  }

  private String page(ConcurrencyLimiter limiter) throws InterruptedException {
    Reply reply =
        new ConcurrencyRoute(limiter.limits(), null, time)
            .answer(new HttpQuery(null, null, new byte[0], null));
    return new String(reply.body(), StandardCharsets.UTF_8);
  }

  private static RequestPermit enter(ConcurrencyLimiter limiter, String value) {
    return enter(limiter, RULE, "k", value);
  }

  private static RequestPermit enter(ConcurrencyLimiter limiter, Rule rule, String... entries) {
    ConcurrencyRule terms = Objects.requireNonNull(rule.concurrency());
    RequestPermit[] entered = new RequestPermit[1];
    var _ =
        limiter.enter(
            List.of(
                new ReachedLimit(
                    rule, terms, (ConcurrencyRule.AtService) terms.gate(), entries, false, true)),
            TimeUnit.SECONDS.toNanos(1),
            new PermitAcquisition.AcquisitionCallback() {
              @Override
              public void entered(PermitAcquisition acquisition, @Nullable RequestPermit permit) {
                entered[0] = Objects.requireNonNull(permit);
              }

              @Override
              public void refused(PermitAcquisition acquisition) {}
            });
    return Objects.requireNonNull(entered[0]);
  }
}
