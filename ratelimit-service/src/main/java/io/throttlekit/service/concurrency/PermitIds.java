package io.throttlekit.service.concurrency;

import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Generates permit ids from a random number of the process, its start time, a sequence number and
 * 64 unguessable bits, so that a client cannot end the permit of another. Thread-safe; reads no
 * file once it is created.
 */
final class PermitIds {
  // bytes for 64 ids: one call of the generator is dearer than 8 bytes
  private static final int DRAWN_AT_ONCE = 512;

  private final SecureRandom random;
  private final String prefix;
  private final AtomicLong sequence = new AtomicLong();

  /** Guarded by this, as is {@code used}. */
  private final byte[] drawn = new byte[DRAWN_AT_ONCE];

  private int used = DRAWN_AT_ONCE;

  /**
   * @param epochMillis start time of the process
   */
  PermitIds(long epochMillis) {
    try {
      // the default generator on Linux reads a device file for each draw
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
