package io.throttlekit.bench.chaos;

import io.throttlekit.bench.chaos.fault.CoordinatorClockStepped;
import io.throttlekit.bench.chaos.fault.CoordinatorFailedOver;
import io.throttlekit.bench.chaos.fault.FailedOver;
import io.throttlekit.bench.chaos.fault.Fault;
import io.throttlekit.bench.chaos.fault.HostileStreams;
import io.throttlekit.bench.chaos.fault.KeyFlood;
import io.throttlekit.bench.chaos.fault.LinkCut;
import io.throttlekit.bench.chaos.fault.LoadMultiplied;
import io.throttlekit.bench.chaos.fault.LongKeys;
import io.throttlekit.bench.chaos.fault.ProcessClockStepped;
import io.throttlekit.bench.chaos.fault.ProcessKilled;
import io.throttlekit.bench.chaos.fault.ProcessPaused;
import io.throttlekit.bench.chaos.fault.RepliesDelayed;
import io.throttlekit.bench.chaos.fault.ServerKilled;
import io.throttlekit.bench.chaos.fault.ServerPaused;
import io.throttlekit.bench.chaos.fault.SlowReaders;
import io.throttlekit.bench.chaos.fault.SnapshotRestored;
import io.throttlekit.bench.chaos.fleet.ChaosFleet;
import io.throttlekit.bench.chaos.fleet.CoordinatorKind;
import io.throttlekit.bench.chaos.fleet.Link;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

/**
 * Faults of a round and their times: a pure function of its arguments.
 *
 * @param machines faults of processes, servers, networks and clocks, one after the other
 * @param clients faults of clients, one after the other, concurrent with those
 */
record Schedule(List<Planned> machines, List<Planned> clients) {
  // Bounds of a fault's slot: it lasts for a quarter to a half of it; the rest is for recovery.
  private static final long MIN_SLOT_MILLIS = 2_200;
  private static final long MAX_SLOT_MILLIS = 6_000;
  private static final int MAX_DELAY_MILLIS = 200;
  private static final long CLOCK_STEP_MILLIS = 60_000;
  private static final int LOAD_FACTOR = 10;
  // Below the service's default maximum of 64 KiB for a value.
  private static final int LONG_VALUE_BYTES = 58_000;
  private static final int STOPPED_CLIENTS = 60;

  /** Keys of floods in a minute: 10⁷ in half an hour. */
  private static final long FLOODED_IN_A_MINUTE = 340_000;

  /** Minimum of keys for a round. */
  private static final long MIN_FLOODED = 55_000;

  /** Copies both. */
  Schedule {
    machines = List.copyOf(machines);
    clients = List.copyOf(clients);
  }

  /**
   * A fault and its time.
   *
   * @param atMillis since the first fault may begin
   * @param lastsMillis until it ends
   */
  record Planned(long atMillis, long lastsMillis, Fault fault) {}

  /** A kind of fault with random parameters. */
  @FunctionalInterface
  private interface Kind {
    Fault draw(RandomGenerator random);
  }

  /**
   * Plans a round. Every kind of fault is in at least one round, whatever the seed.
   *
   * @param round number of the round, from 0
   * @param rounds number of rounds
   * @param kind the coordinator of this round
   * @param millis planned duration
   */
  static Schedule of(long seed, int round, int rounds, CoordinatorKind kind, long millis) {
    RandomGenerator shared = new SplittableRandom(seed);
    // An odd multiple of the golden ratio keeps the seeds of rounds apart.
    RandomGenerator own = new SplittableRandom(seed + 0x9E3779B97F4A7C15L * (round + 1));
    List<Kind> deck = shuffled(machineKinds(), shared);
    List<Kind> first = new ArrayList<>();
    for (int i = round % rounds; i < deck.size(); i += rounds) {
      first.add(deck.get(i));
    }
    if (kind == CoordinatorKind.POSTGRESQL) {
      first.add(random -> new CoordinatorClockStepped(random.nextLong(100, 900)));
      // Only once: the standby has no standby.
      first.add(own.nextInt(first.size() + 1), _ -> new CoordinatorFailedOver());
    }
    long slot = Math.clamp(millis / first.size(), MIN_SLOT_MILLIS, MAX_SLOT_MILLIS);
    List<Planned> machines = new ArrayList<>();
    List<Kind> rest = first;
    for (long at = 0; at + slot <= millis || !rest.isEmpty(); at += slot) {
      if (rest.isEmpty()) {
        rest = shuffled(machineKinds(), own);
      }
      long lasts = own.nextLong(slot / 4, slot / 2);
      machines.add(new Planned(at, lasts, rest.removeFirst().draw(own)));
    }
    return new Schedule(machines, clients(own, round, millis));
  }

