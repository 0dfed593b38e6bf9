package io.throttlekit.service.warmup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.TimeSource;
import io.throttlekit.service.authz.CheckFrontEnd;
import io.throttlekit.service.config.ExtAuthzConfig;
import io.throttlekit.service.config.GrpcConfig;
import io.throttlekit.service.config.RequestDescriptor;
import io.throttlekit.service.config.RequestDescriptor.Entry;
import io.throttlekit.service.config.ServiceConfig;
import io.throttlekit.service.config.ServiceConfig.WarmUpConfig;
import io.throttlekit.service.config.TelemetryConfig;
import io.throttlekit.service.config.TlsConfig;
import io.throttlekit.service.config.load.ConfigLoader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.SocketTimeoutException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("slow")
class WarmUpTest {
  private static final ServiceConfig DEFAULTS = ConfigLoader.defaults();
  private static final Class<?> CHECKS = CheckFrontEnd.class;
  private static final Logger LOG = Logger.getLogger(WarmUp.class.getName());

  @TempDir private Path folder;

  private final CountDownLatch stopped = new CountDownLatch(1);
  private final Warnings warnings = new Warnings();

  @BeforeEach
  void listen() {
    LOG.addHandler(warnings);
  }

  @AfterEach
  void noWarningWasLogged() {
    LOG.removeHandler(warnings);
    assertThat(warnings.logged).isEmpty();
  }

  @Test
  void sendsTheConfiguredNumberOverSeveralServers() {
    assertThat(run(DEFAULTS, 0)).isZero();
    assertThat(run(DEFAULTS, 10_001)).isEqualTo(10_001);
  }

  @Test
  void sendsNothingOnceTheServiceStops() {
    stopped.countDown();
    assertThat(run(DEFAULTS, 300)).isZero();
  }

  @Test
  void endsAtItsTimeLimit() {
    AtomicLong nanos = new AtomicLong();
    long step = Duration.ofMillis(7).toNanos();
    TimeSource passing = new Time(() -> nanos.getAndAdd(step), () -> {});
    assertThat(
            new WarmUp(of(DEFAULTS.grpc(), DEFAULTS.telemetry(), 99_999), passing, stopped).run())
        .isBetween(1, 1_000);
  }

  @Test
  void moreRequestsThanUsualHaveALongerTimeLimit() {
    assertThat(WarmUp.longest(1)).isEqualTo(WarmUp.MAX_TIME);
    assertThat(WarmUp.longest(200_000)).isEqualTo(WarmUp.MAX_TIME.multipliedBy(4));
  }

  @Test
  void answersOfAnInterruptedRoundCount() {
    long shortlyBeforeTheEnd = WarmUp.MAX_TIME.minusMillis(300).toNanos();
    AtomicLong decisions = new AtomicLong();
    CountDownLatch oneSecond = new CountDownLatch(1);
    // Time stands still until the server is stuck, which is longer than the clients' read timeout,
    // and is over then.
    TimeSource stuck =
        new Time(
            () -> {
              if (decisions.get() <= 1_000) {
                return 0;
              }
              return oneSecond.getCount() > 0 ? shortlyBeforeTheEnd : WarmUp.MAX_TIME.toNanos();
            },
            () -> {
              if (decisions.incrementAndGet() > 1_000
                  && Thread.currentThread().getName().startsWith("grpc-loop")) {
                await(oneSecond);
              }
            });
    int answered =
        new WarmUp(of(DEFAULTS.grpc(), DEFAULTS.telemetry(), 9_000), stuck, stopped).run();
    assertThat(answered).as("of 9000, some without a decision").isBetween(100, 3_000);
  }

  @Test
  void opensNoListenerOfTheServiceAndReadsNoCertificate() throws Exception {
    Path path = folder.resolve("rl.sock");
    try (ServerSocketChannel unix = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        ServerSocket tcp = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      unix.bind(UnixDomainSocketAddress.of(path));
      unix.configureBlocking(false);
      Path none = folder.resolve("none.pem");
      TlsConfig tls = new TlsConfig(none, none, null, null);
      for (Path socket : new Path[] {path, null}) {
        GrpcConfig d = DEFAULTS.grpc();
        GrpcConfig taken =
            new GrpcConfig(
                "127.0.0.1",
                tcp.getLocalPort(),
                socket,
                tls,
                d.connectionAge(),
                d.keepAlive(),
                d.limits(),
                1,
                d.drain(),
                false);
        assertThat(run(of(taken, DEFAULTS.telemetry(), 100), 100)).isEqualTo(100);
      }
      assertThat(unix.accept()).as("no connection was attempted").isNull();
    }
    assertThat(Files.exists(path)).as("not removed").isTrue();
  }

