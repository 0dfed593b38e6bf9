package io.throttlekit.service.concurrency;

import io.throttlekit.TimeSource;
import io.throttlekit.Timer;
import io.throttlekit.Wakeups;
import io.throttlekit.share.ReleaseExchange;
import io.throttlekit.share.ReleaseExchange.Delivery;
import io.throttlekit.share.ReleaseExchange.Release;
import io.throttlekit.store.StoreException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/**
 * Forwards releases that reached this process to the processes of their permits, and ends the
 * permits whose releases reached another process.
 *
 * <p>One call of the exchange at a time does both. It is made 20 ms after the last one while
 * releases wait, 50 ms after it while a permit is open, and otherwise only every 3 minutes, so that
 * the exchange knows this process. So a release takes effect within 70 ms and two round trips. A
 * failed call is repeated with the releases that were in it: they may arrive twice, and end nothing
 * twice.
 *
 * <p>Thread-safe and non-blocking; permits are ended and the listener is notified without a lock.
 */
public final class ReleaseForwarder implements AutoCloseable {
  /** The most releases that wait: more than a second of them means that the store is away. */
  static final int MAX_WAITING = 10_000;

  private static final long SEND_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  /** Less than a third of the time for which the exchange knows a process. */
  private static final long RENEW_NANOS = TimeUnit.MINUTES.toNanos(3);

  private static final long FIRST_RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
  private static final long MAX_RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long RESOLUTION_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  private final String address;
  private final RequestPermits permits;
  private final ReleaseExchange exchange;
  private final TimeSource time;
  private final ConcurrencyListener listener;
  private final Wakeups wakeups;
  private final CompletableFuture<Boolean> closing = new CompletableFuture<>();
  private final CompletableFuture<Boolean> ended = new CompletableFuture<>();

  // Guarded by this.
  private final Deque<Release> waiting = new ArrayDeque<>();
  private boolean started;
  private boolean calling;
  private boolean closed;
  private long receipt = Delivery.NO_RECEIPT;
  private long lastCallNanos;

  /** Wait before the next call after a failure; 0 after a success. */
  private long retryNanos;

  /** Whether more than one batch waited for this process at the last call. */
  private boolean moreToReceive;

  /**
   * Creates a forwarder.
   *
   * @param address of this process
   * @param timer follows {@code time}
   */
  ReleaseForwarder(
      String address,
      RequestPermits permits,
      ReleaseExchange exchange,
      TimeSource time,
      Timer timer,
      ConcurrencyListener listener) {
    this.address = address;
    this.permits = permits;
    this.exchange = exchange;
    this.time = time;
    this.listener = listener;
    this.wakeups = new Wakeups(timer, RESOLUTION_NANOS, this::callIfDue);
    this.lastCallNanos = time.monotonicNanos();
  }

  /** Begins to call the exchange, which makes the process known to it. */
  void start() {
    synchronized (this) {
      if (closed) {
        return;
      }
      started = true;
    }
    call();
  }

  /** Forwards a release to the process at the address. */
  void forward(String recipient, ForwardedRelease forwarded) {
    Release release = new Release(recipient, forwarded.text());
    boolean stopped;
    boolean added = false;
    boolean due;
    synchronized (this) {
      stopped = closed;
      if (!stopped && waiting.size() < MAX_WAITING) {
        added = waiting.add(release);
      }
      due = waiting.size() == 1 || waiting.size() == ReleaseExchange.MAX_BATCH;
    }
    if (!added) {
      listener.dropped(stopped ? DroppedRelease.STOPPED : DroppedRelease.TOO_MANY_WAIT, 1);
    } else if (due) {
      wake();
    }
  }

  /** Makes the calls again that receive releases. */
  void poll() {
    wake();
  }

  /** Completes when this is closed, before the last releases are sent. */
  CompletionStage<?> closed() {
    return closing;
  }

  /** Completes after {@link #close} when nothing waits. */
  public CompletionStage<?> ended() {
    return ended;
  }

  /**
   * Sends the releases that wait, without repeating a call that fails. Later releases are dropped.
   */
  @Override
  public void close() {
    closing.complete(true);
    synchronized (this) {
      closed = true;
      if (calling) {
        return; // continues at its end
      }
    }
    flush();
  }

