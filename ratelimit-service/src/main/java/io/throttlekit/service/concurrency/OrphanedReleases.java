package io.throttlekit.service.concurrency;

import io.throttlekit.Scheduler;
import io.throttlekit.TimeSource;
import io.throttlekit.service.concurrency.release.ProcessKeys;
import io.throttlekit.service.concurrency.release.ProcessKeys.Verification;
import io.throttlekit.share.ConcurrencyCoordinator;
import io.throttlekit.share.ReleaseExchange;
import io.throttlekit.share.ReleasedPermits;
import io.throttlekit.share.ShareGrant.Remnant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Counts the releases of permits whose process has died, so that what is reserved for it does not
 * stay until their TTL.
 *
 * <p>The answers to heartbeats name the processes whose lease has ended. While one is named, this
 * process takes the releases that wait for it in the exchange and that it has never received, every
 * 100 ms, and reports them to the coordinators of their limits. A release is reported once at most:
 * the exchange returns it once, and an answer that is lost is not repeated. See ADR 0013.
 *
 * <p>Thread-safe and non-blocking.
 */
final class OrphanedReleases {
  /** Time for which an answer that names a process is valid: more than two heartbeats. */
  private static final long NAMED_NANOS = TimeUnit.SECONDS.toNanos(3);

  /**
   * Time for which a release waits until its process is named in its limit, too: leases of the same
   * process end within two heartbeats of each other.
   */
  private static final long WAIT_NANOS = TimeUnit.SECONDS.toNanos(5);

  private static final long CLAIM_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** The most addresses and released ids that are remembered; the oldest are forgotten. */
  private static final int MAX_KEPT = 10_000;

  private final int ownProcess;
  private final ProcessKeys keys;
  private final TimeSource time;
  private final Scheduler timer;
  private final ConcurrencyListener listener;

  // Guarded by this.
  private final Map<Integer, String> addresses = bounded();

  /** Addresses in ids that may be invented. */
  private final Map<Integer, String> unverified = bounded();

  private final Map<String, Boolean> counted = bounded();
  private final Map<Share, Named> named = new HashMap<>();
  private final Map<Share, Waiting> waiting = new HashMap<>();
  private @Nullable ReleaseExchange exchange;
  private boolean running;

  /**
   * A limit that processes share.
   *
   * @param tag of the key
   * @param coordinator of its fleet
   */
  record SharedKey(String key, String tag, ConcurrencyCoordinator coordinator) {}

  /** The part of a process in a limit. */
  private record Share(String tag, int process) {}

  /** A process that is no member of a limit any more, by an answer at a time. */
  private record Named(SharedKey limit, long atNanos) {}

  /** Releases that are not reported yet, the first of which came at a time. */
  private record Waiting(int permits, long sinceNanos) {}

  OrphanedReleases(
      int ownProcess,
      ProcessKeys keys,
      TimeSource time,
      Scheduler timer,
      ConcurrencyListener listener) {
    this.ownProcess = ownProcess;
    this.keys = keys;
    this.time = time;
    this.timer = timer;
    this.listener = listener;
  }

  /** Returns the number of this process. */
  int process() {
    return ownProcess;
  }

  /** Takes releases through this exchange from now on. */
  void claimThrough(ReleaseExchange through) {
    synchronized (this) {
      exchange = through;
    }
    start();
  }

  /** Takes no releases from now on. */
  synchronized void stop() {
    exchange = null;
  }

  /**
   * Notes that a release was sent to a process, which may have died.
   *
   * @param given whether its id was given, and not possibly invented
   */
  synchronized void sent(int process, String address, boolean given) {
    (given ? addresses : unverified).put(process, address);
  }

  /** Notes the processes that are no members of the limit any more, by an answer. */
  void granted(SharedKey limit, List<Remnant> remnants) {
    if (remnants.isEmpty()) { // nearly always
      return;
    }
    long now = time.monotonicNanos();
    synchronized (this) {
      for (Remnant each : remnants) {
        int process = each.process();
        if (process != ownProcess) { // it takes its releases itself
          named.put(new Share(limit.tag(), process), new Named(limit, now));
        }
      }
    }
    start();
  }

  private void start() {
    synchronized (this) {
      if (running || exchange == null || named.isEmpty()) {
        return;
      }
      running = true;
    }
    claim();
  }

  private void claim() {
    List<String> of = new ArrayList<>();
    ReleaseExchange from;
    boolean ends;
    synchronized (this) {
      forget(time.monotonicNanos());
      from = exchange;
      ends = from == null || named.isEmpty();
      running = !ends; // once it is false, start() may begin another loop
      named.keySet().stream()
          .flatMap(share ->
              Stream.of(addresses, unverified)
                  .map(known -> known.get(share.process()))
                  .filter(address -> address != null))
          .distinct()
          .forEach(of::add);
    }
    if (from == null || ends) {
      return;
    }
    for (String address : of) {
      claim(from, address);
    }
    timer.runAfter(CLAIM_NANOS, this::claim);
  }

  private void claim(ReleaseExchange from, String address) {
    CompletionStage<List<String>> answer;
    try {
      answer = from.claim(address);
    } catch (RuntimeException e) { // a bug: must not end the loop
      listener.exchangeFailed(e.toString());
      return;
    }
    var _ =
        answer.whenComplete((texts, failure) -> {
          if (failure == null) {
            count(texts);
          } else {
            listener.exchangeFailed(failure.toString());
          }
        });
  }

  private void count(List<String> texts) {
    long now = time.monotonicNanos();
    synchronized (this) {
      for (String text : texts) {
        ForwardedRelease release = ForwardedRelease.of(text);
        PermitIds.Parts parts = release == null ? null : PermitIds.parts(release.id());
        if (release == null
            || parts == null
            || keys.verify(parts.address(), parts.text(), parts.signature()) == Verification.INVALID
            || counted.put(release.id(), true) != null) {
          continue;
        }
        for (String tag : parts.tags()) {
          waiting.merge(
              new Share(tag, parts.process()),
              new Waiting(1, now),
              (all, one) -> new Waiting(all.permits() + 1, all.sinceNanos()));
        }
      }
    }
    report();
  }

  /** Reports the releases of processes that are named in their limits. */
  private void report() {
    Map<SharedKey, List<ReleasedPermits>> due = new HashMap<>();
    synchronized (this) {
      named.forEach((share, by) -> {
        Waiting permits = waiting.remove(share);
        if (permits != null) {
          due.computeIfAbsent(by.limit(), _ -> new ArrayList<>())
              .add(new ReleasedPermits(by.limit().key(), share.process(), permits.permits()));
        }
      });
    }
    due.forEach((limit, all) -> all.forEach(each -> report(limit, each)));
  }

  private void report(SharedKey limit, ReleasedPermits released) {
    try {
      var _ =
          limit
              .coordinator()
              .released(released)
              .whenComplete((_, failure) -> {
                if (failure == null) {
                  listener.orphansReleased(released.permits());
                } else { // not repeated: it may have been counted
                  listener.exchangeFailed(failure.toString());
                }
              });
    } catch (RuntimeException e) { // a bug: must not keep the other releases
      listener.exchangeFailed(e.toString());
    }
  }

  /** Called with the lock. */
  private void forget(long nowNanos) {
    named.values().removeIf(by -> nowNanos - by.atNanos() > NAMED_NANOS);
    waiting.values().removeIf(each -> nowNanos - each.sinceNanos() > WAIT_NANOS);
  }

  private static <K, V> Map<K, V> bounded() {
    return new LinkedHashMap<>() {
      @Override
      protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
        return size() > MAX_KEPT;
      }
    };
  }
}
