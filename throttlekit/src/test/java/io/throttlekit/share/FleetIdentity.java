package io.throttlekit.share;

import io.throttlekit.share.FleetMoment.Answer;
import io.throttlekit.share.FleetMoment.Beat;
import io.throttlekit.share.FleetMoment.Leaving;
import io.throttlekit.share.FleetMoment.NodeProcess;
import io.throttlekit.share.FleetMoment.Orphans;
import io.throttlekit.share.FleetState.NodeKey;
import java.nio.LongBuffer;
import java.util.Arrays;
import java.util.SortedMap;
import java.util.stream.LongStream;

/**
 * What distinguishes states of a {@link FleetModel}. Incarnations, sequences and generations count
 * by their order only, and the last two by whether they are 0 or the first one.
 */
final class FleetIdentity {
  private static final int BITS = 5;
  private static final int MAX_NUMBERS = 40;

  private final FleetScope scope;
  private final FleetMoment state;
  private final long[] incarnations = new long[MAX_NUMBERS];
  private final long[] sequences = new long[MAX_NUMBERS];
  private final long[] generations = new long[MAX_NUMBERS];
  private int size;

  private FleetIdentity(FleetScope scope, FleetMoment state) {
    this.scope = scope;
    this.state = state;
  }

  static Object of(FleetScope scope, FleetMoment state) {
    return new FleetIdentity(scope, state).identity();
  }

  private Object identity() {
    // without nodes that affect nothing later
    SortedMap<NodeKey, NodeState> nodes = state.fleet().at(state.now()).nodes();
    nodes.forEach((key, node) -> known(key.incarnation(), node.sequence(), node.generation()));
    state.processes().forEach(p -> known(p.incarnation(), p.sequence(), p.generation()));
    for (Beat beat : state.beats()) {
      Heartbeat heartbeat = beat.heartbeat();
      known(heartbeat.incarnation(), heartbeat.sequence(), heartbeat.acknowledged());
    }
    state.answers().forEach(a -> known(a.incarnation(), 0, a.grant().generation()));
    state.departures().forEach(d -> known(d.departure().incarnation(), 0, 0));
    state.orphans().forEach(each -> known(each.incarnation(), 0, 0));

    LongStream.Builder longs = LongStream.builder();
    longs.add(
        packed(
            state.now(),
            state.left().duplicates(),
            state.left().restarts(),
            state.left().departures(),
            state.left().crashes(),
            state.beats().size(),
            state.answers().size(),
            state.departures().size()));
    state.processes().forEach(process -> longs.add(packed(process)));
    nodes.forEach((key, node) -> longs.add(packed(key, node)));
    longs.add(packed(state.orphans().size()));
    sorted(state.orphans().stream().mapToLong(this::packed), longs);
    sorted(state.beats().stream().mapToLong(this::packed), longs);
    sorted(state.answers().stream().mapToLong(this::packed), longs);
    sorted(state.departures().stream().mapToLong(this::packed), longs);
    return LongBuffer.wrap(longs.build().toArray());
  }

  private void known(long incarnation, long sequence, long generation) {
    incarnations[size] = incarnation;
    sequences[size] = sequence;
    generations[size] = generation;
    size++;
  }

  private long packed(NodeProcess process) {
    return packed(
        rank(process.incarnation()),
        sequence(process.incarnation(), process.sequence()),
        generation(process.incarnation(), process.generation()),
        process.share(),
        process.inFlight(),
        scope.flaws().contains(FleetScope.Flaw.REPORTS_REQUESTS_OF_BEFORE) ? process.sampled() : 0,
        process.leaseUntil(),
        process.left() ? 1 : 0);
  }

  private long packed(NodeKey key, NodeState node) {
    return packed(
        rank(key.incarnation()),
        sequence(key.incarnation(), node.sequence()),
        generation(key.incarnation(), node.generation()),
        node.share(),
        node.inFlight(),
        node.peak(),
        node.mayApply(),
        node.untilMillis(),
        node.left() ? 1 : 0);
  }

  private long packed(Beat beat) {
    Heartbeat heartbeat = beat.heartbeat();
    return packed(
        rank(heartbeat.incarnation()),
        sequence(heartbeat.incarnation(), heartbeat.sequence()),
        generation(heartbeat.incarnation(), heartbeat.acknowledged()),
        heartbeat.inFlight(),
        beat.sentAt(),
        beat.repeated() ? 1 : 0);
  }

  private long packed(Answer answer) {
    return packed(
        rank(answer.incarnation()),
        generation(answer.incarnation(), answer.grant().generation()),
        answer.grant().share(),
        answer.grant().status() == ShareGrant.Status.MEMBER ? 1 : 0,
        answer.sentAt());
  }

  private long packed(Leaving leaving) {
    return packed(rank(leaving.departure().incarnation()), leaving.departure().inFlight());
  }

  private long packed(Orphans orphans) {
    return packed(
        rank(orphans.incarnation()), orphans.inFlight(), orphans.released(), orphans.until());
  }

  /** Returns the order among incarnations of its process, with the number of the process. */
  private long rank(long incarnation) {
    long process = incarnation % scope.processes();
    long before = 0;
    for (int i = 0; i < size; i++) {
      long other = incarnations[i];
      boolean compared = scope.sameId() || other % scope.processes() == process;
      before += compared && other < incarnation && isFirst(incarnations, i, other) ? 1 : 0;
    }
    return before * scope.processes() + process;
  }

  private boolean isFirst(long[] numbers, int i, long incarnation) {
    for (int j = 0; j < i; j++) {
      if (numbers[j] == numbers[i] && incarnations[j] == incarnation) {
        return false;
      }
    }
    return true;
  }

  private long sequence(long incarnation, long sequence) {
    return number(sequences, incarnation, sequence, 2);
  }

  private long generation(long incarnation, long generation) {
    return number(generations, incarnation, generation, 1);
  }

  /** Returns a number below {@code kept} itself; others are replaced by their order. */
  private long number(long[] numbers, long incarnation, long number, long kept) {
    if (number < kept) {
      return number;
    }
    long order = kept;
    for (int i = 0; i < size; i++) {
      boolean smaller = numbers[i] >= kept && numbers[i] < number;
      order +=
          incarnations[i] == incarnation && smaller && isFirst(numbers, i, incarnation) ? 1 : 0;
    }
    return order;
  }

  private static void sorted(LongStream from, LongStream.Builder to) {
    Arrays.stream(from.sorted().toArray()).forEach(to::add);
  }

  private static long packed(long... numbers) {
    long all = 0;
    for (long number : numbers) {
      if (number < 0 || number >> BITS != 0) {
        throw new IllegalArgumentException(number + " does not fit");
      }
      all = all << BITS | number;
    }
    return all;
  }
}