  @Test
  void sendsNothingToTheCollectorOfTheService() throws Exception {
    try (ServerSocket collector = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      collector.setSoTimeout(1); // a connection would be in the queue by now
      ServiceConfig pushing =
          new ConfigLoader(
                  Map.of(
                      "THROTTLEKIT_TELEMETRY_OTLP_METRICS", "true",
                      "THROTTLEKIT_TELEMETRY_TRACING", "true",
                      "THROTTLEKIT_TELEMETRY_OTLP_ENDPOINT",
                          "http://127.0.0.1:" + collector.getLocalPort()))
              .load(Map.of("--policies", List.of("p")))
              .config();
      assertThat(run(of(DEFAULTS.grpc(), Objects.requireNonNull(pushing).telemetry(), 100), 100))
          .isEqualTo(100);
      assertThatThrownBy(collector::accept).isInstanceOf(SocketTimeoutException.class);
    }
  }

  @Test
  void sendsChecksIfTheServiceServesThem() {
    assertThat(checksDecided(null)).isZero();
    RequestDescriptor up =
        new RequestDescriptor(List.of(new Entry("up", new RequestDescriptor.Header("up"), null)));
    assertThat(checksDecided(new ExtAuthzConfig("d", List.of(up), false)))
        .as("a connection in five")
        .isBetween(40, 100);
  }

  /** Returns how many Checks of 300 requests reached the clock of the counters. */
  private int checksDecided(@Nullable ExtAuthzConfig authz) {
    AtomicInteger checks = new AtomicInteger();
    TimeSource watching =
        new Time(
            () -> 0,
            () -> {
              if (StackWalker.getInstance()
                  .walk(frames ->
                      frames.anyMatch(at -> at.getClassName().equals(CHECKS.getName())))) {
                checks.incrementAndGet();
              }
            });
    ServiceConfig config = of(DEFAULTS.grpc(), DEFAULTS.telemetry(), 300, authz);
    assertThat(new WarmUp(config, watching, stopped).run()).isEqualTo(300);
    return checks.get();
  }

  private int run(ServiceConfig config, int requests) {
    TimeSource still = new Time(() -> 0, () -> {}); // the end never comes, even on a slow machine
    return new WarmUp(of(config.grpc(), config.telemetry(), requests), still, stopped).run();
  }

  private static ServiceConfig of(GrpcConfig grpc, TelemetryConfig telemetry, int requests) {
    return of(grpc, telemetry, requests, null);
  }

  private static ServiceConfig of(
      GrpcConfig grpc, TelemetryConfig telemetry, int requests, @Nullable ExtAuthzConfig authz) {
    return new ServiceConfig(
        DEFAULTS.policies(),
        grpc,
        DEFAULTS.http(),
        DEFAULTS.debug(),
        null,
        DEFAULTS.store(),
        null,
        DEFAULTS.concurrency(),
        DEFAULTS.sensors(),
        DEFAULTS.response(),
        DEFAULTS.compatibility(),
        telemetry,
        DEFAULTS.health(),
        new WarmUpConfig(requests),
        authz);
  }

  private static void await(CountDownLatch latch) {
    try {
      var _ = latch.await(1, TimeUnit.SECONDS);
      latch.countDown();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** A clock that runs {@code look} whenever the wall clock is read. */
  private record Time(java.util.function.LongSupplier nanos, Runnable look) implements TimeSource {
    @Override
    public long wallMillis() {
      look.run();
      return 1_000_000;
    }

    @Override
    public long monotonicNanos() {
      return nanos.getAsLong();
    }
  }

  private static final class Warnings extends Handler {
    final List<String> logged = new ArrayList<>();

    @Override
    public void publish(LogRecord entry) {
      if (entry.getLevel().intValue() >= Level.WARNING.intValue()) {
        logged.add(entry.getMessage());
      }
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }
}
