package io.throttlekit.share;

/**
 * The current figures of a node of a fleet.
 *
 * @param share requests that it may have in flight; 0 while it is fenced
 * @param limit of the fleet, as last answered
 * @param nodes of the fleet, as last answered; 0 while this node is no member
 * @param fenced whether nothing is admitted because the coordinator does not answer
 * @param steering id of the node that computes the limit; empty if none does
 * @param epoch of the steering lease if this node holds it, else 0
 * @param sameId whether another node has its id
 */
public record FleetFigures(
    int share, int limit, int nodes, boolean fenced, String steering, long epoch, boolean sameId) {

  /** Returns these with the share that is applied now, and whether it is fenced. */
  FleetFigures with(int applied, boolean isFenced) {
    return new FleetFigures(applied, limit, nodes, isFenced, steering, epoch, sameId);
  }

  /** Returns the figures of a member by an answer. */
  static FleetFigures of(ShareGrant grant) {
    return new FleetFigures(
        grant.share(),
        grant.limit(),
        grant.nodes(),
        false,
        grant.steering(),
        grant.epoch(),
        grant.sameId());
  }
}
