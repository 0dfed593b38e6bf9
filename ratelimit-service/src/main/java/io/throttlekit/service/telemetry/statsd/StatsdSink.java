package io.throttlekit.service.telemetry.statsd;

import io.throttlekit.envoy.HostPort;
import io.throttlekit.service.config.StatsdConfig;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends statistics to a statsd server, as envoyproxy/ratelimit does: what counters have counted
 * since the last transfer, gauges, and response times as timers.
 *
 * <p>Requests only increment counters in memory. A transfer has a thread of its own and a timeout.
 * After one that failed, the next one sends what counters have counted since the last success; if a
 * connection broke in the midst of it, a part is counted twice. Thread-safe.
 */
public final class StatsdSink implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(StatsdSink.class);
  private static final Duration TIMEOUT = Duration.ofSeconds(3);

  private final StatsdConfig server;
  private final Duration timeout;
  private final StatsdReport report;
  private final TimerSamples times;
  private final ScheduledExecutorService timer;
  private @Nullable Thread transfer; // guarded by this
  private boolean failing; // guarded by this
  private volatile boolean started;

  /** Creates a sink that sends nothing before {@link #start}. */
  public StatsdSink(StatsdConfig server, StatsdSource source) {
    this(server, source, TIMEOUT);
  }

  StatsdSink(StatsdConfig server, StatsdSource source, Duration timeout) {
    this.server = server;
    this.timeout = timeout;
    this.report = new StatsdReport(source, server);
    this.times = new TimerSamples(bound -> ThreadLocalRandom.current().nextLong(bound));
    this.timer =
        Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("statsd").factory());
  }

  /** Returns what receives the response times, in ns; it does not block. */
  public LongConsumer responseTimes() {
    return times;
  }

  /** Begins to send. */
  public void start() {
    LOG.info(
        "statistics are sent to statsd at {} over {}",
        HostPort.text(server.host(), server.port()),
        server.protocol());
    started = true;
    long nanos = server.flushInterval().toNanos();
    var _ = timer.scheduleWithFixedDelay(this::flush, nanos, nanos, TimeUnit.NANOSECONDS);
  }

  /** Sends once, and waits for the end of the transfer or its timeout. */
  synchronized void flush() {
    Thread running = transfer;
    if (running != null && running.isAlive()) { // such as a lookup of the host that hangs
      failed("the last transfer has not ended");
      return;
    }
    try {
      List<String> lines = report.lines(times.take());
      FutureTask<Boolean> task =
          new FutureTask<>(() -> {
            StatsdTransfer.send(server, lines);
            return true;
          });
      transfer = Thread.ofVirtual().name("statsd-transfer").start(task);
      try {
        var _ = task.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
        transfer = null; // it may live a moment longer
        succeeded();
      } catch (ExecutionException e) {
        transfer = null;
        failed(String.valueOf(e.getCause()));
      } catch (TimeoutException _) {
        failed("timeout");
      } finally {
        task.cancel(true); // no effect after its end
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException e) { // would end the schedule
      failed(e.toString());
    }
  }

  private void succeeded() {
    report.succeeded();
    if (failing) {
      failing = false;
      LOG.info("statsd receives statistics again");
    }
  }

  private void failed(String why) {
    if (!failing) { // one line for each outage
      failing = true;
      LOG.warn(
          "no statistics sent to statsd at {}: {}; counters are sent later",
          HostPort.text(server.host(), server.port()),
          why);
    }
  }

  /** Sends a last time, and stops. */
  @Override
  public void close() {
    timer.shutdownNow();
    if (started) {
      flush();
    }
  }
}
