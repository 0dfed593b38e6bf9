package io.throttlekit.tier;

import io.throttlekit.Decision;
import io.throttlekit.ManualTime;
import io.throttlekit.lease.Tier;
import io.throttlekit.store.Charge;
import io.throttlekit.store.Claim.Role;
import io.throttlekit.store.StoreException;
import io.throttlekit.tier.CountingStore.Slot;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Some nodes with one store, driven by a seed: requests of mixed tiers, calls and answers in any
 * order, time that passes, cells that are evicted or idle, and policy reloads. Keeps accounts of
 * the answers, to compare them with those of the store.
 */
final class MixedFleet {
  static final int NODES = 3;
  private static final long START = 1_200_000;
  private static final int MAX_MOVES = 10_000;

  private final SplittableRandom random;
  private final boolean losses;
  private final ManualTime time = new ManualTime(START);
  private final CountingStore store = new CountingStore(time);
  private final List<SlowStore> ways = new ArrayList<>();
  private final List<Node> nodes = new ArrayList<>();
  private final MixedRequests requests;
  private final List<Reply> replies = new ArrayList<>();
  private final Map<InFlightCalls.InFlightCall<?>, Moments> moments = new HashMap<>();
  private final Map<Slot, Long> spent = new HashMap<>();
  private final Map<Reached, Integer> reached = new EnumMap<>(Reached.class);

  /** When the units of the current answer were taken from leases, and decided by the store. */
  private Moments answering = new Moments(START);

  /** Events that a run must include to be conclusive. */
  enum Reached {
    A_LEASE_REFUSED_BEFORE_A_STRICT_CHARGE_WAS_ASKED,
    THE_STORE_REFUSED_AFTER_A_LEASE_WAS_TAKEN,
    A_REFUSED_CLAIM_OF_AN_ADMITTED_REQUEST_HAD_TAKEN_A_LEASE,
    A_QUOTA_WAS_REFUSED_AND_THE_REQUEST_ADMITTED,
    A_LEASED_CHARGE_WAS_DECIDED_BY_THE_STORE,
    A_CACHED_DENIAL_REFUSED,
    THE_STORE_DID_NOT_ANSWER_IN_TIME,
    A_REQUEST_FAILED
  }

  /** Times by the store's clock. */
  private static final class Moments {
    private final long asked;
    private long decided;

    private Moments(long now) {
      asked = now;
      decided = now;
    }
  }

  /** Accounts for the answer to one request. */
  private final class Reply implements OutcomeCallback {
    private final List<TieredClaim> claims;
    private int answers;

    private Reply(List<TieredClaim> claims) {
      this.claims = claims;
    }

    @Override
    public void decided(TieredOutcome outcome) {
      answers++;
      account(claims, outcome);
    }

    @Override
    public void failed(StoreException cause) {
      answers++;
      reach(Reached.A_REQUEST_FAILED);
    }
  }

  /**
   * Creates a fleet in its first state.
   *
   * @param losses whether calls and answers may be lost
   */
  MixedFleet(long seed, boolean coupled, boolean losses) {
    this.random = new SplittableRandom(seed);
    this.losses = losses;
    this.requests = new MixedRequests(random, coupled);
    for (int n = 0; n < NODES; n++) {
      SlowStore way = new SlowStore(store);
      ways.add(way);
      nodes.add(new Node(way, new ManualTime(0), 100));
    }
  }

  /** Runs a number of events; then all calls arrive, and all leased units are returned. */
  void run(int events) {
    for (int i = 0; i < events; i++) {
      happen();
      noteCalls();
    }
    drain();
    nodes.forEach(node -> node.tiers.close());
    noteCalls();
    drain();
  }

  CountingStore store() {
    return store;
  }

  /** Returns the units with which requests were admitted, by the window that they were taken in. */
  Map<Slot, Long> spent() {
    return spent;
  }

  /** Returns the units that the nodes reported as forfeited. */
  long forfeited() {
    return nodes.stream().mapToLong(node -> node.counted.forfeited).sum();
  }

  /** Returns the units that arrived too late to be spent. */
  long late() {
    return nodes.stream().mapToLong(node -> node.counted.late).sum();
  }

  long notAnsweredOnce() {
    return replies.stream().filter(reply -> reply.answers != 1).count();
  }

  Map<Reached, Integer> reached() {
    return reached;
  }

  private void happen() {
    int n = random.nextInt(NODES);
    switch (random.nextInt(100)) {
      case 0 -> nodes.get(n).tiers.leases.close(); // evicts all cells
      case 1 -> nodes.get(n).tiers.leases.sweep();
      case 2 -> reload();
      case 3 -> tick(1 + random.nextLong(2 * MixedRequests.WINDOW));
      case 4, 5, 6, 7 -> tick(1);
      default -> {
        if (random.nextInt(5) > 0) {
          travel(n);
        } else {
          send(n);
        }
      }
    }
  }

  private void reload() {
    if (random.nextInt(5) == 0) {
      requests.reload();
    }
  }

  private void tick(long millis) {
    time.advance(millis);
    for (Node node : nodes) {
      node.time.advance(millis);
      answering = new Moments(time.wallMillis());
      node.timer.run();
    }
  }

