package io.throttlekit.steering;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** The limiters with one id, which divide one share, and their demand. Not thread-safe. */
final class LimiterGroup {
  final String id;
  final List<Limiter> limiters = new ArrayList<>(1);
  boolean active;
  long activeNanos;
  long demand;
  long lastTurn;
  int aim;

  LimiterGroup(String id) {
    this.id = id;
  }

  /** One limiter. */
  static final class Limiter {
    final LimiterGroup group;
    String name;
    boolean present;
    long leftNanos;
    int granted = -1;
    long number = Long.MAX_VALUE; // nothing to acknowledge before the first grant
    boolean acknowledged;
    int acknowledgedShare;
    int reserved;
    int aim;
    int next;

    Limiter(String name, LimiterGroup group) {
      this.name = name;
      this.group = group;
    }

    /** Continues with a state; disconnected. */
    void restore(LimiterState state, long nowNanos) {
      leftNanos = nowNanos;
      granted = state.granted();
      number = granted < 0 ? Long.MAX_VALUE : state.number();
      acknowledged = state.acknowledged();
      acknowledgedShare = state.acknowledgedShare();
      reserved = state.reserved();
      group.demand = Math.max(group.demand, state.demand());
      group.active |= state.active();
      group.activeNanos = nowNanos;
    }

    LimiterState state() {
      return new LimiterState(
          granted,
          granted < 0 ? 0 : number,
          acknowledged,
          acknowledgedShare,
          reserved,
          group.demand,
          group.active);
    }

    /** Discards the last grant, so that the next round grants again and awaits that number. */
    void grantAgain() {
      granted = -1;
      number = Long.MAX_VALUE;
      acknowledged = false;
    }
  }

  Stream<Limiter> present() {
    return limiters.stream().filter(limiter -> limiter.present);
  }

  long reserved() {
    return limiters.stream().mapToLong(limiter -> limiter.reserved).sum();
  }

  /** Divides a share into equal parts; the first ones take one more if there is a remainder. */
  void aim(int share) {
    aim = share;
    List<Limiter> present = present().toList();
    for (int i = 0; i < present.size(); i++) {
      Limiter limiter = present.get(i);
      limiter.aim = share / present.size() + (i < share % present.size() ? 1 : 0);
      limiter.next = limiter.granted < 0 ? 0 : Math.min(limiter.granted, limiter.aim);
    }
  }

  /**
   * Raises one slot for each limiter that is to have one, then the rest, smallest shares first.
   *
   * @param room slots that are not reserved; negative if too many are
   */
  static void raise(List<Limiter> present, long room) {
    List<Limiter> order =
        present.stream().sorted(Comparator.comparingInt(limiter -> limiter.next)).toList();
    for (int max : new int[] {1, Integer.MAX_VALUE}) {
      for (Limiter limiter : order) {
        // A limiter may rise up to its own reservation even when no other slot is free.
        long reach = limiter.reserved + Math.max(0, room);
        int next = (int) Math.min(Math.min(limiter.aim, max), reach);
        if (next > limiter.next) {
          limiter.next = next;
          room -= Math.max(0, next - limiter.reserved);
          limiter.reserved = Math.max(limiter.reserved, next);
        }
      }
    }
  }
}
