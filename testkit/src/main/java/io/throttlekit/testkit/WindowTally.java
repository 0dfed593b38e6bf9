package io.throttlekit.testkit;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongUnaryOperator;

/**
 * Admitted units in each window of the clock of its callers; windows reported in answers are
 * ignored.
 *
 * <p>A request was decided between when it was sent and when it was answered. If both were in one
 * window, it is one of that. Else it straddles, and may have been decided in any of the windows
 * that both are in or between.
 *
 * <p>Thread-safe.
 */
public final class WindowTally {
  private final long windowMillis;
  private final int sources;
  private final ConcurrentSkipListMap<Long, AtomicLongArray> within = new ConcurrentSkipListMap<>();
  private final ConcurrentMap<Span, LongAdder> straddling = new ConcurrentHashMap<>();
  private final ConcurrentSkipListSet<Long> ends = new ConcurrentSkipListSet<>();

  /**
   * Nothing was admitted yet.
   *
   * @param windowMillis of windows aligned to the epoch, from 1 ms
   * @param sources number of admitting nodes, from 1
   */
  public WindowTally(long windowMillis, int sources) {
    this.windowMillis = windowMillis;
    this.sources = sources;
  }

  /**
   * One window.
   *
   * @param endMillis names it
   * @param bySource surely admitted in it
   * @param straddling admitted in it or in another
   */
  public record Window(long endMillis, List<Long> bySource, long straddling) {
    /** Returns the units certainly admitted in it, by all. */
    public long units() {
      return bySource.stream().mapToLong(Long::longValue).sum();
    }

    /** Returns the units certainly admitted in it by one. */
    public long by(int source) {
      return bySource.get(source);
    }

    /** Returns whether exactly as many may have been admitted in it. */
    public boolean mayHave(long units) {
      return units() <= units && isAtLeast(units);
    }

    /** Returns whether as many or more may have been admitted in it. */
    public boolean isAtLeast(long units) {
      return units <= units() + straddling;
    }
  }

  /** Ends of the first and the last window that a request may have been decided in. */
  private record Span(long first, long last) {
    boolean isWithin(long from, long to) {
      return first >= from && last <= to;
    }
  }

  /** Returns the end of the window of a time. */
  public long endMillis(long timeMillis) {
    return timeMillis - Math.floorMod(timeMillis, windowMillis) + windowMillis;
  }

  /**
   * Counts an admitted request of one unit.
   *
   * @param source the node that admitted it, from 0
   * @param sentMillis read before it was sent
   * @param answeredMillis read when its answer had come, by the same clock
   */
  public void admitted(int source, long sentMillis, long answeredMillis) {
    admitted(source, sentMillis, answeredMillis, 1);
  }

  /** Counts an admitted request of so many units, which are all of one window. */
  public void admitted(int source, long sentMillis, long answeredMillis, long units) {
    Span span = new Span(endMillis(sentMillis), endMillis(answeredMillis));
    if (span.first == span.last) {
      within
          .computeIfAbsent(span.first, _ -> new AtomicLongArray(sources))
          .addAndGet(source, units);
    } else {
      straddling.computeIfAbsent(span, _ -> new LongAdder()).add(units);
    }
    ends.add(span.first);
    ends.add(span.last);
  }

  /** Returns every window in which units were or may have been admitted, in order. */
  public List<Window> windows() {
    return ends.stream().map(this::window).toList();
  }

  /** Returns the window with that end. */
  public Window window(long endMillis) {
    List<Long> bySource = new ArrayList<>();
    AtomicLongArray units = within.get(endMillis);
    for (int source = 0; source < sources; source++) {
      bySource.add(units == null ? 0 : units.get(source));
    }
    long maybe =
        straddling.entrySet().stream()
            .filter(each -> each.getKey().first <= endMillis && each.getKey().last >= endMillis)
            .mapToLong(each -> each.getValue().sum())
            .sum();
    return new Window(endMillis, bySource, maybe);
  }

  /**
   * Surely admitted from the window that ends first to the one that ends last.
   *
   * @return what straddles two of them is counted, what straddles another and one of them is not
   */
  public long units(long firstEndMillis, long lastEndMillis) {
    long units = 0;
    for (AtomicLongArray window :
        within.subMap(firstEndMillis, true, lastEndMillis, true).values()) {
      for (int source = 0; source < sources; source++) {
        units += window.get(source);
      }
    }
    for (Map.Entry<Span, LongAdder> each : straddling.entrySet()) {
      boolean inside = each.getKey().isWithin(firstEndMillis, lastEndMillis);
      units += inside ? each.getValue().sum() : 0;
    }
    return units;
  }

  /** May have been admitted from the window that ends first to the one that ends last. */
  public long unitsAtMost(long firstEndMillis, long lastEndMillis) {
    long units = units(firstEndMillis, lastEndMillis);
    for (Map.Entry<Span, LongAdder> each : straddling.entrySet()) {
      Span span = each.getKey();
      boolean inside = span.isWithin(firstEndMillis, lastEndMillis);
      boolean touches = span.first <= lastEndMillis && span.last >= firstEndMillis;
      units += touches && !inside ? each.getValue().sum() : 0;
    }
    return units;
  }

  /**
   * How many more were admitted in any run of windows than it may have, from 0. It is 0 exactly
   * when every request was certainly decided in one window of those that it straddles, so that none
   * has more than the limit (the marriage theorem: the windows of a request are a run). Of requests
   * of several units it is the least overshoot, as if each unit straddled alone.
   */
  public long overshoot(long limit) {
    return overshoot(Long.MIN_VALUE, _ -> limit);
  }

  /**
   * The same, of a part of the windows, and where a window may have a limit of its own.
   *
   * @param sinceMillis windows that had ended by then are left out
   * @param limits of the window that ends then, from 0
   */
  public long overshoot(long sinceMillis, LongUnaryOperator limits) {
    List<Long> all = List.copyOf(ends.tailSet(sinceMillis, false));
    long most = 0;
    for (int first = 0; first < all.size(); first++) {
      long room = 0;
      long end = all.get(first);
      for (long last : all.subList(first, all.size())) {
        for (; end <= last; end += windowMillis) {
          room += limits.applyAsLong(end);
        }
        most = Math.max(most, units(all.get(first), last) - room);
      }
    }
    return most;
  }
}
