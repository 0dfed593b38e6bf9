package io.throttlekit.redis;

import java.nio.charset.StandardCharsets;
import java.util.List;

/** What a script of a federation says, after the epoch. */
final class Reply {
  private final List<Object> parts;

  /** A reply as Lettuce gives it: whole numbers and bytes. */
  Reply(List<Object> parts) {
    this.parts = parts;
  }

  /** How many parts it has. */
  int size() {
    return parts.size() - 1;
  }

  /** The epoch that the caller has to learn; empty when it knows it. */
  byte[] epoch() {
    return (byte[]) parts.getFirst();
  }

  /** A number, however Redis sent it. */
  long number(int index) {
    return parts.get(index + 1) instanceof Long number ? number : Long.parseLong(text(index));
  }

  String text(int index) {
    return new String((byte[]) parts.get(index + 1), StandardCharsets.UTF_8);
  }
}
