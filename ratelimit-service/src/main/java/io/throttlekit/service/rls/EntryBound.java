package io.throttlekit.service.rls;

import java.nio.charset.StandardCharsets;

/**
 * Maximum length of the key and the value of an entry, for every protocol. Immutable.
 *
 * @param maxBytes in UTF-8, from 1
 */
public record EntryBound(int maxBytes) {
  // UTF-8: a surrogate pair, two chars, takes 4
  private static final int MAX_BYTES_PER_CHAR = 3;

  /** Longest key shown in an error message. */
  private static final int MAX_SHOWN = 60;

  /**
   * Checks entries.
   *
   * @param entries key, value, key, value …
   * @param size number of elements of {@code entries} in use
   * @throws InvalidRequestException if one is too long; the message names the key, but not the
   *     value
   */
  public void check(String[] entries, int size) {
    for (int i = 0; i < size; i++) {
      String text = entries[i];
      // shorter texts fit whatever their characters, without encoding them
      if (text.length() > maxBytes / MAX_BYTES_PER_CHAR) {
        checkLong(entries, i);
      }
    }
  }

  private void checkLong(String[] entries, int index) {
    int bytes = entries[index].getBytes(StandardCharsets.UTF_8).length;
    if (bytes > maxBytes) {
      boolean isKey = index % 2 == 0;
      throw new InvalidRequestException(
          "the %s of entry \"%s\" has %d bytes, more than grpc.max_entry_bytes (%d)"
              .formatted(
                  isKey ? "key" : "value",
                  shown(entries[isKey ? index : index - 1]),
                  bytes,
                  maxBytes));
    }
  }

  /**
   * Returns a key chosen by a client, cut and without control characters, so that it cannot forge a
   * log line.
   */
  private static String shown(String key) {
    StringBuilder shown = new StringBuilder();
    for (int i = 0; i < Math.min(key.length(), MAX_SHOWN); i++) {
      char c = key.charAt(i);
      shown.append(c < ' ' || c > '~' ? '?' : c);
    }
    return shown.append(key.length() > MAX_SHOWN ? "..." : "").toString();
  }
}
