package io.throttlekit.envoy.xds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.envoyproxy.envoy.service.discovery.v3.DiscoveryRequest;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryResponse;
import io.throttlekit.envoy.xds.ClusterLimit.Priority;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests how the Envoys of a fleet get their shares. */
class LimitServerTest {
  private static final ClusterLimit UP = new ClusterLimit("up", Priority.DEFAULT);

  private static final LimitServerSettings WITH_PAUSE =
      new LimitServerSettings(
          "concurrency_limits",
          9,
          Duration.ofSeconds(30),
          Duration.ofSeconds(1),
          Duration.ofMillis(20));

  private final ServedLimits served = new ServedLimits();

  @AfterEach
  void stop() {
    served.close();
  }

  @Test
  void anEnvoyIsSentItsShareOfEveryLimitAsIntegers() {
    served.offer("up", Priority.DEFAULT, 7);
    served.offer("up", Priority.HIGH, 0);
    served.offer("a.default", Priority.DEFAULT, Integer.MAX_VALUE);
    FakeEnvoy envoy = FakeEnvoy.connect(served.channel(), "a");
    DiscoveryResponse answer = envoy.obey();
    assertThat(answer.getTypeUrl()).isEqualTo(Wire.TYPE_URL);
    assertThat(answer.getVersionInfo()).startsWith("e1.");
    assertThat(answer.getResourcesCount()).isEqualTo(1);
    assertThat(envoy.values())
        .containsExactlyInAnyOrderEntriesOf(
            Map.of(
                "circuit_breakers.up.default.max_requests", 7.0,
                "circuit_breakers.up.high.max_requests", 0.0,
                "circuit_breakers.a.default.default.max_requests", 2147483647.0));
    assertThat(envoy.unread()).isZero();
  }

  @Test
  void sharesRiseOnlyFromAcknowledgedReductions() {
    served.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy a = FakeEnvoy.connect(served.channel(), "a");
    a.obeyAll();
    assertThat(served.acknowledged()).containsExactly(10);
    FakeEnvoy b = FakeEnvoy.connect(served.channel(), "b");
    b.obeyAll();
    assertThat(b.share("up")).isZero();
    DiscoveryResponse lowered = a.obey();
    assertThat(a.share("up")).isEqualTo(5);
    assertThat(b.unread()).isZero(); // the response to a is lost, or late
    a.acknowledge(lowered);
    b.obeyAll();
    assertThat(b.share("up")).isEqualTo(5);
    int visits = served.visits();
    a.acknowledge(lowered); // and again
    assertThat(a.unread() + b.unread()).isZero();
    assertThat(served.visits()).isEqualTo(visits);
  }

  @Test
  void theReportedLimitIsTheSumOfAcknowledgedShares() {
    served.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy a = FakeEnvoy.connect(served.channel(), "a");
    FakeEnvoy b = FakeEnvoy.connect(served.channel(), "b");
    FakeEnvoy.settle(a, b);
    assertThat(served.acknowledged()).containsExactly(5, 10);
    served.offer("up", Priority.DEFAULT, 4);
    served.offer("up", Priority.DEFAULT, 6);
    a.obeyAll();
    assertThat(served.acknowledged()).last().isEqualTo(3 + 5);
    FakeEnvoy.settle(a, b);
    assertThat(served.acknowledged()).last().isEqualTo(6);
    int received = served.acknowledged().size();
    served.offer("up", Priority.DEFAULT, 6);
    FakeEnvoy.settle(a, b);
    assertThat(served.acknowledged()).hasSize(received);
    b.disconnect(); // and keeps its 3
    assertThat(served.acknowledged()).last().isEqualTo(6);
  }

  @Test
  void theShareOfADisconnectedEnvoyIsReservedForItsLease() {
    served.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy a = FakeEnvoy.connect(served.channel(), "a");
    FakeEnvoy b = FakeEnvoy.connect(served.channel(), "b");
    FakeEnvoy.settle(a, b);
    b.disconnect();
    served.time().pass(Duration.ofSeconds(30).minusNanos(1));
    served.tick();
    FakeEnvoy.settle(a);
    assertThat(a.share("up")).isEqualTo(5);
    served.time().pass(Duration.ofNanos(1));
    served.tick();
    FakeEnvoy.settle(a);
    assertThat(a.share("up")).isEqualTo(10);
  }

  @Test
  void aDisconnectedEnvoyWithNothingInFlightKeepsItsShareReserved() {
    served.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy a = FakeEnvoy.connect(served.channel(), "a");
    FakeEnvoy b = FakeEnvoy.connect(served.channel(), "b");
    FakeEnvoy.settle(a, b);
    b.disconnect(); // and applies its 5 to the next requests
    served.reported(UP, "b", 0, 0);
    served.tick();
    FakeEnvoy.settle(a);
    assertThat(a.share("up")).isEqualTo(5);
  }

  @Test
  void sharesFollowReportedDemand() {
    served.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy a = FakeEnvoy.connect(served.channel(), "a");
    FakeEnvoy b = FakeEnvoy.connect(served.channel(), "b");
    FakeEnvoy.settle(a, b);
    served.reported(UP, "a", 5, 20);
    served.reported(new ClusterLimit("other", Priority.HIGH), "b", 50, 20);
    served.tick();
    FakeEnvoy.settle(a, b);
    assertThat(a.share("up")).isEqualTo(9);
    assertThat(b.share("up")).isEqualTo(1);
  }

