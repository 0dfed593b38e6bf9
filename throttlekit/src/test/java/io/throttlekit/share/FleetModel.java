package io.throttlekit.share;

import io.throttlekit.explore.Model;
import io.throttlekit.share.Coordination.Aggregate;
import io.throttlekit.share.FleetMoment.Answer;
import io.throttlekit.share.FleetMoment.Beat;
import io.throttlekit.share.FleetMoment.Budget;
import io.throttlekit.share.FleetMoment.Leaving;
import io.throttlekit.share.FleetMoment.NodeProcess;
import io.throttlekit.share.FleetMoment.Orphans;
import io.throttlekit.share.FleetScope.Flaw;
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
record FleetModel(FleetScope scope, Set<String> reached) implements Model<FleetMoment> {

  private static final List<String> NAMES = List.of(" 0", " 1", " 2");

  /** Ticks for which a share is a process's from the arrival of its heartbeat. */
  static final int LEASE = 1;

  /** Ticks for which a request lasts at most. */
  static final int PERMIT = 3;

  @Override
  public List<FleetMoment> initial() {
    List<NodeProcess> processes = new ArrayList<>();
    for (int i = 0; i < scope.processes(); i++) {
      processes.add(NodeProcess.fresh(i, 0));
    }
    Budget budget =
        new Budget(
            scope.network().duplicates(),
            scope.faults().restarts(),
            scope.faults().departures(),
            scope.faults().crashes());
    return List.of(
        new FleetMoment(
            FleetState.EMPTY, processes, List.of(), List.of(), List.of(), List.of(), 0, budget));
  }

  @Override
  public List<Step<FleetMoment>> steps(FleetMoment state) {
    List<Step<FleetMoment>> steps = new ArrayList<>();
    for (int i = 0; i < scope.processes(); i++) {
      requests(state, i, steps);
      send(state, i, steps);
      end(state, i, steps);
    }
    for (Beat beat : state.beats()) {
      String name = NAMES.get(beat.process());
      FleetMoment without = state.withBeats(without(state.beats(), beat));
      arrive("arrive" + name, without, beat, steps);
      if (!beat.repeated()) {
        arriveTwice("arrive first" + name, without, beat, steps);
      }
    }
    for (Answer answer : state.answers()) {
      FleetMoment without = state.withAnswers(without(state.answers(), answer));
      steps.add(new Step<>("receive" + NAMES.get(answer.process()), received(without, answer)));
    }
    for (Leaving leaving : state.departures()) {
      FleetMoment without = state.withDepartures(without(state.departures(), leaving));
      FleetState next = state.fleet().leave(leaving.departure(), state.now());
      steps.add(new Step<>("depart" + NAMES.get(leaving.process()), without.with(next)));
    }
    for (Orphans orphans : state.orphans()) {
      releaseElsewhere(state, orphans, steps);
    }
    if (state.now() < scope.faults().ticks()) {
      steps.add(new Step<>("tick", ticked(state.at(state.now() + 1))));
    }
    return steps;
  }

  /** Adds the end of a request whose process has crashed, and the report of such an end. */
  private void releaseElsewhere(FleetMoment state, Orphans orphans, List<Step<FleetMoment>> steps) {
    List<Orphans> others = without(state.orphans(), orphans);
    String name = NAMES.get(orphans.process());
    if (orphans.inFlight() > 0) {
      Orphans ended =
          new Orphans(
              orphans.incarnation(),
              orphans.process(),
              orphans.inFlight() - 1,
              orphans.released() + 1,
              orphans.until());
      steps.add(new Step<>("end elsewhere" + name, state.withOrphans(with(others, ended))));
    }
    NodeKey key = new NodeKey(id(orphans.process()), orphans.incarnation());
    NodeState node = state.fleet().at(state.now()).nodes().get(key);
    if (orphans.released() > 0 && node != null && node.left()) {
      reached.add("release elsewhere");
      Orphans reported =
          new Orphans(
              orphans.incarnation(),
              orphans.process(),
              orphans.inFlight(),
              orphans.released() - 1,
              orphans.until());
      FleetState next = state.fleet().released(new ReleasedPermits("k", 0, 1), state.now());
      steps.add(new Step<>("count" + name, state.withOrphans(with(others, reported)).with(next)));
    }
  }

  private void requests(FleetMoment state, int i, List<Step<FleetMoment>> steps) {
    NodeProcess process = state.processes().get(i);
    if (process.inFlight() < process.share()) {
      steps.add(
          new Step<>(
              "acquire" + NAMES.get(i), state.with(i, process.with(process.inFlight() + 1))));
    }
    if (process.inFlight() > 0) {
      FleetMoment released = state.with(i, process.with(process.inFlight() - 1));
      if (scope.flaws().contains(Flaw.REPORTS_RELEASES_THAT_THE_PROCESS_HAS_SEEN)
          && state.orphans().isEmpty()) {
        Orphans seen = new Orphans(process.incarnation(), i, 0, 1, 0);
        released = released.withOrphans(List.of(seen));
      }
      steps.add(new Step<>("release" + NAMES.get(i), released));
    }
  }

