package io.throttlekit.share;

import io.throttlekit.explore.Model;
import io.throttlekit.share.Coordination.Aggregate;
import io.throttlekit.share.Coordination.Allocation;
import io.throttlekit.share.FleetState.Node;
import io.throttlekit.share.FleetState.NodeKey;
import io.throttlekit.share.ShareGrant.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The real {@link FleetState} in every order of events: processes that admit requests by the shares
 * they have received, and heartbeats, answers and departures that arrive late, in any order, twice
 * or never. The limit is constant.
 *
 * <p>A process applies a share of a greater generation only, drops an answer that arrives after its
 * own lease has ended, and aborts its requests when the lease ends; then it joins with a new
 * incarnation. Each of these rules can be broken by a {@link Flaw}.
 *
 * @param reached the names of events that some orders included
 */
record FleetModel(Scope scope, Set<String> reached) implements Model<FleetModel.State> {

  /** A rule that processes do not follow. */
  enum Flaw {
    APPLIES_OLDER_SHARES,
    REPORTS_REQUESTS_OF_BEFORE,
    APPLIES_SHARES_OF_ENDED_LEASES,
    GOES_ON_AFTER_ITS_LEASE
  }

  /**
   * What is explored.
   *
   * @param maxInFlight the bound of Σ in flight, which must never be exceeded
   * @param sameId whether all processes have one id
   * @param beats heartbeats of a process in transit at a time; with 0 they arrive at once
   * @param answers answers to a process in transit at a time
   * @param duplicates heartbeats that arrive a second time
   * @param ticks of the clock; a lease takes {@link #LEASE}
   * @param restarts processes that end with their requests, and begin anew
   * @param departures processes that leave the fleet
   */
  record Scope(
      int processes,
      int limit,
      int maxInFlight,
      Allocation allocation,
      boolean acknowledged,
      boolean sameId,
      int beats,
      int answers,
      int duplicates,
      int ticks,
      int restarts,
      int departures,
      Set<Flaw> flaws) {

    /** Processes whose heartbeats arrive at once, and whose answers are late or lost. */
    static Scope of(int processes, int limit, Allocation allocation) {
      return new Scope(
          processes, limit, limit, allocation, true, false, 0, 1, 0, 0, 0, 0, Set.of());
    }

    Scope with(Flaw flaw) {
      return new Scope(
          processes,
          limit,
          maxInFlight,
          allocation,
          acknowledged,
          sameId,
          beats,
          answers,
          duplicates,
          ticks,
          restarts,
          departures,
          Set.of(flaw));
    }

    Scope inTransit(int there, int back, int twice) {
      return new Scope(
          processes,
          limit,
          maxInFlight,
          allocation,
          acknowledged,
          sameId,
          there,
          back,
          twice,
          ticks,
          restarts,
          departures,
          flaws);
    }

    Scope ticking(int times, int restarting, int leaving) {
      return new Scope(
          processes,
          limit,
          maxInFlight,
          allocation,
          acknowledged,
          sameId,
          beats,
          answers,
          duplicates,
          times,
          restarting,
          leaving,
          flaws);
    }

    Scope withOneId() {
      return new Scope(
          processes,
          limit,
          maxInFlight,
          allocation,
          acknowledged,
          true,
          beats,
          answers,
          duplicates,
          ticks,
          restarts,
          departures,
          flaws);
    }

    Scope unacknowledged(int requests) {
      return new Scope(
          processes,
          limit,
          requests,
          allocation,
          false,
          sameId,
          beats,
          answers,
          duplicates,
          ticks,
          restarts,
          departures,
          flaws);
    }
  }

  private static final List<String> NAMES = List.of(" 0", " 1", " 2");

  /** Ticks for which a share is a process's from the arrival of its heartbeat. */
  static final int LEASE = 1;

