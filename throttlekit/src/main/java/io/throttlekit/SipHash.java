package io.throttlekit;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * A SipHash with 128 bits. Without the secret, collisions cannot be constructed; by chance, a
 * million texts collide with a probability of about 10^−27.
 *
 * <p>Source: Aumasson and Bernstein, "SipHash: a fast short-input PRF" (2012), with the 128-bit
 * output of their reference implementation.
 */
final class SipHash {
  private static final VarHandle WORD =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final int WORD_BYTES = 8;
  private static final int OF_LOW_HALF = 0xEE; // constants of the reference implementation
  private static final int OF_HIGH_HALF = 0xDD;

  private final long low;
  private final long high;

  // The state of the algorithm, with the names of the paper.
  private long v0;
  private long v1;
  private long v2;
  private long v3;

  /**
   * Hashes {@code bytes}.
   *
   * @param key0 first half of the secret
   * @param key1 second half of the secret
   * @param compressionRounds 1 for hash tables, 2 as the default of the paper
   * @param finalRounds 3 with one compression round, else 4
   */
  SipHash(long key0, long key1, int compressionRounds, int finalRounds, byte[] bytes) {
    // The initial constants are ASCII: "somepseudorandomlygeneratedbytes".
    v0 = key0 ^ 0x736f6d6570736575L;
    v1 = key1 ^ 0x646f72616e646f6dL ^ OF_LOW_HALF;
    v2 = key0 ^ 0x6c7967656e657261L;
    v3 = key1 ^ 0x7465646279746573L;
    int whole = bytes.length & -WORD_BYTES;
    for (int at = 0; at < whole; at += WORD_BYTES) {
      compress((long) WORD.get(bytes, at), compressionRounds);
    }
    long last = (long) bytes.length << 56;
    for (int at = whole; at < bytes.length; at++) {
      last |= (bytes[at] & 0xFFL) << ((at - whole) * Byte.SIZE);
    }
    compress(last, compressionRounds);
    v2 ^= OF_LOW_HALF;
    low = finish(finalRounds);
    v1 ^= OF_HIGH_HALF;
    high = finish(finalRounds);
  }

  /** Returns the first 64 bits. */
  long low() {
    return low;
  }

  /** Returns the last 64 bits. */
  long high() {
    return high;
  }

  private void compress(long word, int rounds) {
    v3 ^= word;
    turn(rounds);
    v0 ^= word;
  }

  private long finish(int rounds) {
    turn(rounds);
    return v0 ^ v1 ^ v2 ^ v3;
  }

  private void turn(int rounds) {
    for (int round = 0; round < rounds; round++) {
      v0 += v1;
      v2 += v3;
      v1 = Long.rotateLeft(v1, 13) ^ v0;
      v3 = Long.rotateLeft(v3, 16) ^ v2;
      v0 = Long.rotateLeft(v0, 32);
      v2 += v1;
      v0 += v3;
      v1 = Long.rotateLeft(v1, 17) ^ v2;
      v3 = Long.rotateLeft(v3, 21) ^ v0;
      v2 = Long.rotateLeft(v2, 32);
    }
  }
}
