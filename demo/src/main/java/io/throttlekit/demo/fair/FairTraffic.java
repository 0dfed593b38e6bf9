package io.throttlekit.demo.fair;

import io.throttlekit.TimeSource;
import io.throttlekit.demo.fair.FairPlan.Tenant;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Sends the requests of all tenants to Envoy, evenly spaced, independent of responses. Sends
 * nothing at the end of a second, so that a request is decided in the window in which it was sent.
 */
final class FairTraffic implements AutoCloseable {
  private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(5);
  private static final Duration TIMEOUT = Duration.ofSeconds(30);

  /** The part of a second in which requests are sent. */
  private static final long SENDING_MILLIS = 920;

  private final URI uri;
  private final FairTally tally;
  private final TimeSource time;
  private final long startMillis;
  private final double[] due = new double[FairPlan.TENANTS.size()];
  private final AtomicBoolean stopped = new AtomicBoolean();
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final ScheduledExecutorService clock =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().daemon().name("traffic").factory());
  private long lastMillis;

  /**
   * @param startMillis when the first second begins, on the wall clock
   */
  FairTraffic(URI uri, FairTally tally, TimeSource time, long startMillis) {
    this.uri = uri;
    this.tally = tally;
    this.time = time;
    this.startMillis = startMillis;
    this.lastMillis = startMillis;
  }

  void start() {
    var _ = clock.scheduleWithFixedDelay(this::tick, 0, TICK_NANOS, TimeUnit.NANOSECONDS);
  }

  private void tick() {
    long now = time.wallMillis();
    if (now <= lastMillis) {
      return;
    }
    double seconds = (double) (sendingUntil(now) - sendingUntil(lastMillis)) / SENDING_MILLIS;
    lastMillis = now;
    int second = second(now);
    for (int tenant = 0; tenant < due.length; tenant++) {
      due[tenant] += FairPlan.perSecond(FairPlan.TENANTS.get(tenant), second) * seconds;
      for (; due[tenant] >= 1; due[tenant]--) {
        send(second, tenant);
      }
    }
  }

  private int second(long wallMillis) {
    return (int) ((wallMillis - startMillis) / 1_000);
  }

  /** Returns the ms since the start in which requests were sent. */
  private long sendingUntil(long now) {
    long millis = now - startMillis;
    return millis / 1_000 * SENDING_MILLIS + Math.min(millis % 1_000, SENDING_MILLIS);
  }

  private void send(int second, int tenant) {
    tally.sent(second, tenant);
    var _ =
        client
            .sendAsync(request(uri, tenant), BodyHandlers.discarding())
            .whenComplete((response, _) -> {
              if (!stopped.get()) { // requests aborted at the end have not failed
                answered(second, tenant, response);
              }
            });
  }

  private void answered(int second, int tenant, @Nullable HttpResponse<Void> response) {
    long limit = limit(response);
    if (limit >= 0) {
      tally.limit(second, tenant, limit);
    }
    int status = response == null ? 0 : response.statusCode();
    tally.answered(second, second(time.wallMillis()), tenant, status);
  }

  /** Returns a request of a tenant. */
  static HttpRequest request(URI uri, int tenant) {
    Tenant from = FairPlan.TENANTS.get(tenant);
    return HttpRequest.newBuilder(uri)
        .header("x-org", from.org())
        .header("x-plan", from.plan())
        .timeout(TIMEOUT)
        .build();
  }

  /** Returns the number at the beginning of {@code x-ratelimit-limit: 40, 40;w=1}; else -1. */
  static long limit(@Nullable HttpResponse<?> response) {
    String header =
        response == null ? "" : response.headers().firstValue("x-ratelimit-limit").orElse("");
    String first = header.split(",", -1)[0].strip();
    return first.matches("[0-9]{1,9}") ? Long.parseLong(first) : -1;
  }

  @Override
  public void close() {
    stopped.set(true);
    clock.shutdownNow();
    client.shutdownNow();
    client.close();
  }
}
