package io.throttlekit.bench.failover;

import io.throttlekit.TimeSource;
import io.throttlekit.testkit.envoy.ChildProcess;
import io.throttlekit.testkit.envoy.EnvoyProcess;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;

/**
 * One fault of one of several replicas, which all Envoys see at the same time: one Envoy for each
 * row of the table. Used once.
 */
final class FailoverRun implements AutoCloseable {
  private static final Pattern READY = Pattern.compile("(?m)^ready grpc=\\S+:(\\d+) ");
  private static final Duration MAX_START = Duration.ofMinutes(2);

  /** Answers in a row, from all replicas by turns, after which an Envoy is ready. */
  private static final int WARM = 200;

  private final TimeSource time = TimeSource.system();
  private final List<ChildProcess> replicas = new ArrayList<>();
  private final List<EnvoyProcess> envoys = new ArrayList<>();
  private final HttpClient http = HttpClient.newHttpClient();
  private final int perSecond;

  private FailoverRun(int perSecond) {
    this.perSecond = perSecond;
  }

  /**
   * Starts replicas and Envoys.
   *
   * @param drainDelay of the replicas
   * @param perSecond requests through each Envoy
   * @param timeout of the rate limit filter
   */
  static FailoverRun start(
      int replicas,
      Duration drainDelay,
      List<CallSettings> rows,
      Path envoy,
      int perSecond,
      Duration timeout,
      Path folder)
      throws IOException {
    FailoverRun run = new FailoverRun(perSecond);
    try {
      run.startReplicas(replicas, drainDelay, folder);
      StringBuilder endpoints = new StringBuilder();
      for (ChildProcess replica : run.replicas) {
        String port = replica.awaitLog(READY, MAX_START).group(1);
        endpoints.append(
            "              - endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: "
                + port
                + "}}}\n");
      }
      for (CallSettings row : rows) {
        Path own = Files.createDirectories(folder.resolve("envoy-" + run.envoys.size()));
        String bootstrap = bootstrap(row, timeout, endpoints.toString(), own.resolve("upstream"));
        run.envoys.add(EnvoyProcess.start(envoy, bootstrap, own));
      }
      return run;
    } catch (IOException | RuntimeException e) {
      run.close();
      throw e;
    }
  }

  /**
   * Returns the bootstrap of a row.
   *
   * @param endpoints of the replicas, as lines
   * @param upstream path of a socket of the Envoy itself
   */
  static String bootstrap(CallSettings row, Duration timeout, String endpoints, Path upstream)
      throws IOException {
    return text("envoy.yaml")
        .replace("@UPSTREAM@", upstream.toString())
        .replace("@TIMEOUT@", seconds(timeout))
        .replace("@RETRY@\n", row.retry().indent(26))
        .replace("@HALF@", seconds(timeout.dividedBy(2)))
        .replace("@CLUSTER@\n", row.cluster().indent(6))
        .replace("@REPLICAS@\n", endpoints);
  }

  private static String seconds(Duration duration) {
    return String.format(Locale.ROOT, "%.3fs", duration.toMillis() / 1e3);
  }

  private void startReplicas(int count, Duration drainDelay, Path folder) throws IOException {
    Path policy = Files.writeString(folder.resolve("policy.yaml"), text("policy.yaml"));
    for (int i = 0; i < count; i++) {
      replicas.add(
          ChildProcess.start(
              List.of(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "-XX:+UseSerialGC",
                  "-XX:TieredStopAtLevel=1",
                  "-Xmx128m",
                  "--enable-native-access=ALL-UNNAMED",
                  "-cp",
                  System.getProperty("java.class.path"),
                  "io.throttlekit.service.cli.Main",
                  "serve",
                  "--policies=" + policy,
                  "--grpc-port=0",
                  "--http-port=0",
                  "--debug-port=0"),
              Map.of(
                  "THROTTLEKIT_GRPC_HOST", "127.0.0.1",
                  "THROTTLEKIT_HTTP_HOST", "127.0.0.1",
                  "THROTTLEKIT_DEBUG_HOST", "127.0.0.1",
                  "THROTTLEKIT_GRPC_DRAIN_DELAY", drainDelay.toMillis() + "ms"),
              folder.resolve("replica-" + i + ".log")));
    }
  }

  /** Warms all Envoys up, and waits until each answers only refusals. */
  void warm() throws IOException, InterruptedException {
    for (EnvoyProcess envoy : envoys) {
      int inRow = 0;
      for (int sent = 0; inRow < WARM && sent < 10 * WARM; sent++) {
        int status = http.send(request(envoy), BodyHandlers.discarding()).statusCode();
        inRow = status == Passed.LIMITED ? inRow + 1 : 0;
      }
      if (inRow < WARM) {
        throw new IOException("an Envoy is not ready:\n" + envoy.log());
      }
    }
  }

  /**
   * Lets one replica fail after a third of the time, under a constant load.
   *
   * @return outcomes of each row
   */
  List<Passed> fail(ReplicaFault fault, Duration length) throws IOException, InterruptedException {
    int all = (int) (length.toMillis() * perSecond / 1_000);
    List<Passed> rows = new ArrayList<>();
    CountDownLatch answers = new CountDownLatch(all * envoys.size());
    for (EnvoyProcess _ : envoys) {
      rows.add(new Passed());
    }
    CountDownLatch third = new CountDownLatch(all / 3);
    try (ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor()) {
      AtomicInteger sent = new AtomicInteger();
      var ticks =
          clock.scheduleAtFixedRate(
              () -> {
                if (sent.getAndIncrement() >= all) {
                  return;
                }
                third.countDown();
                for (int i = 0; i < envoys.size(); i++) {
                  send(envoys.get(i), rows.get(i), answers);
                }
              },
              0,
              TimeUnit.SECONDS.toNanos(1) / perSecond,
              TimeUnit.NANOSECONDS);
      third.await();
      long failed = time.monotonicNanos();
      rows.forEach(row -> row.failedAt(failed));
      fault.begin(replicas.getFirst());
      if (!answers.await(2 * length.toMillis() + 30_000, TimeUnit.MILLISECONDS)) {
        throw new IOException(answers.getCount() + " requests are not answered");
      }
      ticks.cancel(false);
    }
    return rows;
  }

  private void send(EnvoyProcess envoy, Passed row, CountDownLatch answers) {
    long sent = time.monotonicNanos();
    var _ =
        http.sendAsync(request(envoy), BodyHandlers.discarding())
            .whenComplete((response, _) -> {
              row.answered(sent, response == null ? 0 : response.statusCode());
              answers.countDown();
            });
  }

  private static HttpRequest request(EnvoyProcess envoy) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + envoy.port() + "/")).build();
  }

  static String text(String name) throws IOException {
    try (InputStream file =
        Objects.requireNonNull(FailoverRun.class.getResourceAsStream(name), name)) {
      return new String(file.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Override
  public void close() {
    envoys.forEach(EnvoyProcess::close);
    for (ChildProcess replica : replicas) {
      try {
        replica.kill(); // also a suspended one
      } catch (IOException _) {
        // it has ended
      }
      replica.close();
    }
    http.close();
  }
}
