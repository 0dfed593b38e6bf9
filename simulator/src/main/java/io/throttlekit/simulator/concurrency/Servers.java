package io.throttlekit.simulator.concurrency;

import java.util.Arrays;

/** The requests in service, ordered by their end: a binary heap. */
final class Servers {
  private long[] dues = new long[64];
  private long[] numbers = new long[64];
  private int size;

  /** Returns the number of busy servers. */
  int busy() {
    return size;
  }

  /** Returns the time of the next completion; {@link Long#MAX_VALUE} if all servers are idle. */
  long next() {
    return size == 0 ? Long.MAX_VALUE : dues[0];
  }

  /** Starts to serve a request. */
  void begin(long dueNanos, long number) {
    if (size == dues.length) {
      dues = Arrays.copyOf(dues, 2 * size);
      numbers = Arrays.copyOf(numbers, 2 * size);
    }
    int at = size++;
    while (at > 0 && dues[(at - 1) / 2] > dueNanos) {
      move((at - 1) / 2, at);
      at = (at - 1) / 2;
    }
    dues[at] = dueNanos;
    numbers[at] = number;
  }

  /** Completes the next request, which frees its server. Returns its number. */
  long done() {
    long first = numbers[0];
    size--;
    long due = dues[size];
    long number = numbers[size];
    int at = 0;
    for (int child = 1; child < size; child = 2 * at + 1) {
      if (child + 1 < size && dues[child + 1] < dues[child]) {
        child++;
      }
      if (dues[child] >= due) {
        break;
      }
      move(child, at);
      at = child;
    }
    dues[at] = due;
    numbers[at] = number;
    return first;
  }

  private void move(int from, int to) {
    dues[to] = dues[from];
    numbers[to] = numbers[from];
  }
}
