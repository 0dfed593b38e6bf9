package io.throttlekit.postgres;

import static io.throttlekit.postgres.StoreCalls.answers;
import static io.throttlekit.postgres.StoreCalls.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.share.Coordination;
import io.throttlekit.share.ShareGrant;
import io.throttlekit.store.RecordingListener;
import io.throttlekit.testkit.postgres.PostgresProcess;
import io.throttlekit.testkit.postgres.RealPostgres;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Heartbeats to a PostgreSQL that hangs or dies. */
@RealPostgres
class PostgresConcurrencyFaultsTest {
  private static final long PROBE_MILLIS = 50;

  private final PostgresProcess server = PostgresProcess.start();
  private final RecordingListener listener = new RecordingListener();
  private final PostgresConcurrencyCoordinator coordinator =
      new PostgresConcurrencyCoordinator(
          Wanted.of(server.url("postgres"))
              .quickToConnect()
              .deadlines(200, 5_000)
              .breaker(5, 300, PROBE_MILLIS)
              .settings(),
          Coordination.DEFAULT,
          TestSurroundings.notifying(listener));

  @AfterEach
  void stop() {
    coordinator.close();
    server.close();
  }

  @Test
  void sharesSurviveAKilledServerAndCallsFailAtOnceMeanwhile() {
    await("warm", () -> answers(coordinator.health()));
    assertThat(Heartbeats.beat(coordinator, "a", 1).share()).isEqualTo(10);
    server.kill();
    assertFailsAtOnce();
    server.restart();
    await("recovered", () -> answers(coordinator.health()));
    assertThat(Heartbeats.beat(coordinator, "b", 1).share()).as("all are reserved for a").isZero();
    assertThat(Heartbeats.beat(coordinator, "a", 3).nodes()).isEqualTo(2);
    assertThat(listener.losses).isEmpty();
  }

  @Test
  void callsToAHangingServerFailAtOnceUntilItRecovers() {
    await("warm", () -> answers(coordinator.health()));
    server.hang();
    try {
      assertFailsAtOnce();
    } finally {
      server.goOn();
    }
    await("recovered", () -> answers(coordinator.heartbeat(Heartbeats.of("a", 1))));
    await("up", listener::isUp);
  }

  /** Asserts that only probes wait for the server once it is down. */
  private void assertFailsAtOnce() {
    await("down", () -> !answers(coordinator.health()) && !listener.isUp());
    int waited = 0;
    long begun = System.nanoTime();
    for (int i = 0; i < 100; i++) {
      CompletionStage<ShareGrant> asked = coordinator.heartbeat(Heartbeats.of("a", 2));
      waited += asked.toCompletableFuture().isCompletedExceptionally() ? 0 : 1;
    }
    long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun);
    assertThat((long) waited).as("in %d ms", millis).isLessThanOrEqualTo(millis / PROBE_MILLIS + 2);
  }
}
