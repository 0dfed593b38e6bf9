package io.throttlekit.service.concurrency;

import io.throttlekit.Scheduler;
import io.throttlekit.TimeSource;
import io.throttlekit.Wakeups;
import io.throttlekit.descriptors.policy.ConcurrencyRule.LeaseTerms;
import io.throttlekit.descriptors.policy.ConcurrencyRule.Release;
import io.throttlekit.service.concurrency.release.ProcessKeys;
import io.throttlekit.service.concurrency.release.ProcessKeys.Verification;
import io.throttlekit.share.ReleaseExchange;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedCollection;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The open permits of requests. A permit stays in the table until the first event that may end it
 * removes it; later events find none and end nothing.
 *
 * <p>Permits with one TTL expire in the order in which they were created, so only the head of each
 * such queue is checked. Thread-safe; permits are ended and the listener is notified without a
 * lock.
 */
public final class RequestPermits {
  // 10 ms: permits that expire close together share one timer
  private static final long RESOLUTION_NANOS = 10_000_000;

  /** Clocks of two hosts differ in their rates by less than one in so many. */
  private static final int CLOCKS_DIFFER_ONE_IN = 100;

  private final TimeSource time;
  private final Scheduler timer;
  private final ConcurrencyListener listener;
  private final int maxPermits;
  private final PermitIds ids;
  private final ProcessKeys keys;
  private final OrphanedReleases orphans;

  // Guarded by this.
  private final Map<String, RequestPermit> byId = new HashMap<>();
  private final Map<Long, LinkedHashMap<String, RequestPermit>> byTtl = new HashMap<>();
  private final Wakeups wakeups;

  private volatile @Nullable ReleaseForwarder forwarder;

  /**
   * Creates a table of at most {@code maxPermits} permits.
   *
   * @param timer follows {@code time}
   */
  RequestPermits(TimeSource time, Scheduler timer, ConcurrencyListener listener, int maxPermits) {
    this.time = time;
    this.timer = timer;
    this.wakeups = new Wakeups(timer, RESOLUTION_NANOS, this::expire);
    this.listener = listener;
    this.maxPermits = maxPermits;
    this.ids = new PermitIds(time.wallMillis());
    this.keys = new ProcessKeys(ids.address(), ids.signer(), time, timer, listener::exchangeFailed);
    this.orphans = new OrphanedReleases(ids.process(), keys, time, timer, listener);
  }

  /**
   * Forwards releases of other processes' permits from now on, and receives those of this one's. To
   * be called once.
   *
   * @param connected completes when the exchange can be called; releases wait until then
   * @return to be closed before the exchange, which sends the releases that wait
   */
  public ReleaseForwarder forwardThrough(ReleaseExchange exchange, CompletionStage<?> connected) {
    ReleaseForwarder created =
        new ReleaseForwarder(ids.address(), this, exchange, time, timer, listener);
    forwarder = created;
    var _ =
        connected.thenRun(() -> {
          keys.publishThrough(exchange); // reads the others' keys before releases are sent
          created.start();
          orphans.claimThrough(exchange);
        });
    var _ =
        created
            .closed()
            .thenRun(() -> {
              keys.stop();
              orphans.stop();
            });
    return created;
  }

  /** Returns what counts the releases of permits whose process has died. */
  OrphanedReleases orphans() {
    return orphans;
  }

  /**
   * Creates a permit that owns the held ones; returns null without any effect if there are too
   * many.
   */
  @Nullable RequestPermit open(List<HeldPermit> held, LeaseTerms terms) {
    long now = time.monotonicNanos();
    RequestPermit permit =
        new RequestPermit(
            this, ids.next(held, terms.release() == Release.ACCESS_LOG), held, terms, now);
    boolean first;
    synchronized (this) {
      if (byId.size() >= maxPermits) {
        return null;
      }
      byId.put(permit.id(), permit);
      byTtl.computeIfAbsent(permit.ttlNanos, _ -> new LinkedHashMap<>()).put(permit.id(), permit);
      first = byId.size() == 1;
    }
    wakeups.by(permit.endNanos, now);
    ReleaseForwarder receiving = forwarder;
    if (first && receiving != null) {
      receiving.poll();
    }
    listener.acquired();
    return permit;
  }

  /**
   * Ends the permit with this id because its request was logged, if it is open and ends that way;
   * if another process created it, the release is forwarded there. Any other is left alone and not
   * counted as stale: an access log also names permits that other events ended.
   *
   * @param ending the evidence of the entry about the backend
   */
  public void logged(String id, Ending ending) {
    RequestPermit permit = remove(id, true);
    if (permit != null) {
      recordEnd(permit, PermitEnd.ACCESS_LOG, ending);
    } else if (isForeignLogged(id)) {
      forward(ForwardedRelease.logged(id, ending));
    }
  }

  /**
   * Returns whether a permit with this id may be open and ends when its request is logged, here or
   * at another process.
   */
  public boolean awaitsLog(String id) {
    synchronized (this) {
      RequestPermit permit = byId.get(id);
      if (permit != null) {
        return permit.endsWhenLogged;
      }
    }
    return isForeignLogged(id);
  }

  private boolean isForeignLogged(String id) {
    if (!PermitIds.isLogged(id) || forwarder == null) {
      return false;
    }
    String address = PermitIds.addressIn(id);
    return address != null && !address.equals(ids.address());
  }