  private static List<Kind> machineKinds() {
    int replicated = ChaosFleet.REPLICATED;
    return List.of(
        random -> new ProcessKilled(process(random)),
        random -> new ProcessPaused(process(random)),
        random -> new ServerKilled(random.nextInt(replicated)),
        _ -> new ServerKilled(ServerKilled.COORDINATOR),
        random -> new ServerPaused(random.nextInt(replicated)),
        _ -> new ServerPaused(ServerKilled.COORDINATOR),
        random -> new RepliesDelayed(new Link(random.nextInt(replicated), false), delay(random)),
        random ->
            new RepliesDelayed(new Link(random.nextInt(ChaosFleet.REGIONS), true), delay(random)),
        random -> new LinkCut(new Link(random.nextInt(replicated), false), random.nextBoolean()),
        random ->
            new LinkCut(new Link(random.nextInt(ChaosFleet.REGIONS), true), random.nextBoolean()),
        random -> new SnapshotRestored(random.nextInt(replicated)),
        _ -> new FailedOver(),
        random ->
            new ProcessClockStepped(
                process(random), random.nextLong(-CLOCK_STEP_MILLIS, CLOCK_STEP_MILLIS + 1)));
  }

  private static List<Planned> clients(RandomGenerator random, int round, long millis) {
    long keys = Math.max(MIN_FLOODED, FLOODED_IN_A_MINUTE * millis / 60_000);
    List<Planned> planned = new ArrayList<>();
    List<Kind> deck = new ArrayList<>();
    long slot = Math.clamp(millis / 5, 1_500, MAX_SLOT_MILLIS);
    long decks = Math.max(1, millis / (5 * slot));
    long firstKey = round * 1_000_000_000L; // keys of a round never occur in another
    for (long at = 0; at + slot <= millis || !deck.isEmpty(); at += slot) {
      if (deck.isEmpty()) {
        long from = firstKey;
        deck = shuffled(clientKinds(from, Math.toIntExact(keys / decks)), random);
        firstKey += keys;
      }
      planned.add(new Planned(at, slot * 2 / 3, deck.removeFirst().draw(random)));
    }
    return planned;
  }

  private static List<Kind> clientKinds(long firstKey, int keys) {
    return List.of(
        random -> new SlowReaders(process(random), STOPPED_CLIENTS),
        random -> new HostileStreams(process(random), 4),
        random -> new LongKeys(process(random), 500, LONG_VALUE_BYTES),
        _ -> new KeyFlood(firstKey, keys),
        random -> new LoadMultiplied(random.nextInt(ChaosFleet.REGIONS), LOAD_FACTOR));
  }

  private static int process(RandomGenerator random) {
    return random.nextInt(ChaosFleet.PROCESSES);
  }

  private static int delay(RandomGenerator random) {
    return random.nextInt(MAX_DELAY_MILLIS + 1);
  }

  private static List<Kind> shuffled(List<Kind> kinds, RandomGenerator random) {
    List<Kind> left = new ArrayList<>(kinds);
    List<Kind> shuffled = new ArrayList<>();
    while (!left.isEmpty()) {
      shuffled.add(left.remove(random.nextInt(left.size())));
    }
    return shuffled;
  }
}