  private void send(FleetMoment state, int i, List<Step<FleetMoment>> steps) {
    NodeProcess process = state.processes().get(i);
    if (scope.flaws().contains(Flaw.REPORTS_REQUESTS_OF_BEFORE)) {
      steps.add(new Step<>("sample" + NAMES.get(i), state.with(i, process.sampling())));
    }
    if (process.left() || !maySend(state, i, process)) {
      return;
    }
    int inFlight =
        scope.flaws().contains(Flaw.REPORTS_REQUESTS_OF_BEFORE)
            ? process.sampled()
            : process.inFlight();
    Heartbeat heartbeat =
        new Heartbeat(
            "k",
            id(i),
            process.incarnation(),
            process.sequence() + 1,
            scope.limit(),
            false,
            inFlight,
            inFlight,
            0,
            process.generation(),
            LEASE,
            scope.faults().crashes() == 0 || scope.flaws().contains(Flaw.REPORTS_NO_TIME_TO_LIVE)
                ? 0
                : PERMIT,
            null,
            null);
    Beat beat = new Beat(i, heartbeat, state.now(), false);
    FleetMoment sent = state.with(i, process.beating());
    if (scope.network().beats() == 0) {
      arrive("heartbeat" + NAMES.get(i), sent, beat, steps);
      arriveTwice("heartbeat first" + NAMES.get(i), sent, beat, steps);
    } else {
      FleetMoment later = sent.withBeats(with(state.beats(), beat));
      steps.add(new Step<>("send" + NAMES.get(i), later));
    }
    steps.add(new Step<>("send in vain" + NAMES.get(i), sent));
  }

  /** A first heartbeat must not be overtaken: the second one of an unknown node is rejected. */
  private boolean maySend(FleetMoment state, int i, NodeProcess process) {
    long inTransit = 0;
    boolean joining = false;
    for (Beat beat : state.beats()) {
      boolean counted = beat.process() == i && !beat.repeated();
      inTransit += counted ? 1 : 0;
      joining |= counted && beat.heartbeat().incarnation() == process.incarnation();
    }
    boolean joined = process.generation() > 0;
    return inTransit < Math.max(1, scope.network().beats()) && (joined || !joining);
  }

  private void end(FleetMoment state, int i, List<Step<FleetMoment>> steps) {
    NodeProcess process = state.processes().get(i);
    Budget budget = state.left();
    if (budget.restarts() > 0) {
      FleetMoment restarted =
          state
              .with(i, NodeProcess.fresh(nextIncarnation(process), 0))
              .with(budget.withoutRestart());
      steps.add(new Step<>("restart" + NAMES.get(i), restarted));
    }
    if (budget.crashes() > 0 && process.inFlight() > 0) {
      Orphans orphans =
          new Orphans(process.incarnation(), i, process.inFlight(), 0, state.now() + PERMIT);
      FleetMoment crashed =
          state
              .with(i, NodeProcess.fresh(nextIncarnation(process), 0))
              .withOrphans(with(state.orphans(), orphans))
              .with(budget.withoutCrash());
      steps.add(new Step<>("crash" + NAMES.get(i), crashed));
    }
    if (budget.departures() > 0 && !process.left() && process.sequence() > 0) {
      Departure departure = new Departure("k", id(i), process.incarnation(), process.inFlight());
      List<Leaving> departures = with(state.departures(), new Leaving(i, departure));
      FleetMoment leaving =
          state
              .with(i, process.leaving())
              .withDepartures(departures)
              .with(budget.withoutDeparture());
      steps.add(new Step<>("leave" + NAMES.get(i), leaving));
    }
    if (process.left() && process.inFlight() == 0) {
      NodeProcess fresh = NodeProcess.fresh(nextIncarnation(process), 0);
      steps.add(new Step<>("return" + NAMES.get(i), state.with(i, fresh)));
    }
  }

  /** Adds the steps after a heartbeat that arrives again later. */
  private void arriveTwice(
      String event, FleetMoment state, Beat beat, List<Step<FleetMoment>> steps) {
    Budget left = state.left();
    if (left.duplicates() > 0) {
      List<Beat> beats = with(state.beats(), beat.again());
      arrive(event, state.withBeats(beats).with(left.withoutDuplicate()), beat, steps);
    }
  }

