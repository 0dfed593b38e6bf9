package io.throttlekit.service.concurrency.envoy;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.throttlekit.ManualTime;
import io.throttlekit.TimeSource;
import io.throttlekit.envoy.xds.FakeEnvoy;
import io.throttlekit.envoy.xds.LimitServerSettings;
import io.throttlekit.service.concurrency.ConcurrencyListener;
import io.throttlekit.service.concurrency.sensors.Readings;
import io.throttlekit.service.server.Book;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Reports of requests that are not in flight, in simulated time. */
class HostileReportsTest {
  private static final long MILLI = 1_000_000L;
  private static final List<String> HONEST = List.of("a", "b", "c", "d");

  private static final LimitServerSettings AT_ONCE =
      new LimitServerSettings(
          "concurrency_limits",
          1_000,
          Duration.ofSeconds(15),
          Duration.ofSeconds(1),
          Duration.ZERO);

  /** Behaviour of a fifth Envoy beside four with low load. */
  private enum HostileEnvoy {
    IDLE,
    USES_ITS_SHARE,
    REPORTS_2_TO_THE_30,
    THE_SAME_ON_TWO_STREAMS,
    THE_SAME_WITH_AN_INVENTED_ID,
    LOGS_ENDLESS_REQUESTS_OF_AN_INVENTED_ID
  }

  /**
   * The limit and the requests in flight after each half second.
   *
   * @param most maximum of requests in flight at any time
   */
  private record Course(List<Integer> limits, int most) {}

  @ParameterizedTest
  @ValueSource(strings = {"probed_vegas", "gradient2", "vegas", "aimd", "failsafe"})
  void aReportBeyondAShareCountsAsTheShare(String algorithm) throws IOException {
    Course busy = course(algorithm, HostileEnvoy.USES_ITS_SHARE);
    for (HostileEnvoy hostile :
        List.of(HostileEnvoy.REPORTS_2_TO_THE_30, HostileEnvoy.THE_SAME_ON_TWO_STREAMS)) {
      Course course = course(algorithm, hostile);
      assertThat(course.limits()).as("%s", hostile).isEqualTo(busy.limits());
      assertThat(course.most()).as("%s", hostile).isEqualTo(busy.most());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"probed_vegas", "gradient2", "vegas", "aimd", "failsafe"})
  void reportsOfAnEnvoyWithoutAShareAreIgnored(String algorithm) throws IOException {
    Course idle = course(algorithm, HostileEnvoy.IDLE);
    for (HostileEnvoy hostile :
        List.of(
            HostileEnvoy.THE_SAME_WITH_AN_INVENTED_ID,
            HostileEnvoy.LOGS_ENDLESS_REQUESTS_OF_AN_INVENTED_ID)) {
      assertThat(course(algorithm, hostile)).as("%s", hostile).isEqualTo(idle);
    }
  }

  private static Course course(String algorithm, HostileEnvoy fifth) throws IOException {
    ManualTime time = new ManualTime(0);
    List<Integer> limits = new ArrayList<>();
    int most = 0;
    String name = UUID.randomUUID().toString();
    ManagedChannel channel = InProcessChannelBuilder.forName(name).directExecutor().build();
    try (Steering steering = alone(time)) {
      InProcessServerBuilder builder = InProcessServerBuilder.forName(name).directExecutor();
      steering.services().forEach(builder::addService);
      Server server = builder.build().start();
      steering.follow(
          Book.of(
              """
              domain: shop
              descriptors:
                - {key: up, concurrency: {gate: envoy, cluster: up, algorithm: %s, min: 4, max: 10000, initial: 60}}
              """
                  .formatted(algorithm)));
      List<FakeEnvoy> envoys = new ArrayList<>();
      HONEST.forEach(node -> envoys.add(FakeEnvoy.connect(channel, node)));
      FakeEnvoy last = FakeEnvoy.connect(channel, "e");
      envoys.add(last);
      envoys.forEach(FakeEnvoy::obeyAll);
      for (int half = 0; half < 60; half++) {
        time.advance(500);
        long now = time.monotonicNanos();
        for (String node : HONEST) {
          steering.reported(node, 1, Readings.load(2, 50), now);
        }
        report(steering, fifth, last.share("up"), now);
        most = Math.max(most, inFlight(steering));
        for (int request = 0; request < 50; request++) {
          for (String node : HONEST) {
            steering.ended(node, Readings.answered(20 * MILLI), now - 20 * MILLI, now);
          }
        }
        steering.tick();
        envoys.forEach(FakeEnvoy::obeyAll);
        limits.add(envoys.stream().mapToInt(envoy -> envoy.share("up")).sum());
      }
      server.shutdownNow();
    } finally {
      channel.shutdownNow();
    }
    return new Course(limits, most);
  }

  private static void report(Steering steering, HostileEnvoy fifth, int share, long now) {
    switch (fifth) {
      case IDLE -> steering.reported("e", 5, Readings.load(0, 0), now);
      case USES_ITS_SHARE -> steering.reported("e", 5, Readings.load(share, 0), now);
      case REPORTS_2_TO_THE_30 -> steering.reported("e", 5, Readings.load(1 << 30, 0), now);
      case THE_SAME_ON_TWO_STREAMS -> {
        steering.reported("e", 5, Readings.load(1 << 30, 0), now);
        steering.reported("e", 6, Readings.load(1 << 30, 0), now);
      }
      case THE_SAME_WITH_AN_INVENTED_ID -> {
        steering.reported("e", 5, Readings.load(0, 0), now);
        steering.reported("invented", 6, Readings.load(1 << 30, 0), now);
      }
      case LOGS_ENDLESS_REQUESTS_OF_AN_INVENTED_ID -> {
        steering.reported("e", 5, Readings.load(0, 0), now);
        steering.ended("invented", Readings.REFUSED, now, now);
      }
    }
  }

  private static int inFlight(Steering steering) {
    List<Integer> seen = new ArrayList<>();
    steering.forEach((_, figures) -> seen.add(figures.inFlight()));
    return seen.getFirst();
  }

  private static Steering alone(TimeSource time) {
    return new Steering(
        time,
        AT_ONCE,
        ReplicaMembership.alone(time, "only"),
        ConcurrencyListener.NONE,
        SteeringListener.NONE);
  }
}
