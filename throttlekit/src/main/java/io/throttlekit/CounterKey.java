package io.throttlekit;

import java.util.Arrays;

/**
 * The identity of one counter: a scope (domain, algorithm and window length, as one text) and the
 * charged descriptor entries.
 *
 * <p>Neither the limit nor the rule object belongs to it, so a reload that changes a limit keeps
 * the count. Entries are kept apart, so {@code a_b, c} and {@code a, b_c} are different counters.
 * Ordered, so that a hash map stays fast when someone chooses values with equal hash codes.
 * Immutable and thread-safe.
 *
 * <p>The entries are one array of bytes: comparing keys of counters that are not in the processor's
 * cache waits for memory once, not once for every text.
 */
public final class CounterKey implements Comparable<CounterKey> {
  private final String scope;
  private final byte[] entries;
  private final int hash;

  private CounterKey(String scope, byte[] entries) {
    this.scope = scope;
    this.entries = entries;
    int h = 31 * scope.hashCode() + Arrays.hashCode(entries);
    this.hash = h ^ (h >>> 16);
  }

  /**
   * A key over alternating entry keys and values.
   *
   * @param scope domain, algorithm and window length in a text that no other combination yields
   * @param entries key, value, key, value …
   */
  public static CounterKey of(String scope, String... entries) {
    return new CounterKey(scope, EntryBytes.encode(entries));
  }

  /** Domain, algorithm and window length. */
  public String scope() {
    return scope;
  }

  /**
   * The charged entries as bytes, different ones for different entries. Not a copy: nobody may
   * write to them.
   */
  public byte[] encodedEntries() {
    return entries;
  }

  /** How many bytes the entries take. */
  public int length() {
    return entries.length;
  }

  /** By scope, then by entries; consistent with equals. */
  @Override
  public int compareTo(CounterKey that) {
    int byScope = scope.compareTo(that.scope);
    return byScope != 0 ? byScope : Arrays.compare(entries, that.entries);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof CounterKey that && isOf(that.hash, that.scope, that.entries);
  }

  /** Whether a key with these parts equals this one. */
  public boolean isOf(int thatHash, String thatScope, byte[] thatEntries) {
    return hash == thatHash && scope.equals(thatScope) && Arrays.equals(entries, thatEntries);
  }

  @Override
  public int hashCode() {
    return hash;
  }

  /** Scope and entries, each text preceded by its length, so that different keys differ. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder(scope);
    for (String entry : EntryBytes.decode(entries)) {
      text.append('|').append(entry.length()).append(':').append(entry);
    }
    return text.toString();
  }
}
