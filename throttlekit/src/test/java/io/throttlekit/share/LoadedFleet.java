package io.throttlekit.share;

import io.throttlekit.limit.ConcurrencyLimit;
import io.throttlekit.limiter.Permit;
import io.throttlekit.share.Coordination.Aggregate;
import io.throttlekit.store.StoreException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.function.UnaryOperator;

/**
 * A fleet of nodes in front of one backend with a number of workers, in virtual time. Requests come
 * at random to each node, a refused one does not come again. Calls to the coordinator take a while
 * each way, and may be lost.
 */
final class LoadedFleet {
  private static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);

  final VirtualTime time = new VirtualTime();
  final InMemoryConcurrencyCoordinator coordinator;
  final List<Node> nodes = new ArrayList<>();
  private final Coordination terms;
  private final IntFunction<ConcurrencyLimit> algorithms;
  private final int initial;
  private final SplittableRandom random;
  private final Queue<Runnable> queue = new ArrayDeque<>();

  /** Workers of the backend. */
  int workers;

  long serviceNanos = 20 * MILLI;
  double loss;
  long maxDelayNanos = 2 * MILLI;

  /** The largest sum of requests in flight so far. */
  int mostInFlight;

  long answered;
  long refused;
  private int busy;
  private int inFlight;

  LoadedFleet(
      Coordination terms,
      IntFunction<ConcurrencyLimit> algorithms,
      int initial,
      int workers,
      long seed) {
    this.terms = terms;
    this.algorithms = algorithms;
    this.initial = initial;
    this.workers = workers;
    this.random = new SplittableRandom(seed);
    this.coordinator = new InMemoryConcurrencyCoordinator(time, terms);
  }

  /** A node, and its way to the coordinator. */
  final class Node implements ConcurrencyCoordinator {
    private final String id;
    private double perSecond;
    private boolean cut;
    private long arrivals;
    DistributedLimiter limiter;

    /** Heartbeats so far. */
    int beats;

    Node(String id) {
      this.id = id;
      this.limiter = join();
    }

    private DistributedLimiter join() {
      return new DistributedLimiter(
          Membership.of("backend", id),
          this,
          terms.aggregate(),
          algorithms,
          initial,
          time,
          time,
          MembershipListener.NONE,
          random::nextLong,
          UnaryOperator.identity());
    }

    /** Cuts the node off from the coordinator, or connects it. */
    void cut(boolean now) {
      cut = now;
    }

    /** Sets how many requests come in a second. */
    void load(double requests) {
      perSecond = requests;
      long run = ++arrivals;
      if (requests > 0) {
        next(run);
      }
    }

    private void next(long run) {
      double gap = -Math.log(1 - random.nextDouble()) * TimeUnit.SECONDS.toNanos(1) / perSecond;
      time.runAfter(
          Math.max(1, (long) gap),
          () -> {
            if (run == arrivals) {
              arrive();
              next(run);
            }
          });
    }

    private void arrive() {
      Permit permit = limiter.limiter().tryAcquire();
      if (permit == null) {
        refused++;
        return;
      }
      inFlight++;
      mostInFlight = Math.max(mostInFlight, inFlight);
      queue.add(() -> {
        busy++;
        time.runAfter(serviceNanos / 2 + random.nextLong(serviceNanos), () -> end(permit));
      });
      serve();
    }

    private void end(Permit permit) {
      busy--;
      inFlight--;
      answered++;
      permit.record();
      serve();
    }

    @Override
    public CompletionStage<ShareGrant> heartbeat(Heartbeat heartbeat) {
      beats++;
      CompletableFuture<ShareGrant> answer = new CompletableFuture<>();
      time.runAfter(
          900 * MILLI, () -> answer.completeExceptionally(new StoreException("late", null)));
      send(() ->
          coordinator.heartbeat(heartbeat).thenAccept(grant -> send(() -> answer.complete(grant))));
      return answer;
    }

    @Override
    public CompletionStage<Void> leave(Departure departure) {
      send(() -> coordinator.leave(departure));
      return CompletableFuture.completedStage(null);
    }

    @Override
    public CompletionStage<Void> released(ReleasedPermits released) {
      send(() -> coordinator.released(released));
      return CompletableFuture.completedStage(null);
    }

    private void send(Runnable message) {
      if (!cut && random.nextDouble() >= loss) {
        time.runAfter(
            1 + random.nextLong(maxDelayNanos),
            () -> {
              if (!cut) {
                message.run();
              }
            });
      }
    }

    @Override
    public void close() {}
  }

  private void serve() {
    while (busy < workers && !queue.isEmpty()) {
      queue.remove().run();
    }
  }

  /** Adds nodes, each with its part of the load. */
  void join(int number, double perSecond) {
    for (int i = 0; i < number; i++) {
      Node node = new Node("node-" + nodes.size());
      node.load(perSecond / number);
      nodes.add(node);
      time.run(1 + random.nextLong(10));
    }
  }

  /** Returns the limit of the fleet. */
  int limit() {
    return coordinator.state("backend").limit();
  }

  /** Returns the node that computes the limit. */
  Node steering() {
    FleetState.NodeKey key =
        Objects.requireNonNull(coordinator.state("backend").steering(), "no node steers");
    return nodes.stream().filter(node -> node.id.equals(key.node())).findFirst().orElseThrow();
  }

  boolean isPooled() {
    return terms.aggregate() == Aggregate.POOLED;
  }
}
