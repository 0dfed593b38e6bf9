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
final class FleetAlgorithm {
  /** The most samples that the algorithm gets at once: more would not change what it infers. */
  private static final int MAX_SAMPLES = 5_000;

  /** The golden ratio less one: multiples of it, modulo 1, are spread evenly at every length. */
  private static final double GOLDEN = 0.618_033_988_749_894_9;

  /**
   * The square of the plastic number, less one: multiples of this number and of {@link #GOLDEN}, in
   * pairs, fill a square evenly.
   */
  private static final double PLASTIC = 0.754_877_666_246_692_8;

  /** How long refusals are spread over the samples that follow, until 1/e of them are left. */
  private static final double REFUSED_NANOS = 1e9;

  /** Time in which the limit is raised by as many permits as requests are missing in flight. */
  private static final double RAISE_NANOS = 2e9;

  /**
   * Standard deviations of the requests in flight at a node for which it gets permits: as many as
   * the algorithm has for the queue of the backend.
   */
  private static final double DEVIATIONS = 3.5;

  private final boolean pooled;
  private final long heartbeatNanos;
  private IntFunction<ConcurrencyLimit> algorithms;
  private @Nullable ConcurrencyLimit algorithm;
  private long epoch;
  private long learnedNanos;
  private InFlightEstimate inFlight = new InFlightEstimate();
  private double pendingRefused;

  /** When the last digest with refusals came, if any are pending. */
  private long refusedNanos;

  /** Permits that are published in addition to the limit of the algorithm. */
  private double raise;

  private HeartbeatPace pace;

  /**
   * @param algorithms creates the algorithm of a lease, from the limit where it starts
   * @param aggregate of the coordinator, which ignores what this publishes unless it is pooled
   * @param heartbeatNanos time between two heartbeats of each node
   */
  FleetAlgorithm(
      IntFunction<ConcurrencyLimit> algorithms, Aggregate aggregate, long heartbeatNanos) {
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
    return new Publication(epoch, next.limit() + raise(next));
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
      raise = 0;
      pace = new HeartbeatPace(heartbeatNanos, grant.limit(), nowNanos);
      learnedNanos = nowNanos; // digests without a beginning are of no use for throughput
    } else {
      long span = nowNanos - learnedNanos;
      learn(current, grant, nowNanos);
      if (!current.isProbing()) {
        adaptRaise(current.limit(), grant.nodes(), span);
      }
    }
    // without the raise, which the algorithm does not know; less than its limit while shares are on
    // their way, or while nodes need less than their shares
    long applied = Math.max(1, grant.applied() - raise(current));
    current.acknowledged((int) Math.min(applied, Integer.MAX_VALUE), nowNanos);
    current.onTick(nowNanos);
    int limit = current.limit() + raise(current);
    boolean frequent =
        pooled && pace.isFrequent(grant.digests(), limit, current.isProbing(), nowNanos);
    return new Publication(epoch, limit, frequent);
  }

  /**
   * Raises the limit while fewer requests are in flight than the algorithm allows, and lowers it
   * while more are: a node cannot use the free permits of others. At most by what divided requests
   * need more than undivided ones: room for their deviations, and a free permit at each node.
   */
  private void adaptRaise(int limit, int nodes, long spanNanos) {
    double max = DEVIATIONS * inFlight.divided() + nodes - 1;
    double missing = limit - 1 - inFlight.mean();
    raise = Math.clamp(raise + missing * spanNanos / RAISE_NANOS, 0, max);
  }

  /** Returns by how much the limit is raised now: not while it is lowered for a measurement. */
  private int raise(ConcurrencyLimit current) {
    return current.isProbing() ? 0 : Math.min((int) raise, current.max() - current.limit());
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
      into.learn(digest.statistics(), digest.answered());
      add(all, digest, part, full, refusing, nowNanos);
    }
    all.sort(Comparator.comparingLong(sample -> sample.arrivedNanos() - learnedNanos));
    pendingRefused += part * digests.stream().mapToLong(SampleDigest::refused).sum();
    refusedNanos = refusing ? nowNanos : refusedNanos;
    if (all.isEmpty() && nowNanos - refusedNanos > REFUSED_NANOS) {
      pendingRefused = 0; // the load has stopped, and the backend does not hang
    }
    long refused = takeRefused(nowNanos - learnedNanos);
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
      // With the fraction of the latency, latency would seem to follow the requests in flight.
      int inFlightThen =
          all.isEmpty() ? inFlight.peak() : inFlight.whenAdmitted((i * PLASTIC) % 1, refusing);
      all.add(new Sample(arrived - rtt, rtt, arrived, inFlightThen, full, isDropped));
    }
  }
}