  /** Adds the steps after a heartbeat: its answer is in transit, or lost. */
  private void arrive(String event, FleetMoment state, Beat beat, List<Step<FleetMoment>> steps) {
    Heartbeat heartbeat = beat.heartbeat();
    NodeKey key = new NodeKey(heartbeat.node(), heartbeat.incarnation());
    NodeState known = state.fleet().nodes().get(key);
    Coordination terms =
        new Coordination(Aggregate.POOLED, scope.allocation(), scope.acknowledged());
    FleetState.Outcome outcome = state.fleet().heartbeat(terms, heartbeat, state.now());
    ShareGrant grant = outcome.grant();
    reached(known, heartbeat, state.now(), grant, outcome.next().nodes().get(key));
    FleetMoment lost = state.with(outcome.next());
    steps.add(new Step<>(event + ", answer lost", lost));
    if (state.answers().stream().filter(a -> a.process() == beat.process()).count()
        < scope.network().answers()) {
      Answer answer = new Answer(beat.process(), heartbeat.incarnation(), grant, beat.sentAt());
      steps.add(new Step<>(event, lost.withAnswers(with(state.answers(), answer))));
    }
  }

  private void reached(
      @Nullable NodeState known,
      Heartbeat heartbeat,
      int now,
      ShareGrant grant,
      @Nullable NodeState next) {
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

  private FleetMoment received(FleetMoment state, Answer answer) {
    NodeProcess process = state.processes().get(answer.process());
    ShareGrant grant = answer.grant();
    if (answer.incarnation() != process.incarnation() || process.left()) {
      reached.add("answer of another incarnation");
      return state;
    }
    if (grant.status() != Status.MEMBER) {
      NodeProcess fresh = NodeProcess.fresh(nextIncarnation(process), process.inFlight());
      return state.with(answer.process(), fresh);
    }
    int until = answer.sentAt() + LEASE;
    if (state.now() >= until && !scope.flaws().contains(Flaw.APPLIES_SHARES_OF_ENDED_LEASES)) {
      reached.add("answer of an ended lease");
      return state;
    }
    boolean newer = grant.generation() > process.generation();
    reached.add(newer ? "newer share" : "older share");
    boolean applied = newer || scope.flaws().contains(Flaw.APPLIES_OLDER_SHARES);
    return state.with(
        answer.process(),
        new NodeProcess(
            process.incarnation(),
            process.sequence(),
            applied ? grant.generation() : process.generation(),
            applied ? grant.share() : process.share(),
            process.inFlight(),
            process.sampled(),
            Math.max(process.leaseUntil(), until),
            false));
  }

  /** Ends leases by the clocks of the processes, and requests by their time to live. */
  private FleetMoment ticked(FleetMoment state) {
    FleetMoment next =
        state.withOrphans(
            state.orphans().stream()
                .filter(each -> state.now() < each.until() || each.until() == 0)
                .toList());
    for (int i = 0; i < scope.processes(); i++) {
      NodeProcess process = state.processes().get(i);
      if (process.leaseUntil() > 0
          && state.now() >= process.leaseUntil()
          && !scope.flaws().contains(Flaw.GOES_ON_AFTER_ITS_LEASE)) {
        reached.add("fenced");
        next = next.with(i, NodeProcess.fresh(nextIncarnation(process), 0));
      }
    }
    return next;
  }

  private long nextIncarnation(NodeProcess process) {
    return process.incarnation() + scope.processes();
  }

  private String id(int process) {
    return scope.sameId() ? "n" : "n" + process;
  }

  @Override
  public @Nullable String broken(FleetMoment state) {
    long reserved = 0;
    FleetState fleet = state.fleet().at(state.now());
    for (NodeState node : fleet.nodes().values()) {
      reached.addAll(node.left() && node.inFlight() > 0 ? Set.of("remnant") : Set.of());
      reserved += scope.acknowledged() ? node.reserved() : node.share();
    }
    if (reserved > scope.limit()) {
      return "GlobalCap";
    }
    int orphans = state.orphans().stream().mapToInt(Orphans::inFlight).sum();
    int inFlight = orphans + state.processes().stream().mapToInt(NodeProcess::inFlight).sum();
    if (inFlight > scope.maxInFlight()) {
      return "InflightCap";
    }
    for (int i = 0; i < scope.processes(); i++) {
      NodeProcess process = state.processes().get(i);
      NodeState node = fleet.nodes().get(new NodeKey(id(i), process.incarnation()));
      int covered = node == null ? 0 : node.reserved();
      if (scope.acknowledged() && Math.max(process.share(), process.inFlight()) > covered) {
        return "Covered";
      }
    }
    return null;
  }

  @Override
  public Object identity(FleetMoment state) {
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
