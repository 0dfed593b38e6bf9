package io.throttlekit.limit;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.limit.ProbedVegasLimit.Settings;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Random input that no honest limiter, Envoy or node sends, and the way back from it. */
class ProbedVegasFuzzTest {
  private static final int SEEDS = 6;
  private static final int ROUNDS = 100;
  private static final int MAX_PER_ROUND = 60;
  private static final int MAX = 1_000;
  private static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
  private static final long HOUR = TimeUnit.HOURS.toNanos(1);

  /** Limits of 20 servers of 20 ms that are overloaded: around 37. */
  private static final int LEAST = 20;

  private static final int MOST = 90;

  /** What is out of the ordinary. */
  enum Hostile {
    TIMES(30),
    LATENCIES(30),
    IN_FLIGHT(150),
    DROPS(30),
    REFUSALS(30),
    ACKNOWLEDGEMENTS(30),
    ALL_OF_THEM(60),
    STATISTICS(900),
    BASELINES(900);

    private final int seconds;

    /**
     * @param seconds in which the limit is a usual one again; about twice as many as were seen
     */
    Hostile(int seconds) {
      this.seconds = seconds;
    }
  }

  private static final List<Hostile> SINGLE =
      List.of(
          Hostile.TIMES,
          Hostile.LATENCIES,
          Hostile.IN_FLIGHT,
          Hostile.DROPS,
          Hostile.REFUSALS,
          Hostile.ACKNOWLEDGEMENTS);

  @ParameterizedTest(name = "{0}, seeds 0 to 5")
  @EnumSource
  void theLimitStaysInItsRangeAndFindsItsWayBack(Hostile hostile) {
    for (int seed = 0; seed < SEEDS; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      boolean digested = hostile == Hostile.STATISTICS;
      Settings settings = digested ? Settings.defaults().ofFleet() : Settings.defaults();
      ProbedVegasLimit limit =
          new ProbedVegasLimit(new LimitRange(1, MAX, 20), settings, random.split());
      Backend backend = new Backend(limit, random.split());
      backend.run(20 * SECOND, 700);
      for (int round = 0; round < ROUNDS; round++) {
        for (int i = random.nextInt(MAX_PER_ROUND); i > 0; i--) {
          send(hostile, limit, backend.time(), random);
          assertThat(limit.limit()).as("%s, seed %s", hostile, seed).isBetween(1, MAX);
        }
        backend.run(random.nextLong(SECOND / 2), random.nextInt(3) == 0 ? 1_300 : 700);
      }
      assertThat(secondsUntilUsual(limit, backend, digested, hostile.seconds))
          .as("%s, seed %s: limit %s", hostile, seed, limit.limit())
          .isLessThan(hostile.seconds);
    }
  }

  /** Returns after how many seconds of an overload the limit is a usual one for ten seconds. */
  private static int secondsUntilUsual(
      ProbedVegasLimit limit, Backend backend, boolean digested, int most) {
    int usual = 0;
    int seconds = 0;
    for (; seconds < most && usual < 10; seconds++) {
      for (int node = 0; digested && node < 4; node++) {
        limit.learn(new RequestStatistics(0, 0, 1_000), 250);
      }
      backend.run(SECOND, 1_300);
      usual = limit.limit() >= LEAST && limit.limit() <= MOST ? usual + 1 : 0;
    }
    return seconds;
  }

