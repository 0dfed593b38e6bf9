package io.throttlekit.simulator.fleet;

import io.throttlekit.descriptors.policy.ConcurrencyRule.LimitAlgorithm;
import io.throttlekit.descriptors.policy.LimitAlgorithms;
import io.throttlekit.limit.ConcurrencyLimit;
import io.throttlekit.limit.LimitRange;
import io.throttlekit.limiter.Permit;
import io.throttlekit.share.Coordination;
import io.throttlekit.share.DistributedLimiter;
import io.throttlekit.share.InMemoryConcurrencyCoordinator;
import io.throttlekit.share.Membership;
import io.throttlekit.share.MembershipListener;
import io.throttlekit.simulator.concurrency.Chance;
import io.throttlekit.simulator.concurrency.Contenders;
import io.throttlekit.simulator.concurrency.SimulatedLimiter;
import io.throttlekit.simulator.concurrency.algorithm.SimulatedAlgorithm;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The nodes of a fleet, which divide the limit of our default algorithm by demand. Each request
 * comes to one node, which admits it by its share or refuses it.
 *
 * <p>Nodes start within the first second, so their heartbeats are not simultaneous.
 */
final class FleetLimiter implements SimulatedLimiter, SimulatedAlgorithm {
  private static final String KEY = "backend";
  private static final long START_NANOS = TimeUnit.SECONDS.toNanos(1);
  // Independent random streams: their numbers must differ from those of the other classes.
  private static final int NODES = 8;
  private static final int NETWORK = 9;

  private final FleetShape shape;
  private final VirtualTime time = new VirtualTime();
  private final InMemoryConcurrencyCoordinator coordinator =
      new InMemoryConcurrencyCoordinator(time, Coordination.DEFAULT);
  private final Chance routes;
  private final SplittableRandom random;
  private final @Nullable DistributedLimiter[] nodes;
  private final Map<Long, Permit> permits = new HashMap<>();

  /** The algorithm of the node that steers. */
  private ConcurrencyLimit algorithm;

  FleetLimiter(FleetShape shape, long seed) {
    this.shape = shape;
    this.routes = new Chance(seed, NODES);
    this.random = new SplittableRandom(seed);
    this.nodes = new DistributedLimiter[shape.weights().size()];
    this.algorithm = algorithm(Contenders.RANGE.initial());
    Chance network = new Chance(seed, NETWORK);
    for (int i = 0; i < nodes.length; i++) {
      int node = i;
      time.runAfter(
          (long) (network.uniform() * START_NANOS), () -> nodes[node] = start(node, network));
    }
  }

  @Override
  public int limit() {
    int limit = coordinator.state(KEY).limit();
    return limit == 0 ? Contenders.RANGE.initial() : limit;
  }

  @Override
  public boolean isProbing() {
    return algorithm.isProbing();
  }

  @Override
  public boolean admit(long number, long nowNanos, int inFlight) {
    time.set(nowNanos);
    DistributedLimiter node = nodes[shape.node(routes.uniform())];
    if (node == null) {
      return false;
    }
    node.arrived();
    Permit permit = node.limiter().tryAcquire();
    if (permit != null) {
      permits.put(number, permit);
    }
    return permit != null;
  }

  @Override
  public void ended(
      long number,
      long startNanos,
      long nowNanos,
      int inFlightThen,
      int inFlightNow,
      boolean dropped) {
    time.set(nowNanos);
    Permit permit = permits.remove(number);
    if (permit == null) {
      throw new IllegalStateException("request " + number + " was not admitted");
    }
    if (dropped) {
      permit.drop();
    } else {
      permit.record();
    }
  }

  @Override
  public long next() {
    return time.next();
  }

  @Override
  public void wake() {
    time.runNext();
  }

  private DistributedLimiter start(int node, Chance network) {
    return new DistributedLimiter(
        Membership.of(KEY, "node-" + node),
        new DelayedCoordinator(coordinator, time, network),
        Coordination.DEFAULT.aggregate(),
        this::algorithm,
        Contenders.RANGE.initial(),
        time,
        time,
        MembershipListener.NONE,
        random::nextLong,
        UnaryOperator.identity());
  }

  private ConcurrencyLimit algorithm(int initial) {
    LimitRange range = Contenders.RANGE;
    int first = Math.clamp(initial, range.min(), range.max());
    algorithm =
        LimitAlgorithms.ofFleet(
            LimitAlgorithm.PROBED_VEGAS, new LimitRange(range.min(), range.max(), first), random);
    return algorithm;
  }
}
