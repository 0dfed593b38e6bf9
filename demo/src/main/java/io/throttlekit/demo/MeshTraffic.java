package io.throttlekit.demo;

import io.throttlekit.TimeSource;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.Phaser;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.IntToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Sends requests to the Envoy of each region at its rate, evenly spaced, independent of responses.
 */
final class MeshTraffic implements AutoCloseable {
  private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(5); // < 1 request a tick
  private static final Duration TIMEOUT = Duration.ofSeconds(30);

  private final List<URI> envoys;
  private final IntToDoubleFunction rate;
  private final Receiver receiver;
  private final TimeSource time;
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final double[] due;
  private final Phaser underWay = new Phaser(1);
  private final ScheduledExecutorService clock =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().daemon().name("traffic").factory());
  private long lastNanos;

  /** Receives each response, on any thread. */
  @FunctionalInterface
  interface Receiver {
    /**
     * Called for a response.
     *
     * @param sentNanos before the request was sent, on this process's monotonic clock
     * @param answeredNanos after the response was received
     * @param resetSeconds as {@link MeshAnswer#resetSeconds}
     */
    void answered(int region, Answer answer, long sentNanos, long answeredNanos, long resetSeconds);
  }

  /**
   * @param rate current requests per second of a region
   */
  MeshTraffic(List<URI> envoys, IntToDoubleFunction rate, Receiver receiver, TimeSource time) {
    this.envoys = List.copyOf(envoys);
    this.rate = rate;
    this.receiver = receiver;
    this.time = time;
    this.due = new double[envoys.size()];
  }

  void start() {
    lastNanos = time.monotonicNanos();
    var _ = clock.scheduleWithFixedDelay(this::tick, TICK_NANOS, TICK_NANOS, TimeUnit.NANOSECONDS);
  }

  private void tick() {
    long now = time.monotonicNanos();
    double seconds = (now - lastNanos) / 1e9;
    lastNanos = now;
    for (int region = 0; region < due.length; region++) {
      due[region] += rate.applyAsDouble(region) * seconds;
      for (; due[region] >= 1; due[region]--) {
        send(region);
      }
    }
  }

  private void send(int region) {
    HttpRequest request = HttpRequest.newBuilder(envoys.get(region)).timeout(TIMEOUT).build();
    underWay.register();
    long sent = time.monotonicNanos();
    CompletableFuture<HttpResponse<Void>> response =
        client.sendAsync(request, BodyHandlers.discarding());
    var _ =
        response.whenComplete((answer, _) -> {
          long answered = time.monotonicNanos();
          receiver.answered(region, answer(answer), sent, answered, resetSeconds(answer));
          underWay.arriveAndDeregister();
        });
  }

  private static Answer answer(@Nullable HttpResponse<Void> response) {
    return switch (response == null ? 0 : response.statusCode()) {
      case 200 -> Answer.ALLOWED;
      case 429 -> Answer.LIMITED;
      default -> Answer.FAILED;
    };
  }

  private static long resetSeconds(@Nullable HttpResponse<Void> response) {
    String reset =
        response == null ? "" : response.headers().firstValue("x-ratelimit-reset").orElse("");
    return reset.matches("[0-9]{1,9}") ? Long.parseLong(reset) : -1;
  }

  /** Stops sending, and waits for outstanding responses. */
  void finish() throws InterruptedException {
    clock.shutdown();
    boolean _ = clock.awaitTermination(1, TimeUnit.SECONDS);
    try {
      underWay.awaitAdvanceInterruptibly(
          underWay.arrive(), 2 * TIMEOUT.toSeconds(), TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      throw new IllegalStateException("requests that end after " + TIMEOUT + " do not end", e);
    }
  }

  @Override
  public void close() {
    clock.shutdownNow();
    client.shutdownNow();
    client.close();
  }
}
