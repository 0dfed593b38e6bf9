package io.throttlekit.share;

import io.throttlekit.ManualTime;
import io.throttlekit.limit.RequestStatistics;
import io.throttlekit.limit.SampleDigest;
import io.throttlekit.share.ShareGrant.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * The calls of a fleet's nodes, generated from a seed, under a clock on which leases end and which
 * sometimes steps back. With the same answers, the same seed generates the same calls.
 */
final class RandomFleet {
  /** Ids whose order as strings differs from that of their bytes or with a suffix; some shared. */
  private static final List<String> IDS =
      List.of(
          "b", "a", "a!", "ab", "a:", "a", "", "é", "\uffee", "\ud83d\ude00", "pod-7", "pod-70");

  private static final long LEASE_MILLIS = 3_000;

  private final String key;
  private final long seed;
  private final SplittableRandom random;
  private final int most;
  private final ManualTime clock;
  private final List<Member> members = new ArrayList<>();
  private Member current;

  /** A call of a node. */
  sealed interface Call {}

  record Beat(Heartbeat beat) implements Call {}

  record Leaving(Departure departure) implements Call {}

  record Released(ReleasedPermits released) implements Call {}

  private final class Member {
    final String id;
    long incarnation;
    long previous;
    long sequence;
    long acknowledged;
    long epoch;
    int share;

    Member(String id) {
      this.id = id;
      begin();
    }

    void begin() {
      previous = incarnation;
      // some incarnations of a process are the same in their upper half
      incarnation = random.nextInt(3) == 0 ? incarnation + 1 : random.nextLong();
      sequence = 0;
      acknowledged = 0;
    }
  }

  /**
   * Creates a fleet.
   *
   * @param nodes how many call
   * @param most the largest limit, and the most requests in flight
   */
  RandomFleet(String key, long seed, int nodes, int most, ManualTime clock) {
    this.key = key;
    this.seed = seed;
    this.random = new SplittableRandom(seed);
    this.most = most;
    this.clock = clock;
    for (int i = 0; i < nodes; i++) {
      members.add(new Member(i < IDS.size() ? IDS.get(i) : "node" + i));
    }
    this.current = members.getFirst();
  }

  /** Moves the clock and returns the next call. */
  Call next() {
    move();
    // The first one calls most, so that it steers for long.
    current = random.nextInt(3) == 0 ? members.getFirst() : oneOf(members);
    if (random.nextInt(40) == 0) {
      current.begin();
    }
    long incarnation = random.nextInt(3) == 0 ? current.previous : current.incarnation;
    return switch (random.nextInt(50)) {
      case 0, 1 -> new Leaving(new Departure(key, current.id, incarnation, inFlight(current)));
      case 2, 3 ->
          new Released(
              new ReleasedPermits(
                  key, Incarnation.process(incarnation), 1 + random.nextInt(1 + most / 4)));
      default -> new Beat(beat(current));
    };
  }

  /** Records the answer to the last heartbeat. */
  void answered(ShareGrant grant) {
    if (grant.status() == Status.MEMBER) {
      current.share = grant.share();
      current.epoch = grant.epoch();
      current.acknowledged = random.nextInt(4) == 0 ? current.acknowledged : grant.generation();
    } else if (random.nextInt(3) > 0) {
      current.begin();
    }
  }

  @Override
  public String toString() {
    return "fleet " + key + " of seed " + seed;
  }

  private void move() {
    int kind = random.nextInt(300);
    if (kind == 0) {
      clock.advance(3 * LEASE_MILLIS); // all leases end
    } else if (kind < 5) {
      clock.setWall(clock.wallMillis() - random.nextInt(2_000));
    } else {
      clock.advance(random.nextInt(2 * (int) LEASE_MILLIS / members.size()));
    }
  }

  private Heartbeat beat(Member member) {
    int kind = random.nextInt(20);
    long sequence = kind == 0 ? member.sequence : member.sequence + (kind == 1 ? 3 : 1);
    member.sequence = Math.max(member.sequence, sequence);
    int inFlight = inFlight(member);
    return new Heartbeat(
        key,
        member.id,
        member.incarnation,
        sequence,
        1 + random.nextInt(most),
        random.nextInt(3) > 0,
        inFlight,
        random.nextInt(3) == 0 ? upTo(most) : inFlight,
        Math.max(0, random.nextInt(5) - 3),
        random.nextInt(20) == 0 ? member.acknowledged + 1 : member.acknowledged,
        random.nextInt(15) == 0 ? 1 + random.nextInt(500) : LEASE_MILLIS,
        random.nextInt(3) == 0 ? 0 : random.nextInt(2 * (int) LEASE_MILLIS),
        publication(member),
        digest());
  }

  private Heartbeat.@Nullable Publication publication(Member member) {
    return switch (random.nextInt(4)) {
      case 0 -> null;
      case 1 -> publication(random.nextInt(5));
      default -> member.epoch == 0 ? null : publication(member.epoch);
    };
  }

  private Heartbeat.Publication publication(long epoch) {
    return new Heartbeat.Publication(epoch, 1 + random.nextInt(most), random.nextBoolean());
  }

  private @Nullable SampleDigest digest() {
    if (random.nextBoolean()) {
      return null;
    }
    List<Long> latencies =
        random
            .longs(random.nextInt(1 + SampleDigest.MAX_LATENCIES), 1, 4_000_000_000_000L)
            .boxed()
            .toList();
    return new SampleDigest(
        latencies.isEmpty() ? 0 : 1 + random.nextLong(1L << 41),
        random.nextInt(3),
        random.nextLong(1L << 41),
        upTo(most),
        random.nextBoolean(),
        statistics(),
        latencies);
  }

  /** Returns statistics, many of them out of range. */
  private RequestStatistics statistics() {
    return random.nextInt(4) == 0
        ? RequestStatistics.NONE
        : new RequestStatistics(
            random.nextLong(-1L << 42, 1L << 42),
            random.nextLong(1L << 42),
            random.nextLong(1L << 31));
  }

  private int inFlight(Member member) {
    return switch (random.nextInt(8)) {
      case 0 -> 0;
      case 1 -> upTo(most);
      default -> upTo(Math.max(1, member.share));
    };
  }

  private int upTo(int bound) {
    return random.nextInt(Math.min(most, bound) + 1);
  }

  private <T> T oneOf(List<T> list) {
    return list.get(random.nextInt(list.size()));
  }
}
