package io.throttlekit;

import java.security.SecureRandom;
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
 * <p>Entries that take more than 128 bytes with their lengths (a character up to U+00FF takes one,
 * in a text with others two) are held as their first 64 bytes and a SHA-256 of all, so a client
 * that sends long values makes no process and no store keep more than that.
 *
 * <p>Every process hashes with a secret of its own, so nobody can choose values that fall together.
 */
public final class CounterKey implements Comparable<CounterKey> {
  private static final SipHash HASH = secret(new SecureRandom());

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
   * A key over alternating entry keys and values.
   *
   * @param scope domain, algorithm and window length in a text that no other combination yields
   * @param entries key, value, key, value …
   */
  public static CounterKey of(String scope, String... entries) {
    byte[] encoded = LongEntries.shortened(EntryBytes.encode(entries));
    SipHash.Hash hash = HASH.of(encoded);
    return new CounterKey(scope, encoded, hash.low(), hash.high());
  }

  /** The same entries in another scope. */
  public CounterKey inScope(String other) {
    return new CounterKey(other, entries, lowHash, highHash);
  }

  /** Domain, algorithm and window length. */
  public String scope() {
    return scope;
  }

  /**
   * The lower half of a hash of the entries with 128 bits, which no two counters of one scope have
   * in common.
   */
  public long lowHash() {
    return lowHash;
  }

  /** The upper half of that hash. */
  public long highHash() {
    return highHash;
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
        && lowHash == that.lowHash
        && scope.equals(that.scope)
        && Arrays.equals(entries, that.entries);
  }

  @Override
  public int hashCode() {
    return (int) (lowHash >>> Integer.SIZE) ^ scope.hashCode();
  }

  /**
   * Scope and entries, each text preceded by its length, so that different keys differ; of long
   * entries the beginning and a hash.
   */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder(scope);
    if (LongEntries.areShort(entries)) {
      LongEntries.append(entries, text);
    } else {
      EntryBytes.append(entries, 0, text);
    }
    return text.toString();
  }

  private static SipHash secret(SecureRandom random) {
    return new SipHash(random.nextLong(), random.nextLong(), 1, 3);
  }
}