  private static void send(
      Hostile hostile, ProbedVegasLimit limit, long now, SplittableRandom random) {
    switch (hostile) {
      case TIMES -> {
        long arrived = time(now, random);
        switch (random.nextInt(3)) {
          case 0 -> limit.onTick(arrived);
          case 1 -> limit.refused(arrived, random.nextInt(3));
          default -> limit.learn(sample(time(now, random), 20 * MILLI, arrived, 10, false));
        }
      }
      case LATENCIES -> {
        long latency = number(random) & Long.MAX_VALUE;
        limit.learn(sample(now - latency, latency, now, 10, false));
      }
      case IN_FLIGHT ->
          limit.learn(sample(now - 20 * MILLI, 20 * MILLI, now, inFlight(random), false));
      case DROPS -> limit.learn(sample(now - SECOND, SECOND, now, inFlight(random), true));
      case REFUSALS -> limit.refused(now, random.nextInt(3) == 0 ? Long.MAX_VALUE : 9);
      case ACKNOWLEDGEMENTS ->
          limit.acknowledged(
              random.nextInt(4) == 0 ? Integer.MAX_VALUE : random.nextInt(60), time(now, random));
      case ALL_OF_THEM -> send(SINGLE.get(random.nextInt(SINGLE.size())), limit, now, random);
      case STATISTICS ->
          limit.learn(
              new RequestStatistics(number(random), number(random), number(random)),
              number(random) & ((1L << 40) - 1));
      case BASELINES -> limit.resume(number(random), time(now, random));
    }
  }

  private static Sample sample(long start, long latency, long arrived, int inFlight, boolean drop) {
    return new Sample(start, latency, arrived, inFlight, inFlight % 2 == 0, drop);
  }

  private static int inFlight(SplittableRandom random) {
    return random.nextBoolean() ? Integer.MAX_VALUE : 1 + random.nextInt(Integer.MAX_VALUE);
  }

  private static long time(long now, SplittableRandom random) {
    return switch (random.nextInt(4)) {
      case 0 -> now + HOUR;
      case 1 -> now - HOUR;
      case 2 -> number(random);
      default -> now - random.nextLong(30 * SECOND);
    };
  }

  private static long number(SplittableRandom random) {
    return switch (random.nextInt(6)) {
      case 0 -> Long.MAX_VALUE;
      case 1 -> Long.MIN_VALUE;
      case 2 -> 0;
      case 3 -> 1;
      case 4 -> 1L << random.nextInt(Long.SIZE);
      default -> random.nextLong();
    };
  }

  /** 20 servers of 20 ms with a queue, behind the limit. */
  private static final class Backend {
    private static final int SERVERS = 20;

    /** Monotonic time overflows during the test. */
    private static final long ORIGIN = Long.MAX_VALUE - 30 * SECOND;

    private final ConcurrencyLimit limit;
    private final SplittableRandom random;
    private final Queue<Request> busy =
        new PriorityQueue<>(Comparator.comparingLong(request -> request.endNanos));
    private final Deque<Request> queue = new ArrayDeque<>();
    private long now;
    private long tickNanos;

    private record Request(long startNanos, int inFlight, long endNanos) {}

    Backend(ConcurrencyLimit limit, SplittableRandom random) {
      this.limit = limit;
      this.random = random;
    }

    long time() {
      return ORIGIN + now;
    }

    void run(long nanos, double perSecond) {
      long end = now + nanos;
      long arrival = now + gap(perSecond);
      while (true) {
        long done = busy.isEmpty() ? Long.MAX_VALUE : busy.element().endNanos;
        long next = Math.min(tickNanos, Math.min(done, arrival));
        if (next >= end) {
          now = end;
          return;
        }
        now = next;
        if (next == tickNanos) {
          limit.onTick(time());
          tickNanos += SECOND / 2;
        } else if (next == done) {
          end(busy.remove());
        } else {
          arrive();
          arrival = now + gap(perSecond);
        }
      }
    }

    private void arrive() {
      int inFlight = busy.size() + queue.size() + 1;
      if (inFlight > limit.limit()) {
        limit.refused(time(), 1);
        return;
      }
      queue.add(new Request(now, inFlight, 0));
      serve();
    }

    private void end(Request request) {
      long latency = now - request.startNanos;
      limit.learn(new Sample(time() - latency, latency, time(), request.inFlight, false, false));
      serve();
    }

    private void serve() {
      while (busy.size() < SERVERS && !queue.isEmpty()) {
        Request request = queue.remove();
        long service = (long) (20 * MILLI * (0.5 + 0.5 * exponential()));
        busy.add(new Request(request.startNanos, request.inFlight, now + service));
      }
    }

    private long gap(double perSecond) {
      return Math.max(1, (long) (exponential() / perSecond * SECOND));
    }

    private double exponential() {
      return -Math.log(1 - random.nextDouble());
    }
  }
}
