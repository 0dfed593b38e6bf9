package io.throttlekit.service.concurrency;

import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Makes names of leases: the process, when it began, a number, and 64 bits that nobody can guess,
 * so that nobody can end the lease of another. Thread-safe, and reads no file once it is made.
 */
final class LeaseIds {
  private static final int DRAWN_AT_ONCE = 512;

  private final SecureRandom random;
  private final String prefix;
  private final AtomicLong sequence = new AtomicLong();

  /** Both guarded by this. */
  private final byte[] drawn = new byte[DRAWN_AT_ONCE];

  private int used = DRAWN_AT_ONCE;

  /**
   * @param epochMillis when the process began
   */
  LeaseIds(long epochMillis) {
    try {
      this.random = SecureRandom.getInstance("DRBG");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has it", e);
    }
    String node = Integer.toString(random.nextInt() & Integer.MAX_VALUE, Character.MAX_RADIX);
    this.prefix = node + '-' + Long.toString(epochMillis, Character.MAX_RADIX) + '-';
  }

  String next() {
    long number = sequence.incrementAndGet();
    return prefix + Long.toString(number, Character.MAX_RADIX) + '-' + unguessable();
  }

  private synchronized String unguessable() {
    if (used == DRAWN_AT_ONCE) {
      random.nextBytes(drawn);
      used = 0;
    }
    int from = used;
    used += Long.BYTES;
    return HexFormat.of().formatHex(drawn, from, used);
  }
}
