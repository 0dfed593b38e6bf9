package io.throttlekit.steering;

import io.throttlekit.share.DemandSplit;
import io.throttlekit.steering.LimiterGroup.Limiter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * Divides one concurrency limit among the limiters that apply it, each of which receives its share
 * late.
 *
 * <p>Every share that a limiter may be applying is reserved for it: the largest of its grants since
 * the last one that it acknowledged, that one included. Shares rise only out of slots that are not
 * reserved. So at every instant
 *
 * <pre>Σ reserved ≤ max(limit, Σ reserved before)</pre>
 *
 * <p>and once every connected limiter has acknowledged its share, Σ reserved ≤ limit, or the
 * reservations of limiters that left, if those are more. A limiter that does not acknowledge keeps
 * its reservation while it is connected; one that left keeps it until its lease expires, even if
 * nothing is in flight: it may be connected where this is not known yet. The lease begins anew
 * whenever the limiter is {@linkplain #seen seen} by another way.
 *
 * <p>Limitation: a limiter applies its last share for ever. One that left, is not seen and still
 * admits requests is not counted once its lease has expired. A limit that a limiter applies before
 * its first grant is not counted at all, unless it joins with it: then Σ reserved rises by what it
 * may apply already.
 *
 * <p>A division can continue where another one ended, from its {@link #snapshot}. All limiters are
 * then disconnected at first, so everything that was granted stays reserved. Numbers continue above
 * those of the snapshot: an acknowledgement means the same whichever division it reaches.
 *
 * <p>A limiter is one connection. Limiters with the same id divide one share equally: demand is
 * reported by id, and an id has the same weight however many limiters it has.
 *
 * <p>Shares follow demand (see {@link #reported}), max-min fair: no id gets more than an equal
 * share of what smaller demands leave. While there are fewer slots than ids, ids with recent demand
 * take turns, and the others follow them. Requests in flight count up to the reservation of their
 * id, and its whole demand up to twice that, so a share at most doubles with each report.
 *
 * <p>It has no clock and no thread. Not thread-safe. Times are monotonic ns.
 */
public final class LimitShares {

  /**
   * A grant to send to a limiter.
   *
   * @param limiter name of the limiter
   * @param share requests that it may have in flight, from 0
   * @param number of the round of the grant; an acknowledgement names this round or a later one
   */
  public record Grant(String limiter, int share, long number) {

    /**
     * @throws IllegalArgumentException when the share is negative, which would count as none: a
     *     limiter acknowledges it and applies its own default, as an Envoy that of its bootstrap
     */
    public Grant {
      if (share < 0) {
        throw new IllegalArgumentException(limiter + " has a share of " + share);
      }
    }
  }

  private static final long MAX_DEMAND = 1 << 30; // sums of them are far from overflow

  private final long leaseNanos;
  private final Map<String, Limiter> limiters =
      new TreeMap<>(); // sorted: same history, same shares
  private final Map<String, LimiterGroup> ids = new TreeMap<>();
  private final TurnOrder order;
  private int limit;
  private long acknowledged;
  private long lastNumber;

  /**
   * Creates the division of a limit of which no share is granted.
   *
   * @param limit concurrency limit, from 0
   * @param leaseNanos how long the share of a limiter that left stays reserved, from 1; at least
   *     the longest duration of a request
   * @param turnNanos how long a limiter keeps its slot while there are fewer slots than limiters,
   *     from 1
   * @throws IllegalArgumentException when a number is out of range
   */
  public LimitShares(int limit, long leaseNanos, long turnNanos) {
    this(limit, leaseNanos, turnNanos, 0);
  }

  /**
   * Creates the division of a limit that continues another one; see {@link #restored}.
   *
   * @param lastNumber number of its last round; 0 if there was none
   */
  public LimitShares(int limit, long leaseNanos, long turnNanos, long lastNumber) {
    if (leaseNanos < 1 || turnNanos < 1) {
      throw new IllegalArgumentException(
          "leases and turns take at least 1 ns, were " + leaseNanos + " and " + turnNanos);
    }
    this.leaseNanos = leaseNanos;
    this.order = new TurnOrder(turnNanos);
    this.lastNumber = lastNumber;
    limit(limit);
  }

  /**
   * Changes the limit, from the next {@link #due} on.
   *
   * @param requests from 0
   * @throws IllegalArgumentException when it is negative
   */
  public void limit(int requests) {
    if (requests < 0) {
      throw new IllegalArgumentException("a limit is not negative, was " + requests);
    }
    limit = requests;
  }

  /** Returns the limit that is divided. */
  public int limit() {
    return limit;
  }

  /**
   * Restores a limiter from a snapshot. It is disconnected, and its lease begins now: it may be
   * connected where this division has not learned it yet.
   *
   * @param limiter unique name of the limiter
   * @param id shared by the limiters that divide one share
   * @throws IllegalArgumentException when the limiter is known, or its number is above the last
   */
  public void restored(String limiter, String id, LimiterState state, long nowNanos) {
    if (limiters.containsKey(limiter) || state.number() > lastNumber) {
      throw new IllegalArgumentException("the snapshot does not belong to this division");
    }
    Limiter known = add(limiter, id);
    known.restore(state, nowNanos);
    acknowledged += state.acknowledgedShare();
  }

  /** Returns the state of all limiters by name, in their order; to be taken after a round. */
  public Map<String, LimiterState> snapshot() {
    Map<String, LimiterState> all = LinkedHashMap.newLinkedHashMap(limiters.size());
    limiters.forEach((name, limiter) -> all.put(name, limiter.state()));
    return all;
  }

  /**
   * Connects a limiter that applies no share, for the first time, or one that is known, again. Does
   * nothing while it is connected.
   *
   * @param limiter unique name of the limiter
   * @param id shared by the limiters that divide one share; ignored for a known limiter
   */
  public void joined(String limiter, String id) {
    joined(limiter, id, 0);
  }

  /**
   * Connects a limiter, for the first time or again. Does nothing while it is connected.
   *
   * @param mayApply the most that the limiter may apply already, from 0; ignored for a known one
   */
  public void joined(String limiter, String id, int mayApply) {
    Limiter known = limiters.get(limiter);
    if (known == null) {
      known = add(limiter, id);
      known.reserved = Math.max(0, mayApply);
    }
    known.present = true;
  }

  /**
   * Reserves what a limiter may apply by a grant of which this division has no record, and grants
   * to it again in the next round. Does nothing if as much is reserved already.
   */
  public void reserve(String limiter, int mayApply) {
    Limiter known = limiters.get(limiter);
    if (known != null && mayApply > known.reserved) {
      known.reserved = mayApply;
      known.grantAgain();
    }
  }

  /**
   * Connects a new limiter in the place of a disconnected one with the same id, as if that had come
   * back with another name: the reservation passes over, and the next round grants again, since the
   * successor may apply none of the grants. Does nothing if the first is unknown or connected, or
   * the successor known.
   */
  public void succeeded(String limiter, String successor) {
    Limiter known = limiters.get(limiter);
    if (known == null || known.present || limiters.containsKey(successor)) {
      return;
    }
    limiters.remove(limiter);
    limiters.put(successor, known);
    known.name = successor;
    known.present = true;
    known.grantAgain();
  }

  /** Disconnects a limiter. Does nothing if it is not connected. */
  public void left(String limiter, long nowNanos) {
    Limiter known = limiters.get(limiter);
    if (known != null && known.present) {
      known.present = false;
      known.leftNanos = nowNanos;
      if (known.reserved == 0) {
        forget(known);
      }
    }
  }

  /**
   * Records a sign of life of an id of which no limiter is connected: the leases of its limiters
   * begin anew. Does nothing while a limiter of the id is connected, which may have sent the sign;
   * the others may be gone.
   *
   * @param atNanos when the sign arrived
   */
  public void seen(String id, long atNanos) {
    LimiterGroup known = ids.get(id);
    if (known == null || known.present().findAny().isPresent()) {
      return;
    }
    for (Limiter limiter : known.limiters) {
      if (atNanos - limiter.leftNanos > 0) {
        limiter.leftNanos = atNanos;
      }
    }
  }

  /**
   * Reports the demand of an id, the sum of both numbers. The demand rises at once, falls by at
   * most a quarter with each report, and expires 10 s after the last report above 0. Does nothing
   * if no limiter of the id is connected.
   *
   * @param inFlight requests in flight, clamped to the range from 0 to the reservation of the id
   * @param refused requests since the last report, clamped to the range from 0 to 2^30; the demand
   *     is at most twice the reservation, and at most 2 without one
   */
  public void reported(String id, long inFlight, long refused, long nowNanos) {
    LimiterGroup known = ids.get(id);
    if (known == null || known.limiters.stream().noneMatch(limiter -> limiter.present)) {
      return;
    }
    long reserved = known.reserved();
    long plausible = Math.min(clamp(inFlight), reserved) + clamp(refused);
    long demand = Math.min(plausible, 2 * Math.max(1, reserved));
    // Rounded up, so that a falling demand reaches 0.
    known.demand = Math.max(demand, known.demand - (known.demand + 3) / 4);
    if (inFlight > 0 || refused > 0) {
      known.active = true;
      known.activeNanos = nowNanos;
    }
  }

  /**
   * Acknowledges the grants of a limiter up to a round. Does nothing if a later grant is on its
   * way, if the grant is acknowledged already, or if there was no such round.
   *
   * @return whether the reservation may have become smaller
   */
  public boolean acknowledged(String limiter, long number) {
    Limiter known = limiters.get(limiter);
    if (known == null || known.acknowledged || number < known.number || number > lastNumber) {
      return false;
    }
    known.acknowledged = true;
    known.reserved = known.granted;
    acknowledged += known.granted - known.acknowledgedShare;
    known.acknowledgedShare = known.granted;
    return true;
  }

  /**
   * Runs a round: removes limiters whose lease has expired, and grants the shares that are possible
   * now. To be called after every change here, and at intervals.
   *
   * @param number of this round, greater than that of any before
   * @return grants to send, smaller shares first
   * @throws IllegalArgumentException when the number is not greater than the last
   */
  public List<Grant> due(long nowNanos, long number) {
    // An acknowledgement of a reused number would be ambiguous.
    if (number <= lastNumber) {
      throw new IllegalArgumentException(number + " is not above " + lastNumber);
    }
    lastNumber = number;
    limiters.values().stream()
        .filter(limiter -> !limiter.present && nowNanos - limiter.leftNanos >= leaseNanos)
        .toList()
        .forEach(this::forget);
    List<LimiterGroup> turns = order.of(ids.values(), slots(), nowNanos);
    aim(turns);
    List<Limiter> present = turns.stream().flatMap(LimiterGroup::present).toList();
    List<Grant> grants = new ArrayList<>();
    // Smaller shares go out first: slots become free only when they are acknowledged.
    grant(present, limiter -> limiter.granted > limiter.next, grants);
    LimiterGroup.raise(present, limit - reserved());
    grant(present, limiter -> limiter.granted < limiter.next, grants);
    return grants;
  }

  /** Returns the last grant of a limiter; empty before the first one and for an unknown limiter. */
  public OptionalInt share(String limiter) {
    Limiter known = limiters.get(limiter);
    return known == null || known.granted < 0 ? OptionalInt.empty() : OptionalInt.of(known.granted);
  }

  /** Returns the reservation of each id: the most that it may have in flight by its grants. */
  public Map<String, Long> reservedById() {
    Map<String, Long> reserved = HashMap.newHashMap(ids.size());
    ids.forEach((name, id) -> reserved.put(name, id.reserved()));
    return reserved;
  }

  /** Returns the sum of all reservations: the most that all limiters may apply by their grants. */
  public long reserved() {
    return limiters.values().stream().mapToLong(limiter -> limiter.reserved).sum();
  }

  /**
   * Returns the limit that all limiters apply together, by their last acknowledgements. A limiter
   * that left counts while its reservation lasts.
   */
  public long acknowledged() {
    return acknowledged;
  }

  /** Returns how far the limiters have acknowledged their shares. */
  public Acknowledgements acknowledgements() {
    int there = 0;
    int unacknowledged = 0;
    long heldBack = 0;
    for (Limiter limiter : limiters.values()) {
      int granted = limiter.present ? Math.max(0, limiter.granted) : 0;
      heldBack += limiter.reserved - granted;
      there += limiter.present ? 1 : 0;
      unacknowledged += limiter.present && !limiter.acknowledged ? 1 : 0;
    }
    return new Acknowledgements(there, unacknowledged, heldBack);
  }

  private Limiter add(String name, String id) {
    Limiter limiter = new Limiter(name, ids.computeIfAbsent(id, LimiterGroup::new));
    limiter.group.limiters.add(limiter);
    limiters.put(name, limiter);
    return limiter;
  }

  private void forget(Limiter limiter) {
    limiters.remove(limiter.name);
    limiter.group.limiters.remove(limiter);
    if (limiter.group.limiters.isEmpty()) {
      ids.remove(limiter.group.id);
    }
    acknowledged -= limiter.acknowledgedShare;
  }

  private long reservedForAbsent() {
    return limiters.values().stream().filter(g -> !g.present).mapToLong(g -> g.reserved).sum();
  }

  private int slots() {
    return (int) Math.max(0, limit - reservedForAbsent());
  }

  private void aim(List<LimiterGroup> turns) {
    int[] shares = DemandSplit.of(slots(), turns.stream().mapToLong(id -> id.demand).toArray());
    for (int i = 0; i < shares.length; i++) {
      turns.get(i).aim(shares[i]);
    }
  }

  private void grant(List<Limiter> present, Predicate<Limiter> which, List<Grant> grants) {
    for (Limiter limiter : present) {
      if (which.test(limiter)) {
        limiter.granted = limiter.next;
        limiter.number = lastNumber;
        limiter.acknowledged = false;
        grants.add(new Grant(limiter.name, limiter.granted, limiter.number));
      }
    }
  }

  private static long clamp(long requests) {
    return Math.clamp(requests, 0, MAX_DEMAND);
  }
}
