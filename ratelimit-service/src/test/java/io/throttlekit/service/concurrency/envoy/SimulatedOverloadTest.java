package io.throttlekit.service.concurrency.envoy;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.throttlekit.ManualTime;
import io.throttlekit.envoy.xds.LimitServerSettings;
import io.throttlekit.service.concurrency.ConcurrencyListener;
import io.throttlekit.service.server.Book;
import io.throttlekit.simulator.concurrency.Course;
import io.throttlekit.simulator.concurrency.Plan;
import io.throttlekit.simulator.concurrency.Scenario;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The service steers Envoys in front of a simulated backend, by access logs that are flushed every
 * second. The backend has 10 workers of 80 ms, as in {@code bin/demo --overload}.
 */
class SimulatedOverloadTest {
  private static final long SEED = 1;
  private static final int CALM_SECONDS = 60;
  private static final int SECONDS = 120;
  private static final int COUNTED_SECONDS = 60;

  private static final LimitServerSettings SETTINGS =
      new LimitServerSettings(
          "concurrency_limits",
          1_000,
          Duration.ofSeconds(15),
          Duration.ofSeconds(1),
          Duration.ZERO);

  @ParameterizedTest(name = "at {0} times the capacity, seed " + SEED)
  @ValueSource(doubles = {0.8, 1, 1.05, 1.2, 2, 5})
  void requestsAreAnsweredInTimeAfterACalmMinute(double load) throws IOException {
    assertThatRequestsAreAnswered(workers(workers(Plan.empty(), CALM_SECONDS, 0.8), SECONDS, load));
  }

  @ParameterizedTest(name = "at {0} times the capacity, seed " + SEED)
  @ValueSource(doubles = {0.8, 1, 1.05, 1.2, 2, 5})
  void requestsAreAnsweredInTimeFromTheStart(double load) throws IOException {
    assertThatRequestsAreAnswered(workers(Plan.empty(), SECONDS, load));
  }

  private static void assertThatRequestsAreAnswered(Plan plan) throws IOException {
    ManualTime time = new ManualTime(0);
    String name = UUID.randomUUID().toString();
    ManagedChannel channel = InProcessChannelBuilder.forName(name).directExecutor().build();
    Server server = null;
    try (Steering steering =
        new Steering(
            time,
            SETTINGS,
            ReplicaMembership.alone(time, "only"),
            ConcurrencyListener.NONE,
            SteeringListener.NONE)) {
      InProcessServerBuilder builder = InProcessServerBuilder.forName(name).directExecutor();
      steering.services().forEach(builder::addService);
      server = builder.build().start();
      steering.follow(
          Book.of(
              """
              domain: shop
              descriptors:
                - {key: up, concurrency: {gate: envoy, cluster: up, min: 4, max: 100}}
              """));
      SimulatedEnvoys envoys = new SimulatedEnvoys(time, steering, channel);
      Course course =
          new Scenario("overload", "", plan, true, List.of()).play(envoys, envoys, SEED);
      int to = plan.seconds();
      int from = to - COUNTED_SECONDS;
      assertThat(course.goodput(from, to)).isGreaterThan(0.95);
      assertThat(course.limit(from, to)).isBetween(12.0, 45.0);
    } finally {
      channel.shutdownNow();
      if (server != null) {
        server.shutdownNow();
      }
    }
  }

  private static Plan workers(Plan plan, int seconds, double load) {
    return plan.then(seconds, load * 0.125, 10, 80, 0.5);
  }
}