  /**
   * A process.
   *
   * @param sequence of its last heartbeat; 0 before the first one
   * @param generation of the share that it applies; 0 if none
   * @param sampled requests in flight at an earlier instant; only for a flaw
   * @param leaseUntil end of its lease by its own clock; 0 if it has none
   * @param left whether it has left and admits nothing more
   */
  record Process(
      long incarnation,
      long sequence,
      long generation,
      int share,
      int inFlight,
      int sampled,
      int leaseUntil,
      boolean left) {
    static Process fresh(long incarnation, int inFlight) {
      return new Process(incarnation, 0, 0, 0, inFlight, inFlight, 0, false);
    }

    Process with(int requests) {
      return new Process(
          incarnation, sequence, generation, share, requests, sampled, leaseUntil, left);
    }

    Process sampling() {
      return new Process(
          incarnation, sequence, generation, share, inFlight, inFlight, leaseUntil, left);
    }

    Process beating() {
      return new Process(
          incarnation, sequence + 1, generation, share, inFlight, sampled, leaseUntil, left);
    }

    Process leaving() {
      return new Process(incarnation, sequence, generation, 0, inFlight, sampled, leaseUntil, true);
    }
  }

  /** A heartbeat in transit. */
  record Beat(int process, Heartbeat heartbeat, int sentAt) {}

  /** An answer in transit; {@code sentAt} is when its heartbeat was sent. */
  record Answer(int process, long incarnation, ShareGrant grant, int sentAt) {}

  /** A departure in transit. */
  record Leaving(int process, Departure departure) {}

  /** Faults that may still happen. */
  record Budget(int duplicates, int restarts, int departures) {}

  /** A state. */
  record State(
      FleetState fleet,
      List<Process> processes,
      List<Beat> beats,
      List<Answer> answers,
      List<Leaving> departures,
      int now,
      Budget left) {

    State with(int index, Process process) {
      List<Process> all = new ArrayList<>(processes);
      all.set(index, process);
      return new State(fleet, List.copyOf(all), beats, answers, departures, now, left);
    }

    State with(FleetState next) {
      return new State(next, processes, beats, answers, departures, now, left);
    }

    State withBeats(List<Beat> next) {
      return new State(fleet, processes, next, answers, departures, now, left);
    }

    State withAnswers(List<Answer> next) {
      return new State(fleet, processes, beats, next, departures, now, left);
    }

    State withDepartures(List<Leaving> next) {
      return new State(fleet, processes, beats, answers, next, now, left);
    }

    State at(int time) {
      return new State(fleet, processes, beats, answers, departures, time, left);
    }

    State with(Budget next) {
      return new State(fleet, processes, beats, answers, departures, now, next);
    }
  }

  @Override
  public List<State> initial() {
    List<Process> processes = new ArrayList<>();
    for (int i = 0; i < scope.processes; i++) {
      processes.add(Process.fresh(i, 0));
    }
    Budget budget = new Budget(scope.duplicates, scope.restarts, scope.departures);
    return List.of(
        new State(FleetState.EMPTY, processes, List.of(), List.of(), List.of(), 0, budget));
  }

  @Override
  public List<Step<State>> steps(State state) {
    List<Step<State>> steps = new ArrayList<>();
    for (int i = 0; i < scope.processes; i++) {
      requests(state, i, steps);
      send(state, i, steps);
      end(state, i, steps);
    }
    for (Beat beat : state.beats) {
      String name = NAMES.get(beat.process);
      arrive("arrive" + name, state.withBeats(without(state.beats, beat)), beat, steps);
      if (state.left.duplicates > 0) {
        Budget budget =
            new Budget(state.left.duplicates - 1, state.left.restarts, state.left.departures);
        arrive("arrive and stay" + name, state.with(budget), beat, steps);
      }
    }
    for (Answer answer : state.answers) {
      State without = state.withAnswers(without(state.answers, answer));
      steps.add(new Step<>("receive" + NAMES.get(answer.process), received(without, answer)));
    }
    for (Leaving leaving : state.departures) {
      State without = state.withDepartures(without(state.departures, leaving));
      FleetState next = state.fleet.leave(leaving.departure, state.now);
      steps.add(new Step<>("depart" + NAMES.get(leaving.process), without.with(next)));
    }
    if (state.now < scope.ticks) {
      steps.add(new Step<>("tick", ticked(state.at(state.now + 1))));
    }
    return steps;
  }