  private void send(int node) {
    Reply reply = new Reply(requests.next());
    replies.add(reply);
    answering = new Moments(time.wallMillis());
    TieredOutcome atOnce = nodes.get(node).tiers.acquire(reply.claims, reply);
    if (atOnce != null) {
      reply.decided(atOnce);
    }
  }

  private void travel(int node) {
    int calls = ways.get(node).calls().size();
    if (calls > 0) {
      int index = random.nextInt(calls);
      if (losses && random.nextInt(20) == 0) {
        answer(node, index);
        ways.get(node).lose(index);
      } else {
        move(node, index);
      }
    }
  }

  private void move(int node, int index) {
    InFlightCalls.InFlightCall<?> call = ways.get(node).calls().get(index);
    Moments of = answer(node, index);
    if (!call.hasArrived()) {
      of.decided = time.wallMillis();
    }
    ways.get(node).move(index);
  }

  /** Units for a decision were taken when it was requested; units of leases from now on. */
  private Moments answer(int node, int index) {
    InFlightCalls.InFlightCall<?> call = ways.get(node).calls().get(index);
    Moments known = moments.get(call);
    answering = known != null && SlowStore.decides(call) ? known : new Moments(time.wallMillis());
    return answering;
  }

  /** Sorts the calls, because cells are not kept in any order. */
  private void noteCalls() {
    for (SlowStore way : ways) {
      List<InFlightCalls.InFlightCall<?>> calls = way.calls();
      int noted = calls.size();
      while (noted > 0 && !moments.containsKey(calls.get(noted - 1))) {
        noted--;
        moments.put(calls.get(noted), new Moments(time.wallMillis()));
      }
      calls.subList(noted, calls.size()).sort(Comparator.comparing(Object::toString));
    }
  }

  private void drain() {
    for (int n = 0; n < NODES; n++) {
      for (int moves = 0; !ways.get(n).calls().isEmpty(); moves++) {
        if (moves > MAX_MOVES) {
          throw new IllegalStateException("node " + n + " calls for ever: " + ways.get(n).calls());
        }
        move(n, 0);
        noteCalls();
      }
    }
  }

  private void account(List<TieredClaim> claims, TieredOutcome outcome) {
    int first = 0;
    boolean strictUnasked = false;
    boolean leaseRefused = false;
    boolean storeRefused = false;
    boolean leaseTaken = false;
    for (TieredClaim claim : claims) {
      int end = first + claim.claim().charges().size();
      List<Decision> decisions = outcome.decisions().subList(first, end);
      boolean refused = !decisions.stream().allMatch(Decision::admitted);
      for (int i = first; i < end; i++) {
        Charge charge = claim.claim().charges().get(i - first);
        Decision decision = outcome.decisions().get(i);
        DecidedBy by = outcome.decidedBy().get(i);
        Long taken = takenAt(by);
        if (outcome.admitted() && !refused && charge.cost() > 0 && taken != null) {
          spent.merge(Slot.of(charge, taken), charge.cost(), Long::sum);
        }
        strictUnasked |= claim.tier() instanceof Tier.Strict && by == DecidedBy.NONE;
        leaseRefused |= by == DecidedBy.LEASE && !decision.admitted();
        storeRefused |= by == DecidedBy.STORE && !decision.admitted();
        leaseTaken |= by == DecidedBy.LEASE && decision.admitted();
        reach(outcome, claim, by, decision, refused, charge.cost());
      }
      if (refused && outcome.admitted() && claim.claim().role() == Role.QUOTA) {
        reach(Reached.A_QUOTA_WAS_REFUSED_AND_THE_REQUEST_ADMITTED);
      }
      first = end;
    }
    if (!outcome.admitted() && strictUnasked && leaseRefused) {
      reach(Reached.A_LEASE_REFUSED_BEFORE_A_STRICT_CHARGE_WAS_ASKED);
    }
    if (!outcome.admitted() && storeRefused && leaseTaken && !leaseRefused) {
      reach(Reached.THE_STORE_REFUSED_AFTER_A_LEASE_WAS_TAKEN);
    }
  }

  private void reach(
      TieredOutcome outcome,
      TieredClaim claim,
      DecidedBy by,
      Decision decision,
      boolean refused,
      long cost) {
    if (by == DecidedBy.OUTAGE) {
      reach(Reached.THE_STORE_DID_NOT_ANSWER_IN_TIME);
    }
    if (by == DecidedBy.CACHED_DENIAL) {
      reach(Reached.A_CACHED_DENIAL_REFUSED);
    }
    if (claim.tier() instanceof Tier.Leased && by == DecidedBy.STORE && cost > 0) {
      reach(Reached.A_LEASED_CHARGE_WAS_DECIDED_BY_THE_STORE);
    }
    if (outcome.admitted() && refused && by == DecidedBy.LEASE && decision.admitted()) {
      reach(Reached.A_REFUSED_CLAIM_OF_AN_ADMITTED_REQUEST_HAD_TAKEN_A_LEASE);
    }
  }

  private @Nullable Long takenAt(DecidedBy by) {
    return switch (by) {
      case LEASE -> answering.asked;
      case STORE -> answering.decided;
      default -> null;
    };
  }

  private void reach(Reached what) {
    reached.merge(what, 1, Integer::sum);
  }
}