  /**
   * Ends the permit with this id because Envoy reported the end of its request. If none is open,
   * the release is forwarded to the process that created the id, or counted as stale.
   *
   * @param report the values beside the release, all of which may be absent
   */
  public void streamDone(String id, StreamReport report) {
    RequestPermit permit = remove(id, false);
    if (permit == null) {
      forward(ForwardedRelease.streamDone(id, report));
    } else if (report.equals(StreamReport.NONE)) {
      recordEnd(permit, PermitEnd.STREAM_DONE);
    } else {
      recordEnd(permit, report, false);
    }
  }

  private void forward(ForwardedRelease release) {
    ReleaseForwarder sending = forwarder;
    PermitIds.Parts parts = sending == null ? null : PermitIds.parts(release.id());
    if (sending == null || parts == null || parts.address().equals(ids.address())) {
      listener.stale();
    } else {
      Verification verification = verify(parts);
      if (verification == Verification.INVALID) {
        listener.stale();
        return;
      }
      orphans.sent(parts.process(), parts.address(), verification == Verification.VALID);
      sending.forward(parts.address(), release, verification == Verification.VALID);
    }
  }

  /** Verifies the id; reads the keys if the key of its process is not known. */
  private Verification verify(PermitIds.Parts parts) {
    Verification verification = keys.verify(parts.address(), parts.text(), parts.signature());
    if (verification == Verification.NO_KEY) {
      keys.read();
    }
    return verification;
  }

  /** Returns whether the id may have been given by the process that it names. */
  boolean mayBeGiven(String id) {
    PermitIds.Parts parts = PermitIds.parts(id);
    return parts != null
        && keys.verify(parts.address(), parts.text(), parts.signature()) != Verification.INVALID;
  }

  /** Ends a permit by a release that another process received. */
  void forwarded(ForwardedRelease release) {
    Ending ending = release.logged();
    StreamReport report = release.report();
    RequestPermit permit = remove(release.id(), ending != null);
    if (permit == null) {
      if (ending == null) { // an access log also names permits that other events ended
        listener.stale();
      }
    } else if (ending != null) {
      boolean isAge = ending == Ending.Plain.ANSWERED; // contains the time to forward
      recordEnd(permit, PermitEnd.ACCESS_LOG, isAge ? Ending.Plain.UNKNOWN : ending);
    } else if (report.equals(StreamReport.NONE)) {
      recordEnd(permit, PermitEnd.STREAM_DONE, Ending.Plain.UNKNOWN);
    } else {
      recordEnd(permit, report, true);
    }
  }

  /** Returns whether a permit is open, whose release may reach another process. */
  synchronized boolean awaitsRelease() {
    return !byId.isEmpty();
  }

  /** Returns the number of open permits. */
  public synchronized int size() {
    return byId.size();
  }

  void end(RequestPermit permit, PermitEnd how) {
    if (remove(permit.id(), false) != null) {
      recordEnd(permit, how);
    }
  }

  private void recordEnd(RequestPermit permit, PermitEnd how) {
    // only then did the request reach the backend and end
    boolean answered = how == PermitEnd.STREAM_DONE;
    recordEnd(permit, how, answered ? Ending.Plain.ANSWERED : Ending.Plain.UNKNOWN);
  }

  private void recordEnd(RequestPermit permit, PermitEnd how, Ending ending) {
    try {
      permit.end(ending);
    } finally {
      listener.ended(how);
    }
  }

  private void recordEnd(RequestPermit permit, StreamReport report, boolean forwarded) {
    long now = time.monotonicNanos();
    long held = permit.heldNanos(now);
    // the backend was called while the permit was held; the clocks of two hosts may run unevenly
    boolean tooLong = report.latencyNanos() - held > held / CLOCKS_DIFFER_ONE_IN;
    StreamReport plausible = tooLong ? report.withoutLatency() : report;
    try {
      permit.end(plausible, now, forwarded);
    } finally {
      listener.ended(PermitEnd.STREAM_DONE);
    }
    if (tooLong) {
      listener.ignored(IgnoredReport.TOO_LONG);
    }
    listener.reported(plausible.end());
  }

  /** Removes the permit with this id; returns null if none is open, or none that may end so. */
  private synchronized @Nullable RequestPermit remove(String id, boolean logged) {
    RequestPermit permit = byId.get(id);
    if (permit == null || (logged && !permit.endsWhenLogged)) {
      return null;
    }
    byId.remove(id);
    LinkedHashMap<String, RequestPermit> line = byTtl.get(permit.ttlNanos);
    if (line != null) {
      line.remove(id);
      if (line.isEmpty()) {
        byTtl.remove(permit.ttlNanos);
      }
    }
    return permit;
  }

  /** Ends permits that are due; run by the timer. */
  private void expire() {
    List<RequestPermit> due = new ArrayList<>();
    long now = time.monotonicNanos();
    long soonest = Long.MAX_VALUE;
    synchronized (this) {
      for (LinkedHashMap<String, RequestPermit> line : byTtl.values()) {
        // all of a line have the same TTL, so the oldest one ends first
        SequencedCollection<RequestPermit> oldestFirst = line.sequencedValues();
        while (!oldestFirst.isEmpty() && oldestFirst.getFirst().isDue(now)) {
          RequestPermit oldest = oldestFirst.removeFirst();
          byId.remove(oldest.id());
          due.add(oldest);
        }
      }
      byTtl.values().removeIf(Map::isEmpty);
      for (LinkedHashMap<String, RequestPermit> line : byTtl.values()) {
        soonest = Math.min(soonest, line.sequencedValues().getFirst().endNanos - now);
      }
    }
    if (soonest < Long.MAX_VALUE) {
      wakeups.by(now + soonest, now);
    }
    due.forEach(permit -> recordEnd(permit, PermitEnd.EXPIRED));
  }
}