  @Test
  void aWithdrawnLimitLeavesAnEmptyLayer() {
    served.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy a = FakeEnvoy.connect(served.channel(), "a");
    a.obeyAll();
    served.withdraw("up", Priority.DEFAULT);
    DiscoveryResponse answer = a.obey();
    assertThat(answer.getResourcesCount()).isEqualTo(1);
    assertThat(a.values()).isEmpty();
    a.acknowledge(answer);
    served.offer("up", Priority.DEFAULT, 3);
    a.obeyAll();
    assertThat(a.share("up")).isEqualTo(3);
    assertThat(served.acknowledged()).containsExactly(10, 3);
  }

  @Test
  void aFailingListenerDoesNotKeepEnvoysFromTheirShares() {
    served.offer("up", Priority.DEFAULT, 13);
    FakeEnvoy a = FakeEnvoy.connect(served.channel(), "a");
    a.obeyAll();
    served.offer("up", Priority.DEFAULT, 5);
    a.obeyAll();
    assertThat(a.share("up")).isEqualTo(5);
    assertThat(served.acknowledged()).containsExactly(5);
  }

  /** Tests the pause: without it, each message of a large fleet would divide all limits. */
  @Test
  void changesWithinAPauseAreBatched() {
    try (ServedLimits patiently = new ServedLimits(WITH_PAUSE)) {
      patiently.offer("up", Priority.DEFAULT, 12);
      List<FakeEnvoy> envoys = new ArrayList<>();
      envoys.add(FakeEnvoy.connect(patiently.channel(), "a"));
      int first = patiently.visits();
      assertThat(first).isEqualTo(1); // without a pause
      for (String node : List.of("b", "c", "d")) {
        envoys.add(FakeEnvoy.connect(patiently.channel(), node));
      }
      assertThat(patiently.visits()).isEqualTo(first);
      patiently.pause(WITH_PAUSE.pause());
      assertThat(patiently.visits()).isEqualTo(first + 1);
      assertThat(envoys.subList(1, 4)).allMatch(envoy -> envoy.unread() == 1);
      for (int i = 1; i <= 4; i++) {
        envoys.forEach(FakeEnvoy::obeyAll);
        patiently.pause(WITH_PAUSE.pause());
        assertThat(patiently.visits()).isLessThanOrEqualTo(first + 1 + i);
      }
      assertThat(envoys).allMatch(envoy -> envoy.share("up") == 3);
    }
  }

  @Test
  void aTogglingSubscriberIsReadNoFasterThanItIsAnswered() {
    try (ServedLimits patiently = new ServedLimits(WITH_PAUSE)) {
      patiently.offer("up", Priority.DEFAULT, 12);
      List<FakeEnvoy> envoys = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        envoys.add(FakeEnvoy.open(patiently.channel(), "n" + i, "", false));
      }
      int first = patiently.visits();
      DiscoveryRequest other = DiscoveryRequest.newBuilder().setTypeUrl(Wire.TYPE_URL).build();
      for (FakeEnvoy envoy : envoys) {
        for (int i = 0; i < 10_000; i++) {
          envoy.ask(Wire.TYPE_URL);
          envoy.send(other);
        }
      }
      for (int pause = 0; pause < 500; pause++) { // 10 s
        patiently.pause(WITH_PAUSE.pause());
        if (pause % 25 == 0) {
          patiently.tick();
        }
      }
      assertThat(patiently.visits() - first).isLessThanOrEqualTo(500 + 20);
      assertThat(envoys).allMatch(envoy -> envoy.unread() <= 2 * 11); // once in each turn of 1 s
      assertThat(patiently.record().parts()).hasSizeLessThanOrEqualTo(4);
    }
  }

  @Test
  void aThousandEnvoysAreServedInAFewPauses() {
    LimitServerSettings settings = LimitServerSettings.DEFAULT;
    try (ServedLimits fleet = new ServedLimits(settings)) {
      fleet.offer("up", Priority.DEFAULT, 50_000);
      fleet.offer("down", Priority.HIGH, 3_000);
      List<FakeEnvoy> envoys = new ArrayList<>();
      for (int i = 0; i < settings.maxStreams(); i++) {
        envoys.add(FakeEnvoy.connect(fleet.channel(), "gateway " + i));
      }
      for (int pause = 0; pause < 4; pause++) {
        fleet.pause(settings.pause());
        envoys.forEach(FakeEnvoy::obeyAll);
      }
      assertThat(envoys).allMatch(envoy -> envoy.share("up") == 50);
      assertThat(fleet.acknowledged()).contains(50_000, 3_000);
      assertThat(fleet.visits()).isLessThanOrEqualTo(1 + 4);
      assertThat(fleet.division().streams()).isEqualTo(1_000);
      FakeEnvoy.connect(fleet.channel(), "one more");
      assertThat(fleet.rejected()).isEqualTo(1);
      SharePlan plan = fleet.record();
      fleet.visitAll();
      assertThat(fleet.record()).isSameAs(plan);
    }
  }

  @Test
  void invalidNumbersAndNamesAreRejected() {
    assertThatThrownBy(() -> served.offer("up", Priority.DEFAULT, -1)).hasMessageContaining("-1");
    assertThatThrownBy(() -> served.offer("", Priority.DEFAULT, 1)).hasMessageContaining("name");
    assertThatThrownBy(() ->
            new LimitServerSettings(
                "c", 0, Duration.ofSeconds(1), Duration.ofSeconds(1), Duration.ZERO))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
