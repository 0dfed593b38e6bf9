package io.throttlekit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.TimeSource;
import io.throttlekit.redis.OpenLoad.Answered;
import io.throttlekit.store.StoreListener.Failure;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A Redis that pauses, for a moment or for longer, as a busy machine makes it, or its fork. */
@RealRedis
@Timeout(180)
class RedisStallTest {
  private static final int[] RATES = {100, 1_000, 5_000};
  private static final int[] PAUSES_MILLIS = {1, 5, 20, 60, 120, 200};
  private static final long LONGEST_JUDGED_NANOS = millis(600);
  private static final int ATTEMPTS = 4;

  private final RedisProcess redis = RedisProcess.start();
  private final Heard heard = new Heard();
  private final RedisCounterStore store =
      Stores.connected(
          RedisCounterStore.connect(
              Wanted.redis(redis.url()).settings(), TimeSource.system(), heard));

  @AfterEach
  void stop() {
    store.close();
    redis.close();
  }

  @Test
  void aPauseFailsOnlyRequestsWhoseOwnDeadlineEndedAndNeverOpensTheBreaker() {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    warm();
    for (int rate : RATES) {
      for (int pause : PAUSES_MILLIS) {
        long[] waits = {millis(2), millis(18), millis(50), millis(250), Long.MAX_VALUE};
        long paused;
        int before;
        List<Answered> answered;
        try (OpenLoad load = new OpenLoad(store, rate, random.nextLong(), waits)) {
          before = answeredWithin(load, 30);
          long begun = System.nanoTime();
          redis.pause(pause);
          paused = System.nanoTime() - begun;
          answeredWithin(load, 100);
          answered = load.answered();
        }
        String where = "seed %d, %d/s, %d ms".formatted(seed, rate, pause);
        assertThat(answered).as(where).hasSizeGreaterThan(before);
        assertThat(answered).as(where).noneMatch(Answered::endedInItsTime);
        if (paused < LONGEST_JUDGED_NANOS) { // else the machine paused more than Redis
          assertThat(heard.states).as(where).isEmpty();
          assertThat(heard.failures).as(where).doesNotContain(Failure.OPEN, Failure.CONNECTION);
        }
      }
    }
  }

  @Test
  void aLongStopOpensTheBreakerAfterASecondThenFailsAtOnceAndEndsWithin100Millis() {
    warm();
    attempts(misses -> {
      heard.states.clear();
      long wait = millis(50);
      try (OpenLoad load = new OpenLoad(store, 200, 7, wait)) {
        answeredWithin(load, 100);
        long stopped = System.nanoTime();
        redis.hang();
        Asked.await("open", () -> !store.isUp());
        long opened = System.nanoTime();
        answeredWithin(load, 1_500);
        long goes = System.nanoTime();
        redis.goOn();
        long back = firstAdmittedAfter(load, goes);
        List<Answered> open =
            load.answered().stream()
                .filter(each -> each.askedNanos() - opened > 0)
                .filter(each -> each.askedNanos() + wait - goes < 0)
                .toList();
        long waited = open.stream().filter(each -> !each.endedInItsTime()).count();
        check(misses, opened - stopped >= millis(900), "opened after", opened - stopped);
        check(misses, opened - stopped <= millis(1_400), "opened after", opened - stopped);
        check(misses, open.size() >= 100, "requests while open", open.size());
        check(misses, waited <= open.size() / 4, "that probed, of " + open.size(), waited);
        check(misses, back <= millis(100), "back after", back);
        check(misses, heard.states.equals(List.of("down", "up")), "states" + heard.states, 0);
      }
    });
  }

  @Test
  void refusedConnectionsOpenTheBreakerAtOnceAndServiceIsBackWithin100MillisOfRedis() {
    warm();
    attempts(misses -> {
      heard.states.clear();
      try (OpenLoad load = new OpenLoad(store, 200, 7, millis(500))) {
        answeredWithin(load, 100);
        redis.kill();
        long killed = System.nanoTime();
        Asked.await("open", () -> !store.isUp());
        check(misses, System.nanoTime() - killed < millis(500), "opened after", killed);
        answeredWithin(load, 700); // by then it is tried as seldom as it will be
        redis.restart();
        long back = firstAdmittedAfter(load, System.nanoTime());
        check(misses, back <= millis(100), "back after", back);
      }
    });
  }

  /** Runs a measurement, again while the machine was too busy for it, and fails with its misses. */
  private static void attempts(Consumer<List<String>> measurement) {
    List<String> misses = new ArrayList<>();
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      misses.clear();
      measurement.accept(misses);
      if (misses.isEmpty()) {
        return;
      }
    }
    assertThat(misses).isEmpty();
  }

  private static void check(List<String> misses, boolean holds, String what, long nanos) {
    if (!holds) {
      misses.add(what + " " + nanos);
    }
  }

  private void warm() {
    for (int i = 0; i < 500; i++) {
      Asked.await("warm", () -> Asked.answers(store));
    }
    heard.failures.clear();
    heard.states.clear();
  }

  /** How long after {@code nanos} the first request was answered that was asked after it. */
  private static long firstAdmittedAfter(OpenLoad load, long nanos) {
    Asked.await("back", () -> !after(load, nanos).isEmpty());
    return after(load, nanos).stream()
        .mapToLong(each -> each.askedNanos() + each.tookNanos() - nanos)
        .min()
        .orElseThrow();
  }

  private static List<Answered> after(OpenLoad load, long nanos) {
    return load.answered().stream()
        .filter(each -> !each.failed() && each.askedNanos() - nanos > 0)
        .toList();
  }

  /** Lets the load go on for so long; how many requests have ended by then. */
  private static int answeredWithin(OpenLoad load, long millis) {
    long end = System.nanoTime() + millis(millis);
    Asked.await("over", () -> System.nanoTime() - end > 0);
    return load.answered().size();
  }

  private static long millis(long millis) {
    return TimeUnit.MILLISECONDS.toNanos(millis);
  }
}
