package io.throttlekit.share;

/**
 * How a fleet agrees on one concurrency limit, and how the limit is divided among its nodes. All
 * coordinators of a limit have the same.
 *
 * @param acknowledged whether a lower share is reserved in full until its node has acknowledged it.
 *     Then the requests in flight never exceed a constant limit; without it, they exceed it while
 *     shares move, those of two nodes by up to a half
 */
public record Coordination(Aggregate aggregate, Allocation allocation, boolean acknowledged) {

  /** The default: one algorithm over the samples of all nodes, shares by demand. */
  public static final Coordination DEFAULT =
      new Coordination(Aggregate.POOLED, Allocation.DEMAND, true);

  /** How one limit comes of what the nodes measure. The sum of their limits is never used. */
  public enum Aggregate {
    /** The smallest limit that a node inferred. */
    MIN,

    /** The lower median of the limits that the nodes inferred. */
    MEDIAN,

    /** The limit that the steering node infers from the samples of all nodes. */
    POOLED
  }

  /** How the limit is divided. */
  public enum Allocation {
    /** Equal shares; with fewer permits than nodes, the first ones by id get one each. */
    EQUAL,

    /**
     * A node that does not use its share keeps what it uses and one more; the others divide the
     * rest equally, or all nodes if there are no others. If the limit has fallen or a node has
     * joined, and the shares with a first permit for each node exceed the limit, the largest shares
     * are lowered to one level. With fewer permits than nodes, those with requests take turns.
     */
    DEMAND
  }
}
