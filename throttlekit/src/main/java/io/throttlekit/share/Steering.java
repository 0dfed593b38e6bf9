package io.throttlekit.share;

import io.throttlekit.limit.ConcurrencyLimit;
import io.throttlekit.limit.Sample;
import io.throttlekit.limit.SampleDigest;
import io.throttlekit.share.Heartbeat.Publication;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The limit algorithm of a whole fleet, run by the node that holds the steering lease on the
 * samples of all nodes. Called by one thread at a time. Times are monotonic ns.
 */
final class Steering {
  /** The most samples that the algorithm gets at once: more would not change what it infers. */
  private static final int MAX_SAMPLES = 5_000;

  /** The golden ratio less one: multiples of it, modulo 1, are spread evenly at every length. */
  private static final double GOLDEN = 0.618_033_988_749_894_9;

  private IntFunction<ConcurrencyLimit> algorithms;
  private @Nullable ConcurrencyLimit algorithm;
  private long epoch;
  private long learnedNanos;

  /**
   * @param algorithms creates the algorithm of a lease, from the limit where it starts
   */
  Steering(IntFunction<ConcurrencyLimit> algorithms) {
    this.algorithms = algorithms;
  }

  /**
   * Replaces what creates the algorithms; the next one starts at the current limit. Returns the
   * limit to publish, or null if this node does not steer.
   */
  @Nullable Publication replace(IntFunction<ConcurrencyLimit> others) {
    algorithms = others;
    ConcurrencyLimit current = algorithm;
    if (current == null) {
      return null;
    }
    ConcurrencyLimit next = others.apply(current.limit());
    algorithm = next;
    return new Publication(epoch, next.limit());
  }

  /** Forgets the algorithm, because this node holds no lease any more. */
  void end() {
    algorithm = null;
  }

  /**
   * Adds what an answer brought. Returns the limit to publish, or null if this node does not steer.
   */
  @Nullable Publication learn(ShareGrant grant, long nowNanos) {
    if (grant.epoch() == 0) {
      end();
      return null;
    }
    ConcurrencyLimit current = algorithm;
    if (current == null || grant.epoch() != epoch) {
      epoch = grant.epoch();
      current = algorithms.apply(grant.limit());
      algorithm = current;
      learnedNanos = nowNanos; // digests without a beginning are of no use for throughput
    } else {
      learn(current, grant, nowNanos);
    }
    // below the limit while shares are on their way, or while nodes need less than their shares
    current.acknowledged((int) Math.min(grant.applied(), Integer.MAX_VALUE), nowNanos);
    current.onTick(nowNanos);
    return new Publication(epoch, current.limit());
  }

  private void learn(ConcurrencyLimit into, ShareGrant grant, long nowNanos) {
    List<SampleDigest> digests = grant.digests();
    long samples = digests.stream().mapToLong(d -> d.answered() + d.dropped()).sum();
    double part = samples <= MAX_SAMPLES ? 1 : (double) MAX_SAMPLES / samples;
    // The sum of the peaks of all nodes, of which some may have sent several digests.
    double peaks = digests.stream().mapToLong(SampleDigest::inFlight).average().orElse(1);
    int inFlight =
        (int)
            Math.clamp(
                peaks * Math.min(digests.size(), grant.nodes()), 1, SampleDigest.MAX_REQUESTS);
    boolean full = digests.stream().anyMatch(SampleDigest::full);
    List<Sample> all = new ArrayList<>();
    for (SampleDigest digest : digests) {
      add(all, digest, part, inFlight, full, nowNanos);
    }
    all.sort(Comparator.comparingLong(sample -> sample.arrivedNanos() - learnedNanos));
    long refused = digests.stream().mapToLong(SampleDigest::refused).sum();
    if (refused > 0) {
      into.refused(learnedNanos, (long) Math.ceil(refused * part));
    }
    all.forEach(into::learn);
    learnedNanos = nowNanos;
  }

  /** Spreads the samples of a digest over the time since the last one, each latency everywhere. */
  private void add(
      List<Sample> all,
      SampleDigest digest,
      double part,
      int inFlight,
      boolean full,
      long nowNanos) {
    long answered = (long) Math.ceil(digest.answered() * part);
    long dropped = (long) Math.ceil(digest.dropped() * part);
    long count = answered + dropped;
    long span = nowNanos - learnedNanos;
    for (long i = 0; i < count; i++) {
      double q = ((i + 1) * GOLDEN) % 1;
      long arrived = learnedNanos + (long) (span * ((i + 0.5) / count));
      boolean isDropped = q * count >= answered;
      long rtt = isDropped ? 0 : digest.latency(q * count / answered);
      all.add(new Sample(arrived - rtt, rtt, arrived, inFlight, full, isDropped));
    }
  }
}
