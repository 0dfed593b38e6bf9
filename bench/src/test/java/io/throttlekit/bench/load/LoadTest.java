package io.throttlekit.bench.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.bench.command.Bounds;
import io.throttlekit.bench.server.NoOpServer;
import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class LoadTest {
  private static final Duration LONG = Duration.ofMinutes(30);

  private final Requests requests = new Requests(100);
  private NoOpServer server;
  private Connections connections;

  @BeforeEach
  void start() throws IOException {
    server = NoOpServer.start(0);
    connections = new Connections(server.target(), 2);
  }

  @AfterEach
  void stop() {
    connections.close();
    server.close();
  }

  @Test
  void aClosedLoopStopsAfterItsRequests() throws InterruptedException {
    LoadResult result = new ClosedLoop(4).offer(connections, requests, new Bounds(1_000, LONG));
    assertThat(result.answers()).isEqualTo(1_000);
    assertThat(result.failed()).isZero();
    assertThat(result.refused()).isZero();
    assertThat(result.answersPerSecond().stream().mapToLong(Long::longValue).sum())
        .isEqualTo(1_000);
  }

  @Test
  void aClosedLoopStopsAfterItsTime() throws InterruptedException {
    LoadResult result =
        new ClosedLoop(4).offer(connections, requests, Bounds.lasting(Duration.ofMillis(300)));
    assertThat(result.answers()).isPositive();
    assertThat(result.elapsedNanos()).isGreaterThanOrEqualTo(300_000_000);
  }

  @Test
  void anOpenLoopSendsExactlyItsRate() throws InterruptedException {
    LoadResult result =
        new OpenLoop(500).offer(connections, requests, Bounds.lasting(Duration.ofSeconds(1)));
    assertThat(result.answers()).isEqualTo(500);
  }

  @Test
  void anOpenLoopStopsAfterItsRequests() throws InterruptedException {
    LoadResult result = new OpenLoop(10_000).offer(connections, requests, new Bounds(50, LONG));
    assertThat(result.answers()).isEqualTo(50);
  }

  @Test
  void loadOnAClosedServerFails() {
    server.close();
    assertThatThrownBy(
            () -> new ClosedLoop(1).offer(connections, requests, new Bounds(5_000, LONG)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("calls failed");
    assertThatThrownBy(
            () -> new OpenLoop(100_000).offer(connections, requests, new Bounds(5_000, LONG)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("calls failed");
  }

  @Test
  void aLoadIsBounded() {
    assertThatIllegalArgumentException().isThrownBy(() -> new Bounds(0, LONG));
    assertThatIllegalArgumentException().isThrownBy(() -> new Bounds(1, Duration.ZERO));
    assertThatIllegalArgumentException().isThrownBy(() -> new Bounds(1, Duration.ofHours(2)));
  }
}
