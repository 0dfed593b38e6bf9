package io.throttlekit.redis;

import java.nio.charset.StandardCharsets;
import java.util.List;

/** The reply of a federation script, after the epoch. */
final class Reply {
  private final List<Object> parts;

  /** Creates a reply from Lettuce's parts: integers and bytes. */
  Reply(List<Object> parts) {
    this.parts = parts;
  }

  /** Returns the number of parts. */
  int size() {
    return parts.size() - 1;
  }

  /** Returns the epoch that the caller has to record; empty if the caller knows it. */
  byte[] epoch() {
    return (byte[]) parts.getFirst();
  }

  /** Returns a number, sent by Redis as an integer or as text. */
  long number(int index) {
    return parts.get(index + 1) instanceof Long number ? number : Long.parseLong(text(index));
  }

  String text(int index) {
    return new String((byte[]) parts.get(index + 1), StandardCharsets.UTF_8);
  }
}
