package io.throttlekit.share;

import io.throttlekit.limit.ConcurrencyLimit;
import io.throttlekit.limit.Sample;
import io.throttlekit.limit.SampleDigest;
import io.throttlekit.share.Coordination.Aggregate;
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

  /** The same of the square of the plastic number: together the two fill a square evenly. */
  private static final double PLASTIC = 0.754_877_666_246_692_8;

  /** How long refusals are spread over the samples that follow, until 1/e of them are left. */
  private static final double REFUSED_NANOS = 1e9;

  /**
   * The share of the applied permits in use from which the limit is full. Below it, nodes refuse
   * requests while others have free permits; found by experiment, see docs/CONCURRENCY.md.
   */
  private static final double FULL = 0.8;

  /** One refusal for so many samples while permits are free: saturated, but not crowded. */
  private static final long SAMPLES_PER_REFUSED = 20;

  private final boolean pooled;
  private final long heartbeatNanos;
  private IntFunction<ConcurrencyLimit> algorithms;
  private @Nullable ConcurrencyLimit algorithm;
  private long epoch;
  private long learnedNanos;
  private InFlightEstimate inFlight = new InFlightEstimate();
  private double pendingRefused;
  private HeartbeatPace pace;

  /**
   * @param algorithms creates the algorithm of a lease, from the limit where it starts
   * @param aggregate that of the coordinator, which may ignore what this publishes
   * @param heartbeatNanos time between two heartbeats of each node
   */
  Steering(IntFunction<ConcurrencyLimit> algorithms, Aggregate aggregate, long heartbeatNanos) {
    this.algorithms = algorithms;
    this.pooled = aggregate == Aggregate.POOLED;
    this.heartbeatNanos = heartbeatNanos;
    this.pace = new HeartbeatPace(heartbeatNanos, 1, 0);
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

  /** Returns whether the algorithm measures at a lowered limit, which should be over soon. */
  boolean isMeasuring() {
    ConcurrencyLimit current = algorithm;
    return current != null && current.isProbing();
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
      inFlight = new InFlightEstimate();
      pendingRefused = 0;
      pace = new HeartbeatPace(heartbeatNanos, grant.limit(), nowNanos);
      learnedNanos = nowNanos; // digests without a beginning are of no use for throughput
    } else {
      learn(current, grant, nowNanos);
    }
    // below the limit while shares are on their way, or while nodes need less than their shares
    current.acknowledged((int) Math.min(grant.applied(), Integer.MAX_VALUE), nowNanos);
    current.onTick(nowNanos);
    boolean frequent =
        pooled && pace.isFrequent(grant.digests(), current.limit(), current.isProbing(), nowNanos);
    return new Publication(epoch, current.limit(), frequent);
  }

  private void learn(ConcurrencyLimit into, ShareGrant grant, long nowNanos) {
    List<SampleDigest> digests = grant.digests();
    long samples = digests.stream().mapToLong(d -> d.answered() + d.dropped()).sum();
    double part = samples <= MAX_SAMPLES ? 1 : (double) MAX_SAMPLES / samples;
    inFlight.add(digests, grant.nodes(), nowNanos - learnedNanos);
    boolean refusing = digests.stream().anyMatch(d -> d.refused() > 0);
    boolean full = digests.stream().anyMatch(SampleDigest::full);
    List<Sample> all = new ArrayList<>();
    for (SampleDigest digest : digests) {
      add(all, digest, part, full, refusing, nowNanos);
    }
    all.sort(Comparator.comparingLong(sample -> sample.arrivedNanos() - learnedNanos));
    pendingRefused += part * digests.stream().mapToLong(SampleDigest::refused).sum();
    long refused = takeRefused(nowNanos - learnedNanos);
    if (inFlight.mean() < FULL * grant.applied()) {
      // Else the algorithm would expect that all permits are in use, and take the missing queue of
      // a raised limit for a backend that takes more.
      refused = Math.min(refused, all.size() / SAMPLES_PER_REFUSED);
    }
    learn(into, all, refused, nowNanos);
    learnedNanos = nowNanos;
  }

  /**
   * Takes the refusals to pass on. Where the heartbeats of two nodes nearly coincide, the digest of
   * one comes twice in a span and not at all in the next: without this, the limit would not seem to
   * be full then, and the baseline would follow the latency of a queue.
   */
  private long takeRefused(long spanNanos) {
    long taken = (long) (pendingRefused * -Math.expm1(-spanNanos / REFUSED_NANOS));
    pendingRefused -= taken;
    return taken;
  }

  /** Passes samples, and refusals spread over them. */
  private static void learn(
      ConcurrencyLimit into, List<Sample> samples, long refused, long nowNanos) {
    int count = samples.size();
    if (count == 0 && refused > 0) {
      into.refused(nowNanos, refused);
    }
    for (int i = 0; i < count; i++) {
      Sample sample = samples.get(i);
      long before = refused * (i + 1) / count - refused * i / count;
      if (before > 0) {
        into.refused(sample.arrivedNanos(), before);
      }
      into.learn(sample);
    }
  }

  /** Spreads the samples of a digest over the time since the last one, each latency everywhere. */
  private void add(
      List<Sample> all,
      SampleDigest digest,
      double part,
      boolean full,
      boolean refusing,
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
      // Not of the same fraction as the latency, which would seem to depend on it.
      int inFlightThen =
          all.isEmpty() ? inFlight.peak() : inFlight.whenAdmitted((i * PLASTIC) % 1, refusing);
      all.add(new Sample(arrived - rtt, rtt, arrived, inFlightThen, full, isDropped));
    }
  }
}
