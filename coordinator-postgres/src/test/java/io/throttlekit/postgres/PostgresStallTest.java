package io.throttlekit.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.DataLoss;
import io.throttlekit.store.StoreListener.Failure;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A PostgreSQL that pauses, for a moment or for longer. */
@RealPostgres
@Timeout(120)
class PostgresStallTest {
  private static final int PER_SECOND = 200;
  private static final int ATTEMPTS = 4;

  private final PostgresProcess server = PostgresProcess.start();
  private final Heard heard = new Heard();
  private final PostgresCounterStore store =
      PostgresCounterStore.open(
          Wanted.of(server.url("postgres"))
              .connections(8)
              .deadlines(1_000, 10_000)
              .breaker(5, 1_000, 25)
              .settings(),
          Around.heard(heard));
  private final Random random = new Random();
  private final Queue<Ended> ended = new ConcurrentLinkedQueue<>();

  private record Ended(long askedNanos, long waitNanos, long tookNanos, boolean failed) {

    boolean failedInItsTime() {
      return failed && tookNanos < waitNanos;
    }
  }

  @AfterEach
  void stop() {
    store.close();
    server.close();
  }

  @Test
  void aPauseFailsOnlyRequestsWhoseOwnDeadlineEndedAndNeverOpensTheBreaker() {
    warm();
    for (int pause : new int[] {10, 60, 150}) {
      ended.clear();
      load(100, millis(50), Long.MAX_VALUE);
      server.hang();
      long hung = System.nanoTime();
      load(pause, millis(2), millis(18), millis(50), Long.MAX_VALUE);
      server.goOn();
      long paused = System.nanoTime() - hung;
      load(150, millis(18), Long.MAX_VALUE);
      assertThat(ended).as("%d ms", pause).noneMatch(Ended::failedInItsTime);
      if (paused < millis(600)) { // else the machine paused more than PostgreSQL
        assertThat(heard.states).as("%d ms", pause).isEmpty();
        assertThat(heard.failures).as("%d ms", pause).doesNotContain(Failure.OPEN);
      }
    }
  }

  @Test
  void aLongStopOpensTheBreakerAfterASecondThenFailsAtOnceAndEndsWithin100Millis() {
    warm();
    List<String> misses = new ArrayList<>();
    for (int attempt = 0; attempt == 0 || (attempt < ATTEMPTS && !misses.isEmpty()); attempt++) {
      misses.clear();
      ended.clear();
      heard.states.clear();
      server.hang();
      long hung = System.nanoTime();
      while (store.isUp() && System.nanoTime() - hung < millis(10_000)) {
        load(5, millis(50));
      }
      long opened = System.nanoTime();
      load(700, millis(50));
      long goes = System.nanoTime();
      server.goOn();
      long back = Long.MAX_VALUE;
      while (back == Long.MAX_VALUE && System.nanoTime() - goes < millis(10_000)) {
        load(5, millis(50));
        back = firstAnsweredAfter(goes);
      }
      List<Ended> open =
          ended.stream()
              .filter(each -> each.askedNanos - opened > 0 && each.askedNanos - goes < -millis(50))
              .toList();
      long waited = open.stream().filter(each -> !each.failedInItsTime()).count();
      check(misses, opened - hung >= millis(900), "opened after", opened - hung);
      check(misses, opened - hung <= millis(1_500), "opened after", opened - hung);
      check(misses, !open.isEmpty() && waited <= open.size() / 3, "probes of " + open, waited);
      check(misses, back <= millis(100), "back after", back);
    }
    assertThat(misses).isEmpty();
  }

  private static void check(List<String> misses, boolean holds, String what, long nanos) {
    if (!holds) {
      misses.add(what + " " + nanos);
    }
  }

  private void warm() {
    for (int i = 0; i < 200; i++) {
      Asked.await("warm", () -> Asked.answers(Asked.ask(store, "warm", 0)));
    }
    heard.states.clear();
    heard.failures.clear();
  }

  /** Asks at a steady rate for so long, whatever is answered. */
  private void load(long millis, long... waitsNanos) {
    long begun = System.nanoTime();
    long interval = TimeUnit.SECONDS.toNanos(1) / PER_SECOND;
    for (long at = interval; at <= millis(millis); at += interval) {
      for (long now = System.nanoTime(); now - begun < at; now = System.nanoTime()) {
        LockSupport.parkNanos(begun + at - now);
      }
      long wait = waitsNanos[random.nextInt(waitsNanos.length)];
      String user = "user" + random.nextInt(1_000);
      long asked = System.nanoTime();
      store
          .acquire(List.of(Asked.claim(Asked.FIVE, user, 1, DataLoss.REFILL)), wait)
          .whenComplete((_, failure) ->
              ended.add(new Ended(asked, wait, System.nanoTime() - asked, failure != null)));
    }
  }

  private long firstAnsweredAfter(long nanos) {
    return ended.stream()
        .filter(each -> !each.failed && each.askedNanos - nanos > 0)
        .mapToLong(each -> each.askedNanos + each.tookNanos - nanos)
        .min()
        .orElse(Long.MAX_VALUE);
  }

  private static long millis(long millis) {
    return TimeUnit.MILLISECONDS.toNanos(millis);
  }
}
