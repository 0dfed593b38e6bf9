package io.throttlekit.service.warmup;

import java.util.ArrayList;
import java.util.List;

/** Requests that are sent cyclically. Not thread-safe. */
final class Messages {
  private final List<byte[]> inTurn;
  private int next;

  Messages(List<byte[]> inTurn) {
    this.inTurn = inTurn;
  }

  /** Returns the next {@code count} requests. */
  List<byte[]> next(int count) {
    List<byte[]> batch = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      batch.add(inTurn.get(next));
      next = (next + 1) % inTurn.size();
    }
    return batch;
  }
}
