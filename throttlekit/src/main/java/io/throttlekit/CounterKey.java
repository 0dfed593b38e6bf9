package io.throttlekit;

import java.security.SecureRandom;
import java.util.Arrays;

/**
 * The identity of one counter: a scope (domain, algorithm and window length, as one text) and the
 * charged descriptor entries.
 *
 * <p>Neither the limit nor the rule object is part of it, so a reload that changes a limit keeps
 * the count. Entries are separated, so {@code a_b, c} and {@code a, b_c} are different counters.
 * Keys are comparable, so a hash map stays fast under values chosen to have equal hash codes.
 * Immutable and thread-safe.
 *
 * <p>Entries that take more than 128 bytes with their lengths (one byte per character up to U+00FF,
 * two in a text with others) are kept as their first 64 bytes and a SHA-256 of all. A client that
 * sends long values cannot make a process or store keep more.
 *
 * <p>Every process hashes with a secret of its own, so clients cannot choose values that collide.
 */
public final class CounterKey implements Comparable<CounterKey> {
  private static final long SECRET_0 = new SecureRandom().nextLong();
  private static final long SECRET_1 = new SecureRandom().nextLong();

  private final String scope;
  private final byte[] entries;
  private final long lowHash;
  private final long highHash;

  private CounterKey(String scope, byte[] entries, long lowHash, long highHash) {
    this.scope = scope;
    this.entries = entries;
    this.lowHash = lowHash;
    this.highHash = highHash;
  }

  /**
   * Creates a key from alternating entry keys and values.
   *
   * @param scope domain, algorithm and window length in a text that no other combination yields
   * @param entries key, value, key, value …
   */
  public static CounterKey of(String scope, String... entries) {
    byte[] encoded = EntryBytes.of(entries);
    SipHash hash = new SipHash(SECRET_0, SECRET_1, 1, 3, encoded); // SipHash-1-3, as in hash tables
    return new CounterKey(scope, encoded, hash.low(), hash.high());
  }

  /** Returns a key with the same entries in another scope. */
  public CounterKey inScope(String other) {
    return new CounterKey(other, entries, lowHash, highHash);
  }

  /** Returns domain, algorithm and window length. */
  public String scope() {
    return scope;
  }

  /**
   * Returns the lower half of a 128-bit hash of the entries, which is unique among the counters of
   * a scope.
   */
  public long lowHash() {
    return lowHash;
  }

  /** Returns the upper half of that hash. */
  public long highHash() {
    return highHash;
  }

  /** Compares by scope, then by entries; consistent with equals. */
  @Override
  public int compareTo(CounterKey that) {
    int byScope = scope.compareTo(that.scope);
    return byScope != 0 ? byScope : Arrays.compare(entries, that.entries);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof CounterKey that
        && lowHash == that.lowHash
        && scope.equals(that.scope)
        && Arrays.equals(entries, that.entries);
  }

  @Override
  public int hashCode() {
    return (int) (lowHash >>> Integer.SIZE) ^ scope.hashCode();
  }

  /**
   * Returns scope and entries, each text preceded by its length, so that different keys differ.
   * Long entries are represented by their beginning and a hash.
   */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder(scope);
    EntryBytes.append(entries, text);
    return text.toString();
  }
}
