package io.throttlekit.service.generated;

import java.util.Arrays;
import java.util.random.RandomGenerator;

/** Corrupts bytes like networks, disks and attackers. */
final class Damage {
  private final RandomGenerator random;

  Damage(RandomGenerator random) {
    this.random = random;
  }

  /** Returns a copy with one to three kinds of damage. */
  byte[] to(byte[] bytes) {
    byte[] damaged = bytes.clone();
    for (int left = Math.max(0, random.nextInt(6) - 3); left >= 0; left--) {
      damaged = once(damaged);
    }
    return damaged;
  }

  private byte[] once(byte[] bytes) {
    int from = random.nextInt(bytes.length + 1);
    int to = from + random.nextInt(Math.min(24, bytes.length - from) + 1);
    return switch (random.nextInt(12)) {
      case 0 -> Arrays.copyOf(bytes, from);
      case 1 -> splice(bytes, from, from, Arrays.copyOfRange(bytes, from, to));
      case 2 -> splice(bytes, from, to, new byte[0]);
      case 3 -> splice(bytes, from, from, noise());
      case 4 -> splice(bytes, from, to, noise());
      case 5 -> splice(bytes, bytes.length, bytes.length, bytes); // two messages merge to one
      default -> flipped(bytes);
    };
  }

  private byte[] flipped(byte[] bytes) {
    byte[] flipped = bytes.clone();
    if (flipped.length > 0) {
      flipped[random.nextInt(flipped.length)] ^= (byte) (1 << random.nextInt(8));
    }
    return flipped;
  }

  private byte[] noise() {
    byte[] noise = new byte[1 + random.nextInt(6)];
    random.nextBytes(noise);
    return noise;
  }

  /** Returns {@code bytes} with {@code middle} in place of a range. */
  private static byte[] splice(byte[] bytes, int from, int to, byte[] middle) {
    byte[] spliced = Arrays.copyOf(bytes, from + middle.length + bytes.length - to);
    System.arraycopy(middle, 0, spliced, from, middle.length);
    System.arraycopy(bytes, to, spliced, from + middle.length, bytes.length - to);
    return spliced;
  }
}
