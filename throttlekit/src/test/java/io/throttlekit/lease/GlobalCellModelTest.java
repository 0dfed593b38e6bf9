package io.throttlekit.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.lease.AcquireResult.Kind;
import io.throttlekit.lease.sizing.LeaseSize;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.LeaseRequest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Runs random operations on a cell beside accounts of every granted unit, which is always in
 * exactly one place.
 */
class GlobalCellModelTest {
  private static final int STEPS = 4_000;

  /** The accounts of one window's units. */
  private static final class Account {
    long granted;
    long spent;
    long left;
  }

  /** A call in flight, and the coordinator's answer. */
  private record Call(boolean next, long wanted, long sentNanos, LeaseGrant answer) {}

  /** One cell, and a coordinator whose clock is far ahead by a random span. */
  private static final class Run {
    private final long seed;
    private final SplittableRandom random;
    private final GlobalCell cell = GlobalCells.cell(2, GlobalCells.IDLE, new LeaseSize.Fixed(10));
    private final TreeMap<Long, Account> accounts = new TreeMap<>();
    private final List<Call> calls = new ArrayList<>();
    private final List<AcquireResult> taken = new ArrayList<>();
    private final Map<Kind, Integer> reached = new HashMap<>();
    private final long ahead;
    private final long oneWayNanos;
    private long now;
    private int both;
    private int late;
    private int refunded;
    private long forfeited;

    Run(long seed) {
      this.seed = seed;
      this.random = new SplittableRandom(seed);
      this.ahead = random.nextLong(1_000_000);
      this.oneWayNanos = ms(seed % 2 == 0 ? 2 : 500);
    }

    long far() {
      return ahead + now / 1_000_000;
    }

    long window() {
      return far() - far() % GlobalCells.END + GlobalCells.END;
    }

    Account account(long window) {
      return accounts.computeIfAbsent(window, _ -> new Account());
    }

    void run() {
      for (int step = 0; step < STEPS; step++) {
        now += random.nextInt(8) == 0 ? random.nextLong(ms(600)) : random.nextLong(ms(3));
        step(random.nextInt(16));
        check(step);
      }
    }

    private void step(int what) {
      switch (what) {
        case 0, 1, 2, 3, 4 -> take(random.nextLong(5));
        case 5 -> refund(random.nextLong(1, 6));
        case 6, 7 -> startLease(GlobalCells.begun(cell, random.nextLong(5), now), false);
        case 8 -> startLease(GlobalCells.begunNext(cell, now), true);
        case 9, 10, 11, 12 -> answer();
        case 13 -> putBack();
        case 14 -> returnUnits(random.nextInt(8) == 0 ? cell.takeIdle(now) : new Leftover(0, 0));
        default -> {
          if (random.nextInt(40) == 0) {
            cell.reopen();
          }
        }
      }
    }

    private void take(long cost) {
      AcquireResult take =
          random.nextBoolean()
              ? cell.tryAcquire(GlobalCells.HUNDRED, cost, random.nextBoolean(), now)
              : cell.tryAcquire(GlobalCells.HUNDRED, cost, true, now);
      reached.merge(take.kind(), 1, Integer::sum);
      if (take.kind() != Kind.TAKEN) {
        return;
      }
      spend(take, cost);
      both += take.ofNextToo() ? 1 : 0;
      assertThat(window())
          .as("the current window is among the spent ones, seed %d: %s", seed, cell)
          .isBetween(
              take.windowEndMillis(),
              take.windowEndMillis() + (take.ofNextToo() ? GlobalCells.END : 0));
      for (long unit = 0; unit < cost; unit++) {
        taken.add(take);
      }
    }

    private void spend(AcquireResult take, long units) {
      move(take.windowEndMillis(), units);
      if (take.ofNextToo()) {
        move(take.windowEndMillis() + GlobalCells.END, units);
      }
    }

    private void move(long window, long units) {
      account(window).left -= units;
      account(window).spent += units;
    }

    private void refund(long units) {
      long window = currentOfCell();
      long most = Math.min(units, account(window).spent);
      GlobalCells.refund(cell, units, now);
      move(window, -most);
      refunded += most > 0 ? 1 : 0;
      taken.clear(); // refunded units are not put back, too
    }

    /** Returns the window whose units the cell takes back. */
    private long currentOfCell() {
      return GlobalCells.refund(cell, 0, now).windowEndMillis();
    }

