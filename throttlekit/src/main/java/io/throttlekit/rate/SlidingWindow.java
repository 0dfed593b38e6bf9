package io.throttlekit.rate;

import io.throttlekit.Cost;
import io.throttlekit.Decision;
import io.throttlekit.Overrun;
import org.jspecify.annotations.Nullable;

/**
 * At most {@code limit} units in the window that ends now, counted in {@code buckets} slices.
 *
 * <p>The oldest slice, which the window covers in part, counts in proportion to that part; the
 * error is at most one slice. With one bucket this is the two-counter estimator. Time that runs
 * backwards stays in the newest slice seen.
 *
 * @param limit units per window, from 0 (refuse everything); {@code limit · windowMillis / buckets}
 *     is at most {@link Cost#MAX}
 * @param windowMillis length of the window in ms, from 1
 * @param buckets slices of a window, from 1 to 1000; a divisor of {@code windowMillis}
 */
public record SlidingWindow(long limit, long windowMillis, int buckets)
    implements RateAlgorithm<SlidingWindow.State> {
  private static final int DEFAULT_BUCKETS = 10;
  private static final int MAX_BUCKETS = 1000;

  /**
   * Units counted in the slice that began at {@code startMillis}, and the used slices before it.
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

  /** As many buckets as divide the window, at most 10. */
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
    if (cost == 0) {
      boolean admitted = overrun == Overrun.COUNT ? fits(state, at, 0) : fits(state, at, 1);
      return new Transition<>(
          state, admitted ? admission(state, at) : refusal(state, at, nowMillis, 1));
    }
    if (fits(state, at, cost)) {
      State next = add(state, slice, cost);
      return new Transition<>(next, admission(next, at));
    }
    Decision refusal = refusal(state, at, nowMillis, cost);
    if (overrun == Overrun.REFUSE) {
      return new Transition<>(state, refusal);
    }
    State next = add(state, slice, cost);
    return new Transition<>(
        next, Decision.refuse(limit, 0, resetAt(next, at), refusal.retryAfterMillis()));
  }

  @Override
  public Transition<State> refund(@Nullable State state, long nowMillis, long units) {
    State next = take(state, units);
    return new Transition<>(
        next, admission(next, Math.max(nowMillis, sliceStart(next, nowMillis))));
  }

  @Override
  public long unusedFromMillis(State state) {
    return state.startMillis + bucketMillis() + windowMillis;
  }

  /** Whether the estimate at {@code at} leaves room for {@code cost}. */
  private boolean fits(@Nullable State state, long at, long cost) {
    return spare(state, at) >= Range.saturatedProduct(cost, bucketMillis());
  }

  /**
   * What the estimate leaves of the limit, in units times bucketMillis; below 0 after an overdraft.
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

  private Decision admission(@Nullable State state, long at) {
    return Decision.admit(limit, remaining(state, at), resetAt(state, at));
  }

  private Decision refusal(@Nullable State state, long at, long nowMillis, long cost) {
    long retryAfter =
        cost > limit ? Decision.NEVER : Math.max(1, fitsFrom(state, at, cost) - nowMillis);
    return Decision.refuse(limit, remaining(state, at), resetAt(state, at), retryAfter);
  }

  private long remaining(@Nullable State state, long at) {
    return Math.max(0, spare(state, at)) / bucketMillis();
  }

  private long resetAt(@Nullable State state, long at) {
    return state == null ? at : Math.max(at, unusedFromMillis(state));
  }

  /** The first ms from which {@code cost}, at most the limit, fits if nothing else is charged. */
  private long fitsFrom(@Nullable State state, long at, long cost) {
    long bucket = bucketMillis();
    long from = at;
    for (int slice = 0; slice <= buckets + 1; slice++) {
      long end = from - Math.floorMod(from, bucket) + bucket;
      // Within a slice what is spare only grows, and linearly, so a search finds the first fit.
      if (fits(state, end - 1, cost)) {
        long low = from;
        long high = end - 1;
        while (low < high) {
          long middle = low + (high - low) / 2;
          if (fits(state, middle, cost)) {
            high = middle;
          } else {
            low = middle + 1;
          }
        }
        return low;
      }
      from = end;
    }
    return from;
  }

  private State add(@Nullable State state, long slice, long cost) {
    if (state != null && state.startMillis == slice) {
      return new State(slice, Range.saturatedSum(state.used, cost), state.older);
    }
    return new State(slice, cost, since(state, slice - windowMillis));
  }

  /** The slices of {@code state} from {@code oldest} on; shares what it can. */
  @SuppressWarnings("ReferenceEquality")
  private static @Nullable State since(@Nullable State state, long oldest) {
    if (state == null || state.startMillis < oldest) {
      return null;
    }
    State older = since(state.older, oldest);
    return older == state.older ? state : new State(state.startMillis, state.used, older);
  }

  /** {@code state} less {@code units}, the newest first. */
  private static @Nullable State take(@Nullable State state, long units) {
    State rest = state;
    long left = units;
    while (rest != null && left > 0) {
      if (left < rest.used) {
        return new State(rest.startMillis, rest.used - left, rest.older);
      }
      left -= rest.used;
      rest = rest.older;
    }
    return rest;
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