  private static void requests(State state, int i, List<Step<State>> steps) {
    Process process = state.processes.get(i);
    if (process.inFlight < process.share) {
      steps.add(
          new Step<>("acquire" + NAMES.get(i), state.with(i, process.with(process.inFlight + 1))));
    }
    if (process.inFlight > 0) {
      steps.add(
          new Step<>("release" + NAMES.get(i), state.with(i, process.with(process.inFlight - 1))));
    }
  }

  private void send(State state, int i, List<Step<State>> steps) {
    Process process = state.processes.get(i);
    if (scope.flaws.contains(Flaw.REPORTS_REQUESTS_OF_BEFORE)) {
      steps.add(new Step<>("sample" + NAMES.get(i), state.with(i, process.sampling())));
    }
    if (process.left || !maySend(state, i, process)) {
      return;
    }
    int inFlight =
        scope.flaws.contains(Flaw.REPORTS_REQUESTS_OF_BEFORE) ? process.sampled : process.inFlight;
    Heartbeat heartbeat =
        new Heartbeat(
            "k",
            id(i),
            process.incarnation,
            process.sequence + 1,
            scope.limit,
            false,
            inFlight,
            inFlight,
            0,
            process.generation,
            LEASE,
            null,
            null);
    Beat beat = new Beat(i, heartbeat, state.now);
    State sent = state.with(i, process.beating());
    if (scope.beats == 0) {
      arrive("heartbeat" + NAMES.get(i), sent, beat, steps);
    } else {
      State later = sent.withBeats(with(state.beats, beat));
      steps.add(new Step<>("send" + NAMES.get(i), later));
    }
    steps.add(new Step<>("send in vain" + NAMES.get(i), sent));
  }

  /** A first heartbeat must not be overtaken: the second one of an unknown node is rejected. */
  private boolean maySend(State state, int i, Process process) {
    long inTransit = 0;
    boolean joining = false;
    for (Beat beat : state.beats) {
      inTransit += beat.process == i ? 1 : 0;
      joining |= process.generation == 0 && beat.heartbeat.incarnation() == process.incarnation;
    }
    return inTransit < Math.max(1, scope.beats) && !joining;
  }

  private void end(State state, int i, List<Step<State>> steps) {
    Process process = state.processes.get(i);
    Budget budget = state.left;
    if (budget.restarts > 0) {
      Budget next = new Budget(budget.duplicates, budget.restarts - 1, budget.departures);
      State restarted = state.with(i, Process.fresh(nextIncarnation(process), 0)).with(next);
      steps.add(new Step<>("restart" + NAMES.get(i), restarted));
    }
    if (budget.departures > 0 && !process.left && process.sequence > 0) {
      Budget next = new Budget(budget.duplicates, budget.restarts, budget.departures - 1);
      Departure departure = new Departure("k", id(i), process.incarnation, process.inFlight);
      List<Leaving> departures = with(state.departures, new Leaving(i, departure));
      State leaving = state.with(i, process.leaving()).withDepartures(departures).with(next);
      steps.add(new Step<>("leave" + NAMES.get(i), leaving));
    }
    if (process.left && process.inFlight == 0) {
      Process fresh = Process.fresh(nextIncarnation(process), 0);
      steps.add(new Step<>("return" + NAMES.get(i), state.with(i, fresh)));
    }
  }

  /** Adds the steps after a heartbeat: its answer is in transit, or lost. */
  private void arrive(String event, State state, Beat beat, List<Step<State>> steps) {
    Heartbeat heartbeat = beat.heartbeat;
    NodeKey key = new NodeKey(heartbeat.node(), heartbeat.incarnation());
    Node known = state.fleet.nodes().get(key);
    Coordination terms = new Coordination(Aggregate.POOLED, scope.allocation, scope.acknowledged);
    FleetState.Outcome outcome = state.fleet.heartbeat(terms, heartbeat, state.now);
    ShareGrant grant = outcome.grant();
    reached(known, heartbeat, state.now, grant, outcome.next().nodes().get(key));
    State lost = state.with(outcome.next());
    steps.add(new Step<>(event + ", answer lost", lost));
    if (state.answers.stream().filter(a -> a.process == beat.process).count() < scope.answers) {
      Answer answer = new Answer(beat.process, heartbeat.incarnation(), grant, beat.sentAt);
      steps.add(new Step<>(event, lost.withAnswers(with(state.answers, answer))));
    }
  }