  private void flush() {
    int lost = 0;
    boolean empty;
    synchronized (this) {
      if (!started) { // never connected
        lost = waiting.size();
        waiting.clear();
      }
      empty = waiting.isEmpty();
    }
    if (lost > 0) {
      listener.dropped(DroppedRelease.STOPPED, lost);
    }
    if (empty) {
      ended.complete(true);
    } else {
      call();
    }
  }

  /** Sets the timer for the next call. */
  private void wake() {
    long now = time.monotonicNanos();
    long due;
    synchronized (this) {
      if (!started || calling || closed) {
        return;
      }
      due = lastCallNanos + pauseNanos();
    }
    wakeups.by(due, now);
  }

  /** Returns the time from the last call to the next one. */
  private synchronized long pauseNanos() {
    if (retryNanos > 0) {
      return retryNanos;
    }
    if (moreToReceive || waiting.size() >= ReleaseExchange.MAX_BATCH) {
      return 0;
    }
    if (!waiting.isEmpty()) {
      return SEND_NANOS;
    }
    return permits.awaitsRelease() ? POLL_NANOS : RENEW_NANOS;
  }

  private void callIfDue() {
    boolean due;
    synchronized (this) {
      if (calling || closed) {
        return;
      }
      due = time.monotonicNanos() - lastCallNanos >= pauseNanos();
    }
    if (due) {
      call();
    } else {
      wake();
    }
  }

  private void call() {
    List<Release> batch = new ArrayList<>();
    long received;
    synchronized (this) {
      if (calling) {
        return;
      }
      calling = true;
      lastCallNanos = time.monotonicNanos();
      while (!waiting.isEmpty() && batch.size() < ReleaseExchange.MAX_BATCH) {
        batch.add(waiting.removeFirst());
      }
      received = receipt;
    }
    CompletionStage<Delivery> answer;
    try {
      answer = exchange.exchange(address, received, batch);
    } catch (RuntimeException e) { // a bug: must not end the loop
      answer = CompletableFuture.failedStage(e);
    }
    var _ =
        answer.whenComplete((delivery, failure) -> {
          if (failure == null) {
            answered(batch, delivery);
          } else {
            failed(batch, failure);
          }
        });
  }

  private void answered(List<Release> batch, Delivery delivery) {
    try {
      delivery.releases().forEach(this::end);
      report(batch, delivery);
    } finally {
      synchronized (this) {
        receipt = delivery.receipt();
        moreToReceive = delivery.releases().size() >= ReleaseExchange.MAX_BATCH;
        retryNanos = 0;
      }
      next();
    }
  }

  private void report(List<Release> batch, Delivery delivery) {
    int forwarded = Math.toIntExact(batch.size() - delivery.unknown());
    if (forwarded > 0) {
      listener.forwarded(forwarded);
    }
    for (long i = 0; i < delivery.unknown(); i++) {
      listener.stale(); // their processes have ended, or never existed
    }
    if (delivery.dropped() > 0) {
      listener.dropped(DroppedRelease.QUEUE_FULL, delivery.dropped());
    }
    if (!delivery.releases().isEmpty()) {
      listener.received(delivery.releases().size());
    }
  }

  private void end(String text) {
    ForwardedRelease release = ForwardedRelease.of(text);
    if (release == null) {
      listener.stale();
      return;
    }
    try {
      permits.forwarded(release);
    } catch (RuntimeException e) { // a bug: must not keep the other permits open
      listener.exchangeFailed(e.toString());
    }
  }

  private void failed(List<Release> batch, Throwable failure) {
    listener.exchangeFailed(String.valueOf(StoreException.of(failure).getMessage()));
    int dropped;
    boolean last;
    synchronized (this) {
      last = closed;
      int room = last ? 0 : MAX_WAITING - waiting.size();
      dropped = Math.max(0, batch.size() - room);
      // in their order, before the later ones; without the oldest, which may have expired
      for (int i = batch.size() - 1; i >= dropped; i--) {
        waiting.addFirst(batch.get(i));
      }
      if (last) {
        dropped += waiting.size();
        waiting.clear();
      }
      retryNanos = Math.clamp(2 * retryNanos, FIRST_RETRY_NANOS, MAX_RETRY_NANOS);
    }
    if (dropped > 0) {
      listener.dropped(last ? DroppedRelease.STOPPED : DroppedRelease.TOO_MANY_WAIT, dropped);
    }
    next();
  }

  private void next() {
    boolean flushing;
    synchronized (this) {
      calling = false;
      flushing = closed;
    }
    if (flushing) {
      flush();
    } else {
      wake();
    }
  }
}
