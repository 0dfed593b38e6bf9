package io.throttlekit.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.ManualTime;
import io.throttlekit.store.StoreListener.Failure;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Tests a store whose server pauses, for a moment or for longer, as on a busy machine or during a
 * fork. The store has the default settings: a deadline of a second, and a breaker that opens after
 * a second without any answer and probes each 25 ms. Only the tests move the store's clock, so no
 * deadline passes because the server is slow.
 */
public abstract class StallConformance {
  /** The interval of the breaker's probes. */
  protected static final long PROBE_MILLIS = 25;

  private static final int[] RATES = {100, 1_000, 5_000};
  private static final int[] PAUSES_MILLIS = {1, 20, 60, 200};
  private static final long[] WAITS_MILLIS = {2, 18, 50, 250, 1_000};
  private static final int COUNTERS = 1_000;
  private static final long SEED = 1;

  /** A deadline is noticed so much later at most, by the store's clock. */
  private static final long TICKS_MILLIS = 3;

  private static final long DEADLINE_MILLIS = 1_000;
  private static final Duration SLOW_MACHINE = Duration.ofMinutes(2);
  private static final long POLL_MILLIS = 2;
  private static final int WARM_UP_REQUESTS = 50;

  /** The store's clock. */
  protected final ManualTime time = new ManualTime(1_700_000_000_000L);

  /** The store, connected. */
  protected abstract CounterStore store();

  /** A claim of one unit of a user's counter. */
  protected abstract Claim claim(String user);

  /** Makes the server hang. */
  protected abstract void hang();

  /** Ends {@link #hang}. */
  protected abstract void goOn();

  /** Returns the listener of the store. */
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
  void aPauseFailsOnlyExpiredRequestsAndNeverOpensTheBreaker() {
    warm();
    Random random = new Random(SEED);
    for (int rate : RATES) {
      for (int pause : PAUSES_MILLIS) {
        listener().failures.clear();
        aPause(rate, pause, random, "seed %d, %d/s, %d ms".formatted(SEED, rate, pause));
      }
    }
  }

  private record Request(long sentMillis, long waitMillis, CompletableFuture<Outcome> answer) {
    boolean isExpiredAt(long millis) {
      return millis - sentMillis >= waitMillis;
    }
  }

  private void aPause(int rate, int pause, Random random, String where) {
    List<Request> requests = new ArrayList<>();
    List<Request> expired = new ArrayList<>();
    hang();
    for (long millis = 0; millis < pause; millis++) {
      long due = Math.max(1, (millis + 1) * rate / 1_000);
      while (requests.size() < due) {
        long wait = WAITS_MILLIS[random.nextInt(WAITS_MILLIS.length)];
        String user = "user" + random.nextInt(COUNTERS);
        Request request = new Request(millis, wait, acquire(user, wait));
        requests.add(request);
        if (isOfServer(user) && request.isExpiredAt(pause - TICKS_MILLIS)) {
          expired.add(request);
        }
      }
      time.advance(1);
    }
    await(where, () -> expired.stream().allMatch(each -> each.answer.isDone()));
    goOn();
    await(where, () -> requests.stream().allMatch(each -> each.answer.isDone()));
    assertThat(expired).as(where).allMatch(each -> each.answer.isCompletedExceptionally());
    assertThat(requests.stream().filter(each -> each.answer.isCompletedExceptionally()))
        .as(where)
        .allMatch(each -> each.isExpiredAt(pause));
    assertThat(listener().states).as(where).isEmpty();
    assertThat(listener().failures).as(where).allMatch(Failure.DEADLINE::equals);
  }

  @Test
  void aStallOpensTheBreakerNotBeforeASecondAndTheNextAnswerClosesIt() {
    warm();
    String user = userOfServer();
    hang();
    var _ = acquire(user, DEADLINE_MILLIS);
    CompletableFuture<Outcome> expiring = acquire(user, 900);
    time.advance(995);
    await("a sweep", expiring::isDone);
    assertThat(listener().failures).as("after 995 ms").doesNotContain(Failure.OPEN);
    assertThat(listener().states).as("after 995 ms").isEmpty();
    awaitOpen(user);

    // Whatever the load is, 20 probes in 500 ms; all other requests fail at once.
    for (int interval = 0; interval < 20; interval++) {
      time.advance(PROBE_MILLIS);
      int probes = 0;
      for (int i = 0; i < 10; i++) {
        probes += acquire(user, DEADLINE_MILLIS).isCompletedExceptionally() ? 0 : 1;
      }
      assertThat(probes).as("probes in interval %d", interval).isEqualTo(1);
    }
    assertOtherServersAnswer();

    goOn(); // no time passes from here on, so no other probe is sent
    await("closed", () -> !acquire(user, DEADLINE_MILLIS).isCompletedExceptionally());
    assertAnswered(user);
    assertThat(listener().states).isEqualTo(statesOfAStop());
  }

  private void assertOtherServersAnswer() {
    for (int i = 0; i < 100; i++) {
      if (!isOfServer("user" + i)) {
        assertAnswered("user" + i);
      }
    }
  }

  private String userOfServer() {
    return IntStream.range(0, COUNTERS)
        .mapToObj(i -> "user" + i)
        .filter(this::isOfServer)
        .findFirst()
        .orElseThrow();
  }

  /** Sends a request whose wait timeout is in ms of the test's clock. */
  protected final CompletableFuture<Outcome> acquire(String user, long waitMillis) {
    return store()
        .acquire(List.of(claim(user)), TimeUnit.MILLISECONDS.toNanos(waitMillis))
        .toCompletableFuture();
  }

  /** Checks that a request is answered, however long that takes. */
  protected final void assertAnswered(String user) {
    assertThat(acquire(user, DEADLINE_MILLIS)).as(user).succeedsWithin(SLOW_MACHINE);
  }

  /** Makes connections, and clears what the listener has recorded. */
  protected final void warm() {
    for (int i = 0; i < WARM_UP_REQUESTS; i++) {
      assertAnswered("warm" + i);
    }
    listener().states.clear();
    listener().failures.clear();
  }

  /** Sends a request in each ms of the test's clock, until one fails because a breaker is open. */
  protected final void awaitOpen(String user) {
    await(
        "open",
        () -> {
          time.advance(1);
          var _ = acquire(user, DEADLINE_MILLIS);
          return listener().failures.contains(Failure.OPEN);
        });
  }

  /** Waits for a condition, however long that takes. */
  protected static void await(String what, BooleanSupplier condition) {
    for (long waited = 0; !condition.getAsBoolean(); waited += POLL_MILLIS) {
      assertThat(waited).as("ms until " + what).isLessThan(SLOW_MACHINE.toMillis());
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(POLL_MILLIS));
    }
  }
}
