package io.throttlekit.service.concurrency;

import io.throttlekit.Scheduler;
import io.throttlekit.TimeSource;
import io.throttlekit.Wakeups;
import io.throttlekit.service.concurrency.release.ReleaseQueue;
import io.throttlekit.service.loop.LoopThread;
import io.throttlekit.share.ReleaseExchange;
import io.throttlekit.share.ReleaseExchange.Delivery;
import io.throttlekit.share.ReleaseExchange.Release;
import io.throttlekit.store.StoreException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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

  /** The most ids that are remembered, so that a repeated release takes no place again. */
  private static final int MAX_REMEMBERED = 20_000;

  /** Sender of releases that no connection sent. */
  private static final Object NO_CONNECTION = "none";

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
  private final ReleaseQueue waiting = new ReleaseQueue(MAX_WAITING);

  /** Ids of releases that were forwarded: each is forwarded once. */
  private final Map<String, Boolean> forwarded =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
          return size() > MAX_REMEMBERED;
        }
      };

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
      Scheduler timer,
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

  /**
   * Forwards a release to the process at the address; a second one with its id is stale.
   *
   * @param given whether the id was given, and not possibly invented
   */
  void forward(String recipient, ForwardedRelease sent, boolean given) {
    Release release = new Release(recipient, sent.text());
    boolean stopped;
    boolean repeated = false;
    Release dropped = null;
    boolean due = false;
    synchronized (this) {
      stopped = closed;
      if (!stopped) {
        repeated = given && forwarded.put(sent.id(), true) != null;
      }
      if (!stopped && !repeated) {
        int before = waiting.due();
        dropped =
            given
                ? waiting.add(LoopThread.connection(NO_CONNECTION), release)
                : waiting.addUnverified(release);
        if (dropped != null) {
          forget(dropped);
        }
        due = isDue(before, waiting.due());
      }
    }
    if (repeated) {
      listener.stale();
    } else if (stopped || dropped != null) {
      listener.dropped(stopped ? DroppedRelease.STOPPED : DroppedRelease.TOO_MANY_WAIT, 1);
    }
    if (due) {
      wake();
    }
  }

  /** Lets a release that was dropped be sent again. */
  private synchronized void forget(Release dropped) {
    ForwardedRelease sent = ForwardedRelease.of(dropped.text());
    if (sent != null) {
      forwarded.remove(sent.id());
    }
  }

  /** Returns whether the time of the next call changes as the queue grows. */
  private static boolean isDue(int before, int after) {
    return (before == 0 && after > 0)
        || (before < ReleaseExchange.MAX_BATCH && after >= ReleaseExchange.MAX_BATCH);
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
        lost = waiting.clear();
      }
      empty = waiting.size() == 0;
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
    if (moreToReceive || waiting.due() >= ReleaseExchange.MAX_BATCH) {
      return 0;
    }
    if (waiting.size() > 0) {
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
    List<Release> batch;
    int invented;
    long received;
    synchronized (this) {
      if (calling) {
        return;
      }
      calling = true;
      lastCallNanos = time.monotonicNanos();
      int before = waiting.size();
      batch = waiting.take(ReleaseExchange.MAX_BATCH, this::mayBeGiven);
      invented = before - waiting.size() - batch.size();
      received = receipt;
    }
    for (int i = 0; i < invented; i++) {
      listener.stale();
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

  /** Returns whether the key of its process, which may be known by now, permits the id. */
  private boolean mayBeGiven(Release release) {
    ForwardedRelease sent = ForwardedRelease.of(release.text());
    return sent != null && permits.mayBeGiven(sent.id());
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
      if (last) {
        dropped = batch.size() + waiting.clear();
      } else {
        List<Release> oldest = waiting.putBack(batch);
        oldest.forEach(this::forget);
        dropped = oldest.size();
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
