package io.throttlekit.demo.overload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.channel.EventLoopGroup;
import io.throttlekit.TimeSource;
import io.throttlekit.demo.Undo;
import io.throttlekit.demo.load.Capacity;
import io.throttlekit.demo.load.Course;
import io.throttlekit.demo.load.Course.Figures;
import io.throttlekit.demo.load.OpenLoad;
import io.throttlekit.simulator.concurrency.Chance;
import io.throttlekit.testkit.envoy.EnvoyProgram;
import io.throttlekit.testkit.envoy.RealEnvoy;
import io.throttlekit.testkit.net.EventLoops;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Offers an upstream behind a real Envoy its capacity and more, until the service limits it. The
 * goodput is measured by {@code bin/bench overload}, and tested in the simulation.
 */
@RealEnvoy
class OverloadPhaseTest {
  private static final Capacity CAPACITY = Capacity.USUAL;
  private static final Duration TIMEOUT = Duration.ofSeconds(1);
  private static final int SECONDS = 3_600; // longer than the test may take
  private static final long SEED = 1;

  @TempDir private Path folder;
  private final Undo started = new Undo();
  private final TimeSource time = TimeSource.system();

  @AfterEach
  void stop() throws IOException {
    started.close();
  }

  @ParameterizedTest(name = "at {0} times the capacity")
  @ValueSource(doubles = {1, 1.05, 2})
  void theServiceLimitsTheUpstreamByItsSensors(double times) throws Exception {
    EventLoopGroup loops = EventLoops.of(2);
    started.push(() -> loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly());
    Arm.Setting setting =
        new Arm.Setting(
            EnvoyProgram.path(), CAPACITY, TIMEOUT, SEED, loops.next(), loops.next(), time);
    Course course = new Course(SECONDS, CAPACITY.deadline(), TIMEOUT);
    Arm arm = Arm.start(Limiter.OURS, setting, course, folder, started);
    OpenLoad load =
        new OpenLoad(
            setting.clients(),
            new Chance(SEED, 1),
            SECONDS,
            _ -> times * CAPACITY.perSecond(),
            arm::send,
            TIMEOUT,
            time);
    load.start(time.monotonicNanos());
    started.push(load::stop);
    await()
        .untilAsserted(() -> {
          arm.look(0);
          Figures figures = course.figures(0, SECONDS);
          assertThat(figures.limit().orElseThrow()).isBetween(4, Limiter.HIGHEST - 1);
          if (times > 1.5) { // at the capacity, a queue may have room for what is too much
            assertThat(figures.refused()).isPositive();
          }
          assertThat(figures.good()).isPositive();
        });
  }
}
