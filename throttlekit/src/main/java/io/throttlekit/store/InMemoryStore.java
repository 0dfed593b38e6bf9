package io.throttlekit.store;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.RemovalCause;
import io.throttlekit.Charge;
import io.throttlekit.Claim;
import io.throttlekit.CounterKey;
import io.throttlekit.Decision;
import io.throttlekit.TimeSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Counters in this process's memory: exact under concurrency, and never more than a given number.
 *
 * <p>When there are too many, the least useful counter is forgotten (Caffeine's W-TinyLFU keeps
 * what is asked for often), and {@link #forgotten()} counts it unless it was unused by then. A
 * counter that is forgotten starts again as unused, so the limits are exact as long as that count
 * is 0.
 *
 * <p>Thread-safe. Charges of one counter exclude each other; charges of different counters do not
 * wait for each other.
 */
public final class InMemoryStore {
  private final TimeSource time;
  private final Cache<CounterKey, Counter> counters;
  private final AtomicLong created = new AtomicLong();
  private final LongAdder forgotten = new LongAdder();

  /**
   * An empty store.
   *
   * @param time the clock of all windows
   * @param maxCounters how many counters are kept at most, from 1
   */
  public InMemoryStore(TimeSource time, long maxCounters) {
    if (maxCounters < 1) {
      throw new IllegalArgumentException("maxCounters must be at least 1, was " + maxCounters);
    }
    this.time = time;
    this.counters =
        Caffeine.newBuilder()
            .maximumSize(maxCounters)
            .evictionListener(
                (@Nullable CounterKey key, @Nullable Counter counter, RemovalCause cause) ->
                    forget(counter))
            .executor(Runnable::run)
            .build();
  }

  /** Decides and counts one charge. */
  public Decision acquire(Charge charge) {
    long now = time.wallMillis();
    while (true) {
      Counter counter = counter(charge.key());
      counter.lock();
      try {
        if (!counter.isRetired()) {
          return counter.apply(charge, now);
        }
      } finally {
        counter.unlock();
      }
    }
  }

  /** Decides and counts the claims of one request as one. */
  public Outcome acquire(List<Claim> claims) {
    long now = time.wallMillis();
    while (true) {
      Outcome outcome = tryAcquire(claims, now);
      if (outcome != null) {
        return outcome;
      }
    }
  }

  /** Makes the counter unused. */
  public void reset(CounterKey key) {
    Counter counter = counters.asMap().remove(key);
    if (counter != null) {
      counter.lock();
      try {
        counter.retire();
      } finally {
        counter.unlock();
      }
    }
  }

  /** How many counters are kept, about. */
  public long size() {
    return counters.estimatedSize();
  }

  /** How many counters were forgotten while they still counted something. */
  public long forgotten() {
    return forgotten.sum();
  }

  /** Returns null when a counter was retired meanwhile. */
  private @Nullable Outcome tryAcquire(List<Claim> claims, long now) {
    List<Counter> ofCharge = new ArrayList<>();
    for (Claim claim : claims) {
      for (Charge charge : claim.charges()) {
        ofCharge.add(counter(charge.key()));
      }
    }
    Counter[] distinct =
        new LinkedHashSet<>(ofCharge)
            .stream().sorted(Comparator.comparingLong(c -> c.order)).toArray(Counter[]::new);
    int[] indexes = new int[ofCharge.size()];
    for (int i = 0; i < indexes.length; i++) {
      indexes[i] = Arrays.asList(distinct).indexOf(ofCharge.get(i));
    }
    boolean retired = false;
    for (Counter counter : distinct) {
      counter.lock();
      retired |= counter.isRetired();
    }
    try {
      return retired ? null : new Settlement(claims, distinct, indexes, now).settle();
    } finally {
      for (Counter counter : distinct) {
        counter.unlock();
      }
    }
  }

  private Counter counter(CounterKey key) {
    Counter known = counters.getIfPresent(key);
    return known != null
        ? known
        : counters.get(key, absent -> new Counter(created.incrementAndGet()));
  }

  private void forget(@Nullable Counter counter) {
    if (counter == null) {
      return;
    }
    counter.lock();
    try {
      counter.retire();
      if (counter.usedAt(time.wallMillis())) {
        forgotten.increment();
      }
    } finally {
      counter.unlock();
    }
  }
}
