package io.throttlekit.concurrency;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Divides one ceiling over the gates that obey it, each of which hears of its share late.
 *
 * <p>Whatever a gate may be obeying is reserved for it: the largest of what it was granted since
 * the last grant that it acknowledged, that one included. Shares rise only out of what nobody has
 * reserved. So for what is reserved in all, at every instant,
 *
 * <pre>Σ reserved ≤ max(ceiling, Σ reserved before)</pre>
 *
 * and once every gate that is there has acknowledged its share, Σ reserved ≤ ceiling, or what those
 * that left have reserved if that is more. A gate that does not answer keeps what it has for as
 * long as it is there; one that left, until its lease is over or it reports that nothing is in
 * flight.
 *
 * <p>The weakness: a gate obeys its last share for ever. One that left and goes on to let requests
 * in is not counted once its lease is over, or it has reported that nothing is in flight. And what
 * a gate obeys before its first grant is not counted at all.
 *
 * <p>A gate is one connection. Gates with the same id divide one share equally: demand is reported
 * by id, and an id weighs the same in the division however many gates it has.
 *
 * <p>Shares follow demand (see {@link #reported}). While there are fewer slots than ids, ids that
 * had demand lately take turns, and the others come after them. No report is trusted beyond what
 * its id was granted: requests in flight count up to what is reserved for the id, and its whole
 * demand up to twice that, so that a share at most doubles with each report.
 *
 * <p>It has no clock and no thread, and is called by one thread at a time. Times are monotonic ns.
 */
public final class CeilingShares {

  /**
   * What a gate is to be told.
   *
   * @param gate its name
   * @param share how many requests it may have in flight, from 0
   * @param number of the round it was granted in; an acknowledgement names it, or a later one
   */
  public record Grant(String gate, int share, long number) {}

  private static final long DEMAND_NANOS = 10_000_000_000L;
  private static final long MOST_WANTED = 1 << 30;

  /** Ids that had demand lately, and of these the one that has waited longest for a turn. */
  private static final Comparator<Id> FIRST =
      Comparator.comparing((Id id) -> !id.asked).thenComparingLong(id -> id.lastTurn);

  private final long leaseNanos;
  private final long turnNanos;
  private final Map<String, Gate> gates = new TreeMap<>(); // in order: same history, same shares
  private final Map<String, Id> ids = new TreeMap<>();
  private int ceiling;
  private long obeyed;
  private long lastNumber;
  private long turns;
  private long turnBegan;

  /**
   * A ceiling that nobody has a share of.
   *
   * @param ceiling requests, from 0
   * @param leaseNanos how long the share of a gate that left stays reserved, from 1: as long as a
   *     request may take, at least
   * @param turnNanos how long a gate keeps its slot while there are fewer slots than gates, from 1
   * @throws IllegalArgumentException when a number is out of range
   */
  public CeilingShares(int ceiling, long leaseNanos, long turnNanos) {
    if (leaseNanos < 1 || turnNanos < 1) {
      throw new IllegalArgumentException(
          "leases and turns take at least 1 ns, were " + leaseNanos + " and " + turnNanos);
    }
    this.leaseNanos = leaseNanos;
    this.turnNanos = turnNanos;
    ceiling(ceiling);
  }

  /**
   * Changes what there is to divide, from the next {@link #due} on.
   *
   * @param requests from 0
   * @throws IllegalArgumentException when it is negative
   */
  public void ceiling(int requests) {
    if (requests < 0) {
      throw new IllegalArgumentException("a ceiling is not negative, was " + requests);
    }
    ceiling = requests;
  }

  /** What is divided. */
  public int ceiling() {
    return ceiling;
  }

  /** A gate is there whose id is its own; see {@link #joined(String, String)}. */
  public void joined(String gate) {
    joined(gate, gate);
  }

  /**
   * A gate is there, for the first time or again; without effect while it is.
   *
   * @param gate its name, which no other has
   * @param id shared by the gates that divide one share; of no effect for a gate that is known
   */
  public void joined(String gate, String id) {
    Gate known = gates.get(gate);
    if (known == null) {
      known = new Gate(gate, ids.computeIfAbsent(id, _ -> new Id()));
      known.id.gates.add(known);
      gates.put(gate, known);
    }
    known.present = true;
  }

  /** A gate can no longer be told anything; without effect when it could not be before. */
  public void left(String gate, long nowNanos) {
    Gate known = gates.get(gate);
    if (known != null && known.present) {
      known.present = false;
      known.leftNanos = nowNanos;
      if (known.reserved == 0) {
        forget(known);
      }
    }
  }

  /**
   * Notes what the gates of an id could use. Their demand is the sum of both numbers; it rises at
   * once and falls by at most a quarter with each report, and is over after 10 s without any. Gates
   * that left are gone for good when nothing is in flight and no gate of the id is there.
   *
   * @param inFlight requests; what is out of 0 to what is reserved for the id counts as the nearest
   * @param refused requests since the last report, likewise from 0 to 2^30; the demand is at most
   *     twice what is reserved, and 2 where that is nothing
   */
  public void reported(String id, long inFlight, long refused, long nowNanos) {
    Id known = ids.get(id);
    if (known == null) {
      return;
    }
    if (known.gates.stream().noneMatch(gate -> gate.present)) {
      if (inFlight == 0) {
        List.copyOf(known.gates).forEach(this::forget);
      }
      return;
    }
    long reserved = known.reserved();
    long plausible = Math.min(clamp(inFlight), reserved) + clamp(refused);
    long demand = Math.min(plausible, 2 * Math.max(1, reserved));
    known.wants = Math.max(demand, known.wants - (known.wants + 3) / 4);
    if (inFlight > 0 || refused > 0) {
      known.asked = true;
      known.askedNanos = nowNanos;
    }
  }

  /**
   * A gate obeys what it was granted up to a round. Says nothing new when a later grant is on its
   * way, when it was said before, or when there was no such round.
   *
   * @return whether less may be reserved now
   */
  public boolean acknowledged(String gate, long number) {
    Gate known = gates.get(gate);
    if (known == null || known.acknowledged || number < known.number || number > lastNumber) {
      return false;
    }
    known.acknowledged = true;
    known.reserved = known.granted;
    obeyed += known.granted - known.obeyed;
    known.obeyed = known.granted;
    return true;
  }

  /**
   * Goes a round: forgets who is gone, and grants what can be granted now. To be asked after
   * anything was told here, and from time to time.
   *
   * @param number of this round, above that of any before
   * @return what gates are to be told, those that are to have less first
   * @throws IllegalArgumentException when the number is not above the last
   */
  public List<Grant> due(long nowNanos, long number) {
    if (number <= lastNumber) {
      throw new IllegalArgumentException(number + " is not above " + lastNumber);
    }
    lastNumber = number;
    gates.values().stream()
        .filter(gate -> !gate.present && nowNanos - gate.leftNanos >= leaseNanos)
        .toList()
        .forEach(this::forget);
    List<Id> order = inOrder(nowNanos);
    aim(order);
    List<Gate> present = order.stream().flatMap(Id::present).toList();
    List<Grant> grants = new ArrayList<>();
    grant(present, gate -> gate.granted > gate.next, grants);
    raise(present);
    grant(present, gate -> gate.granted < gate.next, grants);
    return grants;
  }

  /** What a gate was granted last; empty before its first grant and for one that is unknown. */
  public OptionalInt share(String gate) {
    Gate known = gates.get(gate);
    return known == null || known.granted < 0 ? OptionalInt.empty() : OptionalInt.of(known.granted);
  }

  /** Returns what is reserved for each id: the most that it may have in flight by what it knows. */
  public Map<String, Long> reservedById() {
    Map<String, Long> reserved = HashMap.newHashMap(ids.size());
    ids.forEach((name, id) -> reserved.put(name, id.reserved()));
    return reserved;
  }

  /** What all gates together may be obeying, as far as it was granted here. */
  public long reserved() {
    return gates.values().stream().mapToLong(gate -> gate.reserved).sum();
  }

  /**
   * What gates let in together, by what they acknowledged last. Who left goes on with that for as
   * long as it is reserved.
   */
  public long obeyed() {
    return obeyed;
  }

  /**
   * Whether the ceiling is in force: somebody is there, all that are there obey what they are to
   * have, and no more than the ceiling is reserved.
   */
  public boolean settled() {
    return present().stream().anyMatch(gate -> gate.granted >= 0)
        && present().stream().allMatch(gate -> gate.acknowledged && gate.granted == gate.aim)
        && reserved() <= ceiling;
  }

  /** How far gates are known to obey. */
  public Obedience obedience() {
    int there = 0;
    int unacknowledged = 0;
    long heldBack = 0;
    for (Gate gate : gates.values()) {
      int granted = gate.present ? Math.max(0, gate.granted) : 0;
      heldBack += gate.reserved - granted;
      there += gate.present ? 1 : 0;
      unacknowledged += gate.present && !gate.acknowledged ? 1 : 0;
    }
    return new Obedience(there, unacknowledged, heldBack);
  }

  private void forget(Gate gate) {
    gates.remove(gate.name);
    gate.id.gates.remove(gate);
    ids.values().removeIf(id -> id.gates.isEmpty());
    obeyed -= gate.obeyed;
  }

  private List<Gate> present() {
    return gates.values().stream().filter(gate -> gate.present).toList();
  }

  private long reservedForAbsent() {
    return gates.values().stream().filter(g -> !g.present).mapToLong(g -> g.reserved).sum();
  }

  /** The ids of which a gate is there. */
  private List<Id> inOrder(long nowNanos) {
    List<Id> order = new ArrayList<>(ids.size());
    for (Id id : ids.values()) {
      if (id.asked && nowNanos - id.askedNanos >= DEMAND_NANOS) {
        id.asked = false;
        id.wants = 0;
      }
      if (id.present().findAny().isPresent()) {
        order.add(id);
      }
    }
    order.sort(FIRST);
    if (slots() < order.size() && (turns == 0 || nowNanos - turnBegan >= turnNanos)) {
      turnBegan = nowNanos;
      order.stream().filter(id -> id.aim > 0).forEach(id -> id.lastTurn = ++turns);
      order.sort(FIRST);
    }
    return order;
  }

  private int slots() {
    return (int) Math.max(0, ceiling - reservedForAbsent());
  }

  private void aim(List<Id> order) {
    int[] shares = DemandSplit.of(slots(), order.stream().mapToLong(id -> id.wants).toArray());
    for (int i = 0; i < shares.length; i++) {
      Id id = order.get(i);
      id.aim = shares[i];
      divide(id.aim, id.present().toList());
    }
  }

  /** In equal parts; where it does not divide evenly, the first have one more. */
  private static void divide(int share, List<Gate> present) {
    for (int i = 0; i < present.size(); i++) {
      Gate gate = present.get(i);
      gate.aim = share / present.size() + (i < share % present.size() ? 1 : 0);
      gate.next = gate.granted < 0 ? 0 : Math.min(gate.granted, gate.aim);
    }
  }

  /** First a slot for everybody who is to have one, then the rest, those with the least first. */
  private void raise(List<Gate> present) {
    long room = ceiling - reserved();
    List<Gate> order = present.stream().sorted(Comparator.comparingInt(gate -> gate.next)).toList();
    for (int most : new int[] {1, Integer.MAX_VALUE}) {
      for (Gate gate : order) {
        long reach = gate.reserved + Math.max(0, room);
        int next = (int) Math.min(Math.min(gate.aim, most), reach);
        if (next > gate.next) {
          gate.next = next;
          room -= Math.max(0, next - gate.reserved);
          gate.reserved = Math.max(gate.reserved, next);
        }
      }
    }
  }

  private void grant(List<Gate> present, Predicate<Gate> which, List<Grant> grants) {
    for (Gate gate : present) {
      if (which.test(gate)) {
        gate.granted = gate.next;
        gate.number = lastNumber;
        gate.acknowledged = false;
        grants.add(new Grant(gate.name, gate.granted, gate.number));
      }
    }
  }

  private static long clamp(long requests) {
    return Math.clamp(requests, 0, MOST_WANTED);
  }

  /** The gates that divide one share, and their demand. */
  private static final class Id {
    final List<Gate> gates = new ArrayList<>(1);
    boolean asked;
    long askedNanos;
    long wants;
    long lastTurn;
    int aim;

    Stream<Gate> present() {
      return gates.stream().filter(gate -> gate.present);
    }

    long reserved() {
      return gates.stream().mapToLong(gate -> gate.reserved).sum();
    }
  }

  private static final class Gate {
    final String name;
    final Id id;
    boolean present;
    long leftNanos;
    int granted = -1;
    long number = Long.MAX_VALUE; // before the first grant nothing can be acknowledged
    boolean acknowledged;
    int obeyed;
    int reserved;
    int aim;
    int next;

    Gate(String name, Id id) {
      this.name = name;
      this.id = id;
    }
  }
}