  private void reached(
      @Nullable Node known, Heartbeat heartbeat, int now, ShareGrant grant, @Nullable Node next) {
    if (known != null && heartbeat.sequence() <= known.sequence()) {
      reached.add("overtaken heartbeat");
    }
    if (known != null && known.untilMillis() < now) {
      reached.add("expired");
    }
    if (grant.status() == Status.EVICTED) {
      reached.add(known != null && known.left() ? "heartbeat after it left" : "evicted");
    }
    if (grant.sameId()) {
      reached.add("one id twice");
    }
    if (next != null && next.reserved() > Math.max(next.share(), next.inFlight())) {
      reached.add("unacknowledged share");
    }
    if (next != null && known != null && next.share() > known.share()) {
      reached.add("raised share");
    }
  }

  private State received(State state, Answer answer) {
    Process process = state.processes.get(answer.process);
    ShareGrant grant = answer.grant;
    if (answer.incarnation != process.incarnation || process.left) {
      reached.add("answer of another incarnation");
      return state;
    }
    if (grant.status() != Status.MEMBER) {
      Process fresh = Process.fresh(nextIncarnation(process), process.inFlight);
      return state.with(answer.process, fresh);
    }
    int until = answer.sentAt + LEASE;
    if (state.now >= until && !scope.flaws.contains(Flaw.APPLIES_SHARES_OF_ENDED_LEASES)) {
      reached.add("answer of an ended lease");
      return state;
    }
    boolean newer = grant.generation() > process.generation;
    reached.add(newer ? "newer share" : "older share");
    boolean applied = newer || scope.flaws.contains(Flaw.APPLIES_OLDER_SHARES);
    return state.with(
        answer.process,
        new Process(
            process.incarnation,
            process.sequence,
            applied ? grant.generation() : process.generation,
            applied ? grant.share() : process.share,
            process.inFlight,
            process.sampled,
            Math.max(process.leaseUntil, until),
            false));
  }

  /** Ends leases by the clocks of the processes. */
  private State ticked(State state) {
    State next = state;
    for (int i = 0; i < scope.processes; i++) {
      Process process = state.processes.get(i);
      if (process.leaseUntil > 0
          && state.now >= process.leaseUntil
          && !scope.flaws.contains(Flaw.GOES_ON_AFTER_ITS_LEASE)) {
        reached.add("fenced");
        next = next.with(i, Process.fresh(nextIncarnation(process), 0));
      }
    }
    return next;
  }

  private long nextIncarnation(Process process) {
    return process.incarnation + scope.processes;
  }

  private String id(int process) {
    return scope.sameId ? "n" : "n" + process;
  }

  @Override
  public @Nullable String broken(State state) {
    long reserved = 0;
    for (Node node : state.fleet.nodes().values()) {
      boolean live = node.untilMillis() >= state.now;
      reserved += !live ? 0 : scope.acknowledged ? node.reserved() : node.share();
    }
    if (reserved > scope.limit) {
      return "GlobalCap";
    }
    if (state.processes.stream().mapToInt(Process::inFlight).sum() > scope.maxInFlight) {
      return "InflightCap";
    }
    for (int i = 0; i < scope.processes; i++) {
      Process process = state.processes.get(i);
      Node node = state.fleet.nodes().get(new NodeKey(id(i), process.incarnation));
      int covered = node == null || node.untilMillis() < state.now ? 0 : node.reserved();
      if (scope.acknowledged && Math.max(process.share, process.inFlight) > covered) {
        return "Covered";
      }
    }
    return null;
  }

  @Override
  public Object identity(State state) {
    return FleetIdentity.of(scope, state);
  }

  private static <T> List<T> with(List<T> all, T one) {
    List<T> next = new ArrayList<>(all);
    next.add(one);
    return List.copyOf(next);
  }

  private static <T> List<T> without(List<T> all, T one) {
    List<T> next = new ArrayList<>(all);
    next.remove(one);
    return List.copyOf(next);
  }
}
