package io.throttlekit.postgres;

import io.throttlekit.rate.RateAlgorithm;
import io.throttlekit.store.StoreException;
import java.io.ByteArrayOutputStream;
import java.util.Arrays;

/**
 * The binary format of counter states: the version of the format, then the state's numbers, each as
 * its difference to the number two before it, which is similar.
 *
 * <p>A difference is doubled, with the lowest bit for its sign, and written in 7 bits per byte,
 * lowest first; the eighth bit is set if more bytes follow.
 */
final class States {
  private static final byte VERSION = 1; // raise it when the layout changes
  private static final int NUMBER_BITS = 7; // LEB128: seven bits a byte
  private static final int NUMBER_MASK = 0x7F;
  private static final int MORE = 0x80; // more bytes follow

  private States() {}

  static byte[] encode(RateAlgorithm<?> algorithm, Object state) {
    return encode(numbers(algorithm, state));
  }

  /** Encodes the numbers of a pool. */
  static byte[] encode(long[] numbers) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(2 + 4 * numbers.length);
    bytes.write(VERSION);
    for (int i = 0; i < numbers.length; i++) {
      long difference = i < 2 ? numbers[i] : numbers[i] - numbers[i - 2];
      // zig-zag: a small negative difference stays short
      long rest = (difference << 1) ^ (difference >> (Long.SIZE - 1));
      for (; (rest & ~NUMBER_MASK) != 0; rest >>>= NUMBER_BITS) {
        bytes.write(((int) rest & NUMBER_MASK) | MORE);
      }
      bytes.write((int) rest);
    }
    return bytes.toByteArray();
  }

  /**
   * Decodes a state.
   *
   * @throws StoreException if a newer release wrote it, or the bytes are invalid
   */
  static Object decode(RateAlgorithm<?> algorithm, byte[] bytes) {
    try {
      return state(algorithm, decode(bytes));
    } catch (IllegalArgumentException e) {
      throw new StoreException("a counter has an invalid state: " + e.getMessage(), e);
    }
  }

  /** Decodes the numbers of a pool; throws as above. */
  static long[] decode(byte[] bytes) {
    if (bytes.length == 0 || bytes[0] != VERSION) {
      throw new StoreException(
          "a counter is kept in a format that this release does not know; it knows " + VERSION,
          null);
    }
    try {
      return numbers(bytes);
    } catch (IllegalArgumentException e) {
      throw new StoreException("a counter has an invalid state: " + e.getMessage(), e);
    }
  }

  private static long[] numbers(byte[] bytes) {
    if (bytes[bytes.length - 1] < 0) {
      throw new IllegalArgumentException("its last number has no end");
    }
    long[] numbers = new long[bytes.length - 1]; // at least one byte each
    int size = 0;
    for (int at = 1; at < bytes.length; size++) {
      long number = 0;
      int shift = 0;
      for (; bytes[at] < 0; shift += NUMBER_BITS) {
        number |= (bytes[at++] & (long) NUMBER_MASK) << shift;
      }
      number |= (long) bytes[at++] << shift;
      long difference = (number >>> 1) ^ -(number & 1);
      numbers[size] = size < 2 ? difference : difference + numbers[size - 2];
    }
    return Arrays.copyOf(numbers, size);
  }

  @SuppressWarnings("unchecked") // a counter's key names its algorithm
  private static <S> long[] numbers(RateAlgorithm<S> algorithm, Object state) {
    return algorithm.numbers((S) state);
  }

  private static <S> Object state(RateAlgorithm<S> algorithm, long[] numbers) {
    S state = algorithm.ofNumbers(numbers);
    if (state == null) {
      throw new IllegalArgumentException("it has no state");
    }
    return state;
  }
}
