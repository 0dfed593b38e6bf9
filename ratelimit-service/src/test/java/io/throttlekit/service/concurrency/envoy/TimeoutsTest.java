package io.throttlekit.service.concurrency.envoy;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.service.concurrency.envoy.Timeouts.Evidence;
import io.throttlekit.service.concurrency.sensors.Kind;
import io.throttlekit.service.concurrency.sensors.Reading;
import java.util.List;
import org.junit.jupiter.api.Test;

class TimeoutsTest {
  private static final long SECOND = 1_000_000_000;

  private final Timeouts timeouts = new Timeouts();
  private long now = SECOND;

  @Test
  void requestsWithoutRouteAndClientAreJudgedTogether() {
    requests(96, 4, "", "");
    assertThat(evidence()).isEqualTo(Evidence.NONE);
    requests(90, 10, "", "");
    assertThat(evidence()).as("7 of 100").isEqualTo(Evidence.WHOLE);
  }

  @Test
  void timeoutsOfASlowRouteAreNoEvidence() {
    requests(0, 200, "slow", "a");
    requests(800, 0, "fast", "a");
    assertThat(evidence()).isEqualTo(Evidence.NONE);
  }

  @Test
  void timeoutsOfASingleClientAreNoEvidence() {
    requests(0, 200, "r", "slow");
    requests(400, 0, "r", "b");
    requests(400, 0, "r", "c");
    assertThat(evidence()).isEqualTo(Evidence.NONE);
  }

  @Test
  void oneRouteOrClientWithMostRequestsIsPartialEvidence() {
    requests(0, 200, "slow", "a");
    requests(100, 0, "fast", "a");
    assertThat(evidence()).isEqualTo(Evidence.PARTIAL);
    requests(200, 200, "fast", "b");
    assertThat(evidence()).as("all routes and clients").isEqualTo(Evidence.WHOLE);
  }

  @Test
  void oneAnswerOfAnotherGroupMakesTimeoutsPartialEvidence() {
    requests(0, 5_000, "r", "a");
    assertThat(evidence()).as("alone").isEqualTo(Evidence.WHOLE);
    requests(1, 0, "r", "b");
    assertThat(evidence()).as("another client").isEqualTo(Evidence.PARTIAL);
    now += 10 * SECOND;
    requests(0, 5_000, "r", "a");
    requests(1, 0, "s", "a");
    assertThat(evidence()).as("another route").isEqualTo(Evidence.PARTIAL);
    requests(0, 1, "t", "a");
    assertThat(evidence()).as("one timeout of a third route").isEqualTo(Evidence.PARTIAL);
    requests(0, 1, "s", "a");
    assertThat(evidence()).as("all routes").isEqualTo(Evidence.WHOLE);
  }

  @Test
  void fewTimeoutsOfOneClientDoNotCountAsThoseOfManySmallClients() {
    for (int i = 0; i < 50; i++) {
      requests(2, 0, "r", "client " + i);
    }
    requests(0, 19, "r", "hostile");
    assertThat(evidence()).as("19 of 119 requests").isEqualTo(Evidence.NONE);
  }

  @Test
  void timeoutsOfAnOverflowClientAreNeverFullEvidenceAmongAnswers() {
    for (int i = 0; i < 200; i++) {
      requests(2, 0, "r", "client " + i);
    }
    requests(0, 5_000, "r", "hostile");
    assertThat(evidence()).isEqualTo(Evidence.PARTIAL);
  }

  @Test
  void timeoutsOfManySmallClientsAreEvidence() {
    for (int i = 0; i < 1_000; i++) {
      requests(2, 1, "r", "client " + i);
    }
    assertThat(evidence()).isEqualTo(Evidence.WHOLE);
  }

  @Test
  void inventedRoutesAndClientsAreOneGroupBeyondABound() {
    requests(10_000, 0, "real", "edge");
    for (int i = 0; i < 10_000; i++) {
      requests(0, 1, "invented " + i, "invented " + i);
    }
    assertThat(evidence()).isEqualTo(Evidence.NONE);
    requests(0, 100, "", "");
    assertThat(evidence())
        .as("never whole while the real ones are healthy")
        .isEqualTo(Evidence.PARTIAL);
  }

  @Test
  void requestsExpireAfterTwoPeriods() {
    requests(0, 100, "r", "c");
    assertThat(evidence()).isEqualTo(Evidence.WHOLE);
    now += 5 * SECOND;
    requests(0, 1, "r", "c");
    assertThat(evidence()).isEqualTo(Evidence.WHOLE);
    now += 10 * SECOND;
    assertThat(evidence()).isEqualTo(Evidence.NONE);
  }

  @Test
  void onlyAnswersAndTimeoutsCount() {
    for (Kind kind : Kind.values()) {
      if (!kind.isSample() && !kind.isDrop()) {
        timeouts.ended(new Reading(kind, "up", 0, List.of(), true, "r", "c"), now);
      }
    }
    requests(0, 1, "r", "c");
    requests(19, 0, "r", "c");
    assertThat(evidence()).as("1 of 20").isEqualTo(Evidence.NONE);
  }

  private void requests(int answered, int timedOut, String route, String client) {
    for (int i = 0; i < answered; i++) {
      timeouts.ended(new Reading(Kind.ANSWERED, "up", 1, List.of(), true, route, client), now);
    }
    for (int i = 0; i < timedOut; i++) {
      timeouts.ended(new Reading(Kind.TIMED_OUT, "up", 0, List.of(), true, route, client), now);
    }
  }

  private Evidence evidence() {
    return timeouts.evidence(now);
  }
}
