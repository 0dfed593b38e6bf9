package io.throttlekit.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Measured;
import io.throttlekit.store.OpenLoad.Answered;
import io.throttlekit.store.StoreListener.Failure;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/**
 * What a store of a server promises while that pauses, for a moment or for longer, as a busy
 * machine makes it, or its fork. The store has the default settings: a deadline of a second, and a
 * breaker that opens after a second without any answer and probes each 25 ms.
 */
public abstract class StallConformance {
  private static final int[] RATES = {100, 1_000, 5_000};
  private static final int[] PAUSES_MILLIS = {1, 20, 60, 200};
  private static final int RATE_OF_LONG_STOPS = 600;
  private static final int MIN_WHILE_OPEN = 60;
  private static final long DEADLINE_NANOS = millis(1_000);
  private static final int WARM_UP_REQUESTS = 300;

  /** The store, connected. */
  protected abstract CounterStore store();

  /** A claim of one unit of a user's counter. */
  protected abstract Claim claim(String user);

  /** Makes the server hang for that time. */
  protected abstract void pause(long millis);

  /** Makes the server hang. */
  protected abstract void hang();

  /** Ends {@link #hang}. */
  protected abstract void goOn();

  /** The store's. */
  protected abstract RecordingListener listener();

  /** Whether a user's counter is on the server that hangs. */
  protected boolean isOfServer(String user) {
    return true;
  }

  /** Returns the listener's notifications of a server that hangs and resumes. */
  protected List<String> statesOfAStop() {
    return List.of("down", "up");
  }

  @Test
  void aPauseFailsOnlyExpiredRequestsAndNeverOpensTheBreaker() throws Exception {
    warm();
    Measured.twoOfThree(() -> {
      long seed = new Random().nextLong();
      Random random = new Random(seed);
      for (int rate : RATES) {
        for (int pause : PAUSES_MILLIS) {
          aPause(
              rate, pause, random.nextLong(), "seed %d, %d/s, %d ms".formatted(seed, rate, pause));
        }
      }
    });
  }

  private void aPause(int rate, int pause, long seed, String where) {
    listener().states.clear();
    listener().failures.clear();
    long[] waits = {millis(2), millis(18), millis(50), millis(250), DEADLINE_NANOS};
    List<Answered> answered;
    int before;
    try (OpenLoad load = new OpenLoad(store(), this::claim, rate, seed, waits)) {
      load.goOn(30);
      before = load.answered().size();
      pause(pause);
      load.goOn(70);
      answered = load.answered();
    }
    assertThat(answered).as(where).hasSizeGreaterThan(before);
    assertThat(answered).as(where).noneMatch(Answered::failedInItsTime);
    assertThat(listener().states).as(where).isEmpty();
    assertThat(listener().failures).as(where).doesNotContain(Failure.OPEN, Failure.CONNECTION);
  }

  @Test
  void aStallOpensTheBreakerAfterASecondAndClosesItWithin100Millis() throws Exception {
    warm();
    Measured.twoOfThree(() -> {
      long wait = millis(50);
      try (OpenLoad load = new OpenLoad(store(), this::claim, RATE_OF_LONG_STOPS, 7, wait)) {
        load.goOn(100);
        listener().states.clear();
        listener().failures.clear();
        long stops = System.nanoTime();
        hang();
        long stopped = System.nanoTime();
        long opened;
        long goes;
        try {
          awaitOpen();
          opened = System.nanoTime();
          load.goOn(500);
        } finally {
          goes = System.nanoTime();
          goOn();
        }
        long back = load.answeredAfter(goes, this::isOfServer);
        assertThat(millisOf(opened - stops)).as("ms until it opened").isGreaterThan(900);
        assertThat(millisOf(opened - stopped)).as("ms until it opened").isLessThan(1_400);
        assertThat(millisOf(back)).as("ms until it answered").isLessThanOrEqualTo(100);
        assertThat(listener().states).isEqualTo(statesOfAStop());
        assertFailsAtOnce(load, opened, goes - wait);
        assertThat(load.answered())
            .as("of other servers")
            .noneMatch(each -> !isOfServer(each.user()) && each.failedInItsTime());
      }
    });
  }

  private void assertFailsAtOnce(OpenLoad load, long fromNanos, long untilNanos) {
    List<Answered> open =
        load.answered().stream()
            .filter(each -> isOfServer(each.user()))
            .filter(each -> each.sentNanos() - fromNanos > 0)
            .filter(each -> each.sentNanos() - untilNanos < 0)
            .toList();
    assertThat(open).hasSizeGreaterThan(MIN_WHILE_OPEN);
    assertThat(open.stream().filter(each -> !each.failedInItsTime()))
        .as("of %d, the ones that probed", open.size())
        .hasSizeLessThanOrEqualTo(open.size() / 3);
  }

  /** Makes the path of a request quick, as it is in a process that serves. */
  protected final void warm() {
    for (int i = 0; i < WARM_UP_REQUESTS; i++) {
      var _ =
          store()
              .acquire(List.of(claim("warm")), TimeUnit.SECONDS.toNanos(10))
              .exceptionally(_ -> null)
              .toCompletableFuture()
              .join();
    }
    listener().states.clear();
    listener().failures.clear();
  }

  /** Waits until requests fail because a breaker is open. */
  protected final void awaitOpen() {
    long begun = System.nanoTime();
    while (!listener().failures.contains(Failure.OPEN)) {
      assertThat(System.nanoTime() - begun)
          .as("ns without an open breaker")
          .isLessThan(millis(10_000));
      LockSupport.parkNanos(millis(2));
    }
  }

  protected static long millis(long millis) {
    return TimeUnit.MILLISECONDS.toNanos(millis);
  }

  protected static long millisOf(long nanos) {
    return TimeUnit.NANOSECONDS.toMillis(nanos);
  }
}