    private void startLease(GlobalCells.StartedLease begun, boolean ahead) {
      long wanted = begun.units();
      if (wanted == 0) {
        return;
      }
      long asked = now;
      boolean next = begun.windowEndMillis() != LeaseRequest.CURRENT;
      now += random.nextLong(oneWayNanos);
      long lasting = window();
      long window = next ? begun.windowEndMillis() : lasting;
      boolean known = window == lasting || window == lasting + GlobalCells.END;
      long there = known ? GlobalCells.HUNDRED.limit() - account(window).granted : 0;
      long units = Math.min(there, random.nextInt(4) == 0 ? random.nextLong(wanted + 1) : wanted);
      account(window).granted += units;
      long millis = window - far();
      LeaseGrant answer = new LeaseGrant(units, window, millis, millis, there - units);
      calls.add(new Call(ahead, wanted, asked, answer));
    }

    private void answer() {
      if (calls.isEmpty()) {
        return;
      }
      now += random.nextLong(oneWayNanos);
      Call call = calls.remove(random.nextInt(calls.size()));
      if (random.nextInt(20) == 0) { // lost: spent by no process
        if (call.next()) {
          cell.failNext();
        } else {
          cell.fail();
        }
        return;
      }
      long unspendable =
          call.next()
              ? cell.completeNext(call.answer(), call.sentNanos(), now)
              : cell.complete(call.wanted(), call.answer(), call.sentNanos(), now).unspendable();
      assertThat(unspendable).isIn(0L, call.answer().units());
      late += unspendable > 0 ? 1 : 0;
      account(call.answer().windowEndMillis()).left += call.answer().units() - unspendable;
    }

    private void putBack() {
      if (taken.isEmpty()) {
        return;
      }
      AcquireResult take = taken.remove(random.nextInt(taken.size()));
      long end = take.windowEndMillis();
      assertThat(cell.putBack(1, end)).isTrue();
      move(end, -1);
      if (take.ofNextToo()) {
        assertThat(cell.putBack(1, end + GlobalCells.END)).isTrue();
        move(end + GlobalCells.END, -1);
      }
    }

    private void returnUnits(Leftover left) {
      if (left.units() > 0) {
        account(left.windowEndMillis()).left -= left.units();
        account(left.windowEndMillis()).granted -= left.units();
      }
      if (left.ofNext() > 0) {
        account(left.windowEndMillis() + GlobalCells.END).left -= left.ofNext();
        account(left.windowEndMillis() + GlobalCells.END).granted -= left.ofNext();
      }
    }

    private void check(int step) {
      forfeited += cell.takeForfeited();
      for (Map.Entry<Long, Account> entry : accounts.entrySet()) {
        Account each = entry.getValue();
        String where = "seed %d, step %d, window %d: %s";
        assertThat(each.left).as(where, seed, step, entry.getKey(), cell).isNotNegative();
        assertThat(each.spent)
            .as(where, seed, step, entry.getKey(), cell)
            .isBetween(0L, each.granted);
        assertThat(each.granted).isBetween(0L, GlobalCells.HUNDRED.limit());
      }
    }

    /** Checks after the cell has retired that its units match the accounts of each window. */
    void end() {
      Leftover left = cell.retire(now);
      forfeited += cell.takeForfeited();
      long end = left.windowEndMillis();
      assertThat(left.units()).as("seed %d", seed).isEqualTo(account(end).left);
      assertThat(left.ofNext()).isEqualTo(account(end + GlobalCells.END).left);
      long older = accounts.headMap(end).values().stream().mapToLong(each -> each.left).sum();
      assertThat(forfeited).as("seed %d", seed).isEqualTo(older);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
  void unitsAreSpentOnceAndWithinTheirGrants(long seed) {
    Run run = new Run(seed);
    run.run();
    run.end();
  }

  @Test
  void runsReachEveryOutcome() {
    Map<Kind, Integer> reached = new HashMap<>();
    int both = 0;
    int late = 0;
    int refunded = 0;
    long forfeited = 0;
    for (long seed = 1; seed <= 12; seed++) {
      Run run = new Run(seed);
      run.run();
      run.reached.forEach((kind, times) -> reached.merge(kind, times, Integer::sum));
      both += run.both;
      late += run.late;
      refunded += run.refunded;
      forfeited += run.forfeited;
    }
    assertThat(reached).containsOnlyKeys(Kind.TAKEN, Kind.REFUSED, Kind.SHORT);
    assertThat(reached.values()).as("%s", reached).allMatch(times -> times > 300);
    assertThat(both).as("of both windows").isGreaterThan(20);
    assertThat(late).as("late").isGreaterThan(5);
    assertThat(refunded).as("refunds").isGreaterThan(200);
    assertThat(forfeited).as("forfeited").isGreaterThan(1_000);
  }

  private static long ms(long millis) {
    return millis * 1_000_000;
  }
}
