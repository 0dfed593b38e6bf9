package io.throttlekit;

import java.util.Arrays;
import java.util.List;

/**
 * The identity of one counter: a scope (domain, algorithm and window length, as one text) and the
 * charged descriptor entries.
 *
 * <p>Neither the limit nor the rule object belongs to it, so a reload that changes a limit keeps
 * the count. Entries are kept apart, so {@code a_b, c} and {@code a, b_c} are different counters.
 * Ordered, so that a hash map stays fast when someone chooses values with equal hash codes.
 * Immutable and thread-safe as long as nobody writes to the array it was made from.
 */
public final class CounterKey implements Comparable<CounterKey> {
  private final String scope;
  private final String[] entries;
  private final int hash;

  private CounterKey(String scope, String[] entries) {
    this.scope = scope;
    this.entries = entries;
    int h = scope.hashCode();
    for (String part : entries) {
      h = 31 * h + part.hashCode();
    }
    this.hash = h ^ (h >>> 16);
  }

  /**
   * A key over alternating entry keys and values.
   *
   * @param scope domain, algorithm and window length in a text that no other combination yields
   * @param entries key, value, key, value …; owned by this key from now on, not copied
   */
  public static CounterKey of(String scope, String... entries) {
    return new CounterKey(scope, entries);
  }

  /** Domain, algorithm and window length. */
  public String scope() {
    return scope;
  }

  /** The charged entries: key, value, key, value … */
  public List<String> entries() {
    return List.of(entries);
  }

  /** How many characters the entries have together. */
  public long length() {
    long length = 0;
    for (String part : entries) {
      length += part.length();
    }
    return length;
  }

  /** By scope, then by entries; consistent with equals. */
  @Override
  public int compareTo(CounterKey that) {
    int byScope = scope.compareTo(that.scope);
    return byScope != 0 ? byScope : Arrays.compare(entries, that.entries);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof CounterKey that
        && hash == that.hash
        && scope.equals(that.scope)
        && Arrays.equals(entries, that.entries);
  }

  @Override
  public int hashCode() {
    return hash;
  }

  /** Scope and entries, each part preceded by its length, so that different keys differ in text. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder(scope);
    for (String part : entries) {
      text.append('|').append(part.length()).append(':').append(part);
    }
    return text.toString();
  }
}
