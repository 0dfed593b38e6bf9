package io.throttlekit.rate;

import io.throttlekit.Cost;
import io.throttlekit.Decision;
import io.throttlekit.Overrun;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Admits at most {@code limit} units in the window that ends now, counted in {@code buckets}
 * slices.
 *
 * <p>Any {@code buckets} consecutive slices hold at most {@code limit} admitted units. A slice that
 * is partly covered by the window counts in proportion, so a window that begins within a slice can
 * hold more than {@code limit}, by at most the units of that slice. With one bucket this is the
 * two-counter estimator. Time that runs backwards stays in the newest slice seen.
 *
 * @param limit units per window, from 0 (refuse everything); {@code limit · windowMillis / buckets}
 *     is at most {@link Cost#MAX}
 * @param windowMillis length of the window in ms, from 1
 * @param buckets slices of a window, from 1 to 1000; a divisor of {@code windowMillis}
 */
public record SlidingWindow(long limit, long windowMillis, int buckets)
    implements RateAlgorithm<SlidingWindow.State> {
  private static final int DEFAULT_BUCKETS = 10; // the partly covered slice is a tenth
  private static final int MAX_BUCKETS = 1000; // each used slice is an object in memory

  /**
   * Units charged in the slice that began at {@code startMillis}, and the used slices before it.
   */
  public record State(long startMillis, long used, @Nullable State older) {}

  /** Checks the ranges. */
  public SlidingWindow {
    Range.checkLimit(limit);
    Range.checkWindow(windowMillis);
    if (buckets < 1 || buckets > MAX_BUCKETS || windowMillis % buckets != 0) {
      throw new IllegalArgumentException(
          "buckets must be from 1 to 1000 and divide the window, was " + buckets);
    }
    Range.checkProduct("limit", limit, windowMillis / buckets);
  }

  /** Creates an algorithm with as many buckets as divide the window, at most 10. */
  public SlidingWindow(long limit, long windowMillis) {
    this(limit, windowMillis, bucketsFor(windowMillis));
  }

  @Override
  public String id() {
    return "sliding_window";
  }

  @Override
  public Transition<State> charge(
      @Nullable State state, long nowMillis, long cost, Overrun overrun) {
    long slice = sliceStart(state, nowMillis);
    long at = Math.max(nowMillis, slice);
    long needed = Range.needed(cost, overrun);
    if (fits(state, at, needed)) {
      State next = cost == 0 ? state : add(state, slice, cost);
      return new Transition<>(next, admission(next, at, nowMillis));
    }
    long debt = Range.debt(cost, overrun);
    State next = debt == 0 ? state : add(state, slice, debt);
    return new Transition<>(
        next,
        Decision.refuse(
            limit,
            remaining(state, at) - debt,
            resetAt(next, at) - nowMillis,
            retryAfter(next, needed, nowMillis)));
  }

  @Override
  public Transition<State> refund(@Nullable State state, long nowMillis, long units) {
    long slice = sliceStart(state, nowMillis);
    State next = take(state, units, slice - windowMillis);
    return new Transition<>(next, admission(next, Math.max(nowMillis, slice), nowMillis));
  }

  @Override
  public long unusedFromMillis(State state) {
    State used = state;
    while (used != null && used.used == 0) {
      used = used.older;
    }
    return used == null ? state.startMillis : used.startMillis + bucketMillis() + windowMillis;
  }

  /** Returns start and units of each slice, newest first. */
  @Override
  public long[] numbers(State state) {
    int slices = 0;
    for (State s = state; s != null; s = s.older) {
      slices++;
    }
    long[] numbers = new long[2 * slices];
    int at = 0;
    for (State s = state; s != null; s = s.older) {
      numbers[at++] = s.startMillis;
      numbers[at++] = s.used;
    }
    return numbers;
  }

  @Override
  public State ofNumbers(long[] numbers) {
    Range.checkPairs(id(), numbers);
    State state = null;
    for (int at = numbers.length - 2; at >= 0; at -= 2) {
      state = new State(numbers[at], numbers[at + 1], state);
    }
    return Objects.requireNonNull(state);
  }

  /** Returns whether the estimate at {@code at} has room for {@code cost}. */
  private boolean fits(@Nullable State state, long at, long cost) {
    return cost <= limit && spare(state, at) >= Range.saturatedProduct(cost, bucketMillis());
  }

  /**
   * Returns the remaining units by the estimate, times bucketMillis; below 0 after an overdraft.
   */
  private long spare(@Nullable State state, long at) {
    long bucket = bucketMillis();
    long slice = at - Math.floorMod(at, bucket);
    long oldest = slice - windowMillis;
    long whole = 0;
    long fading = 0;
    for (State s = state; s != null && s.startMillis >= oldest; s = s.older) {
      if (s.startMillis == oldest) {
        fading = Range.saturatedProduct(s.used, bucket - (at - slice));
      } else {
        whole = Range.saturatedSum(whole, s.used);
      }
    }
    return limit * bucket - Range.saturatedSum(Range.saturatedProduct(whole, bucket), fading);
  }

  private Decision admission(@Nullable State state, long at, long nowMillis) {
    return Decision.admit(limit, remaining(state, at), resetAt(state, at) - nowMillis);
  }

  private long remaining(@Nullable State state, long at) {
    return Math.max(0, spare(state, at)) / bucketMillis();
  }

  private long resetAt(@Nullable State state, long at) {
    return state == null ? at : Math.max(at, unusedFromMillis(state));
  }

  private long retryAfter(@Nullable State state, long needed, long nowMillis) {
    return needed > limit ? Decision.NEVER : fitsFrom(state, needed) - nowMillis;
  }

  /**
   * Returns the first ms from which {@code cost}, which does not fit now, fits without other
   * charges.
   */
  private long fitsFrom(@Nullable State state, long cost) {
    long bucket = bucketMillis();
    long room = limit - cost;
    // The newest slice that must expire at least in part: all newer ones together leave room.
    State fading = state;
    while (fading != null && fading.used <= room) {
      room -= fading.used;
      fading = fading.older;
    }
    if (fading == null) {
      throw new IllegalStateException("a cost was refused that fits");
    }
    long faded = bucket - room * bucket / fading.used;
    return fading.startMillis + windowMillis + faded;
  }

  private State add(@Nullable State state, long slice, long cost) {
    if (state != null && state.startMillis == slice) {
      return new State(slice, Range.saturatedSum(state.used, cost), state.older);
    }
    return new State(slice, cost, trimmed(state, slice - windowMillis));
  }

  /**
   * Returns {@code state} without the slices before {@code oldest}. It is copied only if most
   * slices are expired, so the amortized cost of a charge is one copied slice.
   */
  private static @Nullable State trimmed(@Nullable State state, long oldest) {
    int live = 0;
    int gone = 0;
    for (State s = state; s != null; s = s.older) {
      if (s.startMillis >= oldest) {
        live++;
      } else {
        gone++;
      }
    }
    return live == 0 ? null : gone > live ? firstOf(state, live) : state;
  }

  private static @Nullable State firstOf(@Nullable State state, int slices) {
    return state == null || slices == 0
        ? null
        : new State(state.startMillis, state.used, firstOf(state.older, slices - 1));
  }

  /**
   * Returns {@code state} less {@code units} of the slices from {@code oldest} on, newest first.
   * Its newest slice stays, even empty, and so do older slices: a clock may step back to them.
   */
  private static @Nullable State take(@Nullable State state, long units, long oldest) {
    if (state == null || state.startMillis < oldest) {
      return state;
    }
    State rest = state;
    long left = units;
    while (rest != null && rest.startMillis >= oldest && left >= rest.used) {
      left -= rest.used;
      rest = rest.older;
    }
    if (rest != null && rest.startMillis >= oldest) {
      rest = new State(rest.startMillis, rest.used - left, rest.older);
    }
    return rest != null && rest.startMillis == state.startMillis
        ? rest
        : new State(state.startMillis, 0, rest);
  }

  private long sliceStart(@Nullable State state, long nowMillis) {
    long slice = nowMillis - Math.floorMod(nowMillis, bucketMillis());
    return state == null ? slice : Math.max(slice, state.startMillis);
  }

  private long bucketMillis() {
    return windowMillis / buckets;
  }

  private static int bucketsFor(long windowMillis) {
    int buckets = DEFAULT_BUCKETS;
    while (windowMillis % buckets != 0) {
      buckets--;
    }
    return buckets;
  }
}
