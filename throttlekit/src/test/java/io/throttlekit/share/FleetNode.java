package io.throttlekit.share;

import io.throttlekit.limit.SampleDigest;
import io.throttlekit.share.Heartbeat.Publication;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A node of a test in one incarnation: it numbers its heartbeats, and acknowledges the last share
 * that it received. Not thread-safe.
 */
final class FleetNode {
  static final String KEY = "shop";
  static final long LONG_LEASE = 3_000_000;
  private static final long TIMEOUT_SECONDS = 240;

  private final ConcurrencyCoordinator coordinator;
  private final String id;
  private final long incarnation;
  private String key = KEY;
  private long sequence;
  private long acknowledged;
  private long leaseMillis = LONG_LEASE;
  private long permitMillis;
  private boolean sampled = true;
  private long refused;
  private @Nullable Publication publication;
  private @Nullable SampleDigest digest;

  FleetNode(ConcurrencyCoordinator coordinator, String id, long incarnation) {
    this.coordinator = coordinator;
    this.id = id;
    this.incarnation = incarnation;
  }

  /** Sets the key of all further messages. */
  FleetNode of(String other) {
    key = other;
    return this;
  }

  /** Sets the lease of all further heartbeats. */
  FleetNode withLease(long millis) {
    leaseMillis = millis;
    return this;
  }

  /** Sets how long requests may last after the lease, in all further heartbeats. */
  FleetNode withPermits(long millis) {
    permitMillis = millis;
    return this;
  }

  /** Sets whether further heartbeats have a vote. */
  FleetNode sampled(boolean now) {
    sampled = now;
    return this;
  }

  /** Sets the sequence of the last heartbeat. */
  FleetNode after(long last) {
    sequence = last;
    return this;
  }

  /** Sets what the next heartbeat acknowledges. */
  FleetNode acknowledging(long generation) {
    acknowledged = generation;
    return this;
  }

  /** Adds refused requests to the next heartbeat. */
  FleetNode refusing(long requests) {
    refused = requests;
    return this;
  }

  /** Adds a limit to the next heartbeat. */
  FleetNode publishing(long epoch, int limit) {
    publication = new Publication(epoch, limit);
    return this;
  }

  /** Adds a limit to the next heartbeat, and a call for frequent ones of all nodes. */
  FleetNode calling(long epoch, int limit) {
    publication = new Publication(epoch, limit, true);
    return this;
  }

  /** Adds samples to the next heartbeat. */
  FleetNode measuring(SampleDigest samples) {
    digest = samples;
    return this;
  }

  /** Sends the next heartbeat. */
  ShareGrant beat(int localLimit, int inFlight) {
    return send(next(localLimit, inFlight, inFlight));
  }

  /** Sends a heartbeat again, or one that was not sent before. */
  ShareGrant send(Heartbeat heartbeat) {
    ShareGrant grant =
        coordinator
            .heartbeat(heartbeat)
            .toCompletableFuture()
            .orTimeout(TIMEOUT_SECONDS, TimeUnit.SECONDS)
            .join();
    acknowledged = grant.generation();
    return grant;
  }

  /** Returns the next heartbeat, and counts it as sent. */
  Heartbeat next(int localLimit, int inFlight, int peak) {
    Heartbeat next =
        new Heartbeat(
            key,
            id,
            incarnation,
            ++sequence,
            localLimit,
            sampled,
            inFlight,
            peak,
            refused,
            acknowledged,
            leaseMillis,
            permitMillis,
            publication,
            digest);
    refused = 0;
    publication = null;
    digest = null;
    return next;
  }

  Departure departure(int inFlight) {
    return new Departure(key, id, incarnation, inFlight);
  }

  void leave(int inFlight) {
    coordinator
        .leave(departure(inFlight))
        .toCompletableFuture()
        .orTimeout(TIMEOUT_SECONDS, TimeUnit.SECONDS)
        .join();
  }
}
