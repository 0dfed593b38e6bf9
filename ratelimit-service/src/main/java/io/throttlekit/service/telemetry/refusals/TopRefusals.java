package io.throttlekit.service.telemetry.refusals;

import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The keys with the most refusals. Clients may invent keys, so at most {@link #MAX_TRACKED} are in
 * memory. Not thread-safe.
 */
final class TopRefusals {
  /*
   * Space-Saving (Metwally, Agrawal, El Abbadi, ICDT 2005): a key that is not tracked takes the place
   * of the one with the fewest refusals, and inherits them. A key is sure to have been refused as
   * often as it did not inherit.
   */

  /** The keys in memory. */
  static final int MAX_TRACKED = 256;

  private final Map<RefusedKey, Entry> entries = new HashMap<>();

  /**
   * The refusals of a key, as they are known with the last one.
   *
   * @param inherited those of the keys whose place it took
   */
  private record Entry(Refused last, long inherited) {}

  /**
   * A key with its refusals.
   *
   * @param refusals at least so many
   * @param limit as the last of these answers reported it
   * @param retryAfterMillis of the last of them; {@link io.throttlekit.Decision#NEVER} if no wait
   *     suffices
   * @param shadow whether the last of them had no effect
   * @param lastNanos time of the last of them
   */
  record Refused(
      RefusedKey key,
      long refusals,
      long limit,
      long retryAfterMillis,
      boolean shadow,
      long lastNanos) {

    /** Returns these after a number of others of the same key. */
    Refused after(long others) {
      return new Refused(key, refusals + others, limit, retryAfterMillis, shadow, lastNanos);
    }
  }

  /** Adds refusals of one key. */
  void add(Refused more) {
    Entry known = entries.get(more.key());
    if (known != null) {
      entries.put(more.key(), new Entry(more.after(known.last().refusals()), known.inherited()));
      return;
    }
    long inherited = entries.size() < MAX_TRACKED ? 0 : removeLeast();
    entries.put(more.key(), new Entry(more.after(inherited), inherited));
  }

  /** Returns the keys with their refusals, in no order. */
  List<Refused> all() {
    return entries.values().stream().map(entry -> entry.last().after(-entry.inherited())).toList();
  }

  /** Returns at most {@code most} of them, those with the most refusals first. */
  static List<Refused> top(List<Refused> all, int most) {
    return all.stream()
        .sorted(
            Comparator.comparingLong(Refused::refusals)
                .reversed()
                .thenComparing(refused -> refused.key().descriptor()))
        .limit(most)
        .toList();
  }

  private long removeLeast() {
    Refused least =
        entries.values().stream()
            .map(Entry::last)
            .min(Comparator.comparingLong(Refused::refusals))
            .orElseThrow();
    entries.remove(least.key());
    return least.refusals();
  }
}
