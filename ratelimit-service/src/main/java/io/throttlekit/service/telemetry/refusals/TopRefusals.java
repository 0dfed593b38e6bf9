package io.throttlekit.service.telemetry.refusals;

import io.throttlekit.Decision;
import java.util.ArrayList;
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

  private static final class Entry {
    long refusals;
    long inherited;
    long limit;
    long retryAfterMillis;
    boolean shadow;
    long lastNanos;
  }

  /**
   * A key with its refusals.
   *
   * @param refusals at least so many
   * @param limit as the last of these decisions reports it
   * @param retryAfterMillis of the last of them; {@link Decision#NEVER} if no wait suffices
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

    /** Returns the sum with refusals of the same key before. */
    Refused after(Refused before) {
      return new Refused(
          key, refusals + before.refusals, limit, retryAfterMillis, shadow, lastNanos);
    }
  }

  /**
   * Adds refusals of one key.
   *
   * @param weight number of refusals, from 1
   * @param last decision on the last of them
   */
  void add(RefusedKey key, long weight, Decision last, boolean shadow, long nowNanos) {
    Entry entry = entries.get(key);
    if (entry == null) {
      entry = new Entry();
      if (entries.size() == MAX_TRACKED) {
        RefusedKey least = least();
        entry.inherited = refusalsOf(least);
        entry.refusals = entry.inherited;
        entries.remove(least);
      }
      entries.put(key, entry);
    }
    entry.refusals += weight;
    entry.limit = last.limit();
    entry.retryAfterMillis = last.retryAfterMillis();
    entry.shadow = shadow;
    entry.lastNanos = nowNanos;
  }

  /** Returns the keys with their refusals, in no order. */
  List<Refused> all() {
    List<Refused> all = new ArrayList<>(entries.size());
    entries.forEach((key, entry) ->
        all.add(
            new Refused(
                key,
                entry.refusals - entry.inherited,
                entry.limit,
                entry.retryAfterMillis,
                entry.shadow,
                entry.lastNanos)));
    return all;
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

  private RefusedKey least() {
    return entries.entrySet().stream()
        .min(Comparator.comparingLong(entry -> entry.getValue().refusals))
        .orElseThrow()
        .getKey();
  }

  private long refusalsOf(RefusedKey key) {
    Entry entry = entries.get(key);
    return entry == null ? 0 : entry.refusals;
  }
}
