package io.throttlekit.envoy.ads;

import io.envoyproxy.envoy.service.discovery.v3.DiscoveryResponse;
import io.throttlekit.Scheduler;
import io.throttlekit.TimeSource;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A subscription to all resources of one type of a control plane, over one stream of the aggregated
 * discovery service.
 *
 * <p>After a stream has ended, {@link ReconnectBackoff} decides when the next one is opened; a
 * stream that lasted ends the growth of its pauses. The next stream begins with the version that
 * was accepted last. How responses are answered: {@link ConfigStream}.
 *
 * <p>Runs on a daemon thread of its own, which exists while there is something to do. Thread-safe.
 */
public final class ConfigSubscription implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ConfigSubscription.class);
  private static final int MAX_FAILURES = 1000; // no further one makes a pause longer

  private final SubscriptionSettings settings;
  private final ControlPlane controlPlane;
  private final ConfigListener listener;
  private final TimeSource time;
  private final Scheduler timer;
  private final RandomGenerator random;
  private final Executor executor;
  private final RejectionPauses rejections = new RejectionPauses();
  private volatile boolean closed;
  private @Nullable ConfigStream stream;
  private String acceptedVersion = "";
  private long openedNanos;
  private int failures;
  private String complaint = "";

  /**
   * Creates a subscription that is not started.
   *
   * @param listener called on the thread of the subscription
   * @param timer on any thread
   * @param random varies the pauses between attempts to connect
   */
  public ConfigSubscription(
      SubscriptionSettings settings,
      ControlPlane controlPlane,
      ConfigListener listener,
      TimeSource time,
      Scheduler timer,
      RandomGenerator random) {
    this(settings, controlPlane, listener, time, timer, random, oneThread());
  }

  /** With an executor that runs one task at a time. */
  ConfigSubscription(
      SubscriptionSettings settings,
      ControlPlane controlPlane,
      ConfigListener listener,
      TimeSource time,
      Scheduler timer,
      RandomGenerator random,
      Executor executor) {
    this.settings = settings;
    this.controlPlane = controlPlane;
    this.listener = listener;
    this.time = time;
    this.timer = timer;
    this.random = random;
    this.executor = executor;
  }

  /**
   * Connects, and from then on reconnects until {@link #close}. To be called once.
   *
   * @param version of the resources that are applied already, from an earlier process; empty for
   *     none
   */
  public void start(String version) {
    executor.execute(() -> {
      acceptedVersion = version;
      connect();
    });
  }

  /**
   * Ends the subscription without waiting. The listener is not called again, but a call may still
   * be in progress.
   */
  @Override
  public void close() {
    closed = true;
    executor.execute(() -> {
      if (stream != null) {
        stream.end("closed");
      }
    });
  }

  boolean isClosed() {
    return closed;
  }

  RejectionPauses rejections() {
    return rejections;
  }

  long nowNanos() {
    return time.monotonicNanos();
  }

  /** Runs a task on the thread of the subscription, in {@code nanos} from now. */
  void later(long nanos, Runnable task) {
    timer.runAfter(nanos, () -> executor.execute(task));
  }

  void connected() {
    complaint = "";
    LOG.info("control plane {}: connected", controlPlane);
    call(listener::connected);
  }

  /** Returns what is wrong with a response, which the listener decides; empty if it is accepted. */
  Optional<String> evaluate(DiscoveryResponse response) {
    String version = response.getVersionInfo();
    Optional<String> mistakes;
    try {
      mistakes = listener.received(version, response.getResourcesList());
    } catch (RuntimeException e) { // a defect, which may not occur again
      complain("defect", "version '" + version + "' could not be applied", e);
      return Optional.of("internal error");
    }
    if (mistakes.isEmpty()) {
      acceptedVersion = version;
    }
    return mistakes;
  }

  /** Logs a line, unless the last one on the same connection was of this kind. */
  void complain(String kind, String text, @Nullable Throwable cause) {
    if (!kind.equals(complaint)) {
      complaint = kind;
      LOG.warn("control plane {}: {}", controlPlane, PeerText.line(text), cause);
    }
  }

  /** Called once by the stream that is open. */
  void ended(boolean responded, String reason) {
    stream = null;
    if (closed) {
      return;
    }
    ReconnectBackoff backoff = settings.backoff();
    // A control plane without resources is silent for a long time, which is no failure either.
    Duration lasting = responded ? backoff.lost() : backoff.max();
    if (nowNanos() - openedNanos >= lasting.toNanos()) {
      failures = 0;
    }
    long pause = backoff.pauseNanos(responded, failures, random);
    failures = Math.min(failures + 1, MAX_FAILURES);
    later(pause, this::connect);
    complain(reason, "no connection, further attempts follow: " + reason, null);
    call(() -> listener.disconnected(reason));
  }

  private void connect() {
    if (closed) {
      return;
    }
    openedNanos = nowNanos();
    ConfigStream opened = new ConfigStream(this, settings, acceptedVersion);
    stream = opened;
    try {
      opened.open(controlPlane.open(executor));
    } catch (IOException | RuntimeException e) {
      opened.end(PeerText.line(e.getMessage() == null ? e.toString() : e.getMessage()));
    }
  }

  private void call(Runnable notification) {
    if (closed) {
      return;
    }
    try {
      notification.run();
    } catch (RuntimeException e) {
      LOG.error("a listener of the control plane failed", e);
    }
  }

  /** Returns an executor that needs no shutdown: a channel may still use it after the end. */
  private static Executor oneThread() {
    return new ThreadPoolExecutor(
        0,
        1,
        1,
        TimeUnit.SECONDS,
        new LinkedBlockingQueue<>(),
        Thread.ofPlatform().daemon().name("control-plane").factory());
  }
}
