package io.throttlekit.service.concurrency;

import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Generates permit ids from a random number of the process, its start time, a sequence number and
 * 64 unguessable bits, so that a client cannot end the permit of another. Thread-safe; reads no
 * file once it is created.
 */
final class PermitIds {
  // bytes for 64 ids: one call of the generator is dearer than 8 bytes
  private static final int DRAWN_AT_ONCE = 512;

  // a number below 2^31 and two of 64 bits in base 36, and 16 hexadecimal digits
  private static final Pattern FORMAT =
      Pattern.compile("([0-9a-z]{1,6}-[0-9a-z]{1,13})-[0-9a-z]{1,13}-[0-9a-f]{16}");

  private final SecureRandom random;
  private final String address;
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
    this.address = node + '-' + Long.toString(epochMillis, Character.MAX_RADIX);
    this.prefix = address + '-';
  }

  /** Returns the address of the process that created this id; null if no process creates such. */
  static @Nullable String addressIn(String id) {
    Matcher parts = FORMAT.matcher(id);
    return parts.matches() ? parts.group(1) : null;
  }

  /** Returns the address of this process, with which its ids begin. */
  String address() {
    return address;
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
