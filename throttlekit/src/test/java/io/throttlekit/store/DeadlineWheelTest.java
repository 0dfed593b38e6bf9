package io.throttlekit.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class DeadlineWheelTest {
  private static final long TICK = 1 << 20;
  private static final long MILLISECOND = TimeUnit.MILLISECONDS.toNanos(1);

  private final DeadlineWheel<Call> wheel = new DeadlineWheel<>(0);
  private final List<Call> late = new ArrayList<>();

  private static final class Call extends DeadlineWheel.Entry {
    final long deadline;

    Call(long deadline) {
      this.deadline = deadline;
    }
  }

  @Test
  void deadlinesExpireInOrderOfTimeNotOfArrival() {
    Call second = added(50 * MILLISECOND);
    Call third = added(3_000 * MILLISECOND);
    Call first = added(18 * MILLISECOND);
    expire(17 * MILLISECOND);
    assertThat(late).isEmpty();
    expire(18 * MILLISECOND + TICK);
    expire(50 * MILLISECOND + TICK);
    assertThat(late).containsExactly(first, second);
    expire(2_999 * MILLISECOND);
    assertThat(late).as("in the same wheel, three rounds later").hasSize(2);
    expire(3_000 * MILLISECOND + TICK);
    assertThat(late).containsExactly(first, second, third);
    assertThat(wheel.size()).isZero();
  }

  @Test
  void removedDeadlinesAreNotRetained() {
    Call first = added(MILLISECOND);
    Call second = added(MILLISECOND);
    Call third = added(MILLISECOND);
    wheel.remove(second);
    wheel.remove(second);
    assertThat(wheel.size()).isEqualTo(2);
    wheel.remove(third);
    expire(10 * MILLISECOND);
    assertThat(late).containsExactly(first);
    wheel.remove(first);
    assertThat(wheel.size()).isZero();
  }

  @Test
  void aPastDeadlineExpiresAtTheNextTick() {
    expire(5_000 * MILLISECOND);
    Call over = added(4_000 * MILLISECOND);
    assertThat(wheel.nextNanos()).isLessThanOrEqualTo(5_000 * MILLISECOND + TICK);
    expire(wheel.nextNanos());
    assertThat(late).containsExactly(over);
  }

  @Test
  void deadlinesCanBeAddedAndRemovedDuringExpiry() {
    Call first = added(MILLISECOND);
    Call second = added(MILLISECOND);
    List<Call> ended = new ArrayList<>();
    wheel.expire(
        10 * MILLISECOND,
        call -> {
          ended.add(call);
          wheel.remove(second);
          added(MILLISECOND); // already over
        });
    assertThat(ended).containsExactly(first, second);
    assertThat(wheel.size()).isEqualTo(2);
  }

  /** Compares with a list. Clocks start anywhere, also below 0, and advance by many rounds. */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void expiresEachOnceAndAtMostATickLate(long seed) {
    Random random = new Random(seed);
    long begin = random.nextLong(-(1L << 50), 1L << 50);
    DeadlineWheel<Call> own = new DeadlineWheel<>(begin);
    List<Call> kept = new ArrayList<>();
    long now = begin;
    for (int step = 0; step < 300; step++) {
      switch (random.nextInt(4)) {
        case 0, 1 -> {
          long wait = random.nextLong(-5, random.nextBoolean() ? 20 : 4_000) * MILLISECOND;
          Call call = new Call(Math.max(now, now + wait)); // one that is already over ends next
          own.add(call, now + wait);
          kept.add(call);
        }
        case 2 -> {
          if (!kept.isEmpty()) {
            own.remove(kept.remove(random.nextInt(kept.size())));
          }
        }
        default -> {
          now += random.nextLong(random.nextInt(20) == 0 ? 5_000 * MILLISECOND : 30 * MILLISECOND);
          long until = now;
          List<Call> ended = new ArrayList<>();
          own.expire(until, ended::add);
          assertThat(ended).allMatch(call -> call.deadline - until < 0).doesNotHaveDuplicates();
          assertThat(kept).containsAll(ended);
          kept.removeAll(ended);
          assertThat(kept).allMatch(call -> call.deadline - until > -2 * TICK);
        }
      }
      assertThat(own.size()).isEqualTo(kept.size());
      long next = own.nextNanos();
      assertThat(kept).allMatch(call -> next - call.deadline <= 2 * TICK);
    }
  }

  static LongStream seeds() {
    return LongStream.range(0, 200);
  }

  private Call added(long deadline) {
    Call call = new Call(deadline);
    wheel.add(call, deadline);
    return call;
  }

  private void expire(long now) {
    wheel.expire(now, late::add);
  }
}
