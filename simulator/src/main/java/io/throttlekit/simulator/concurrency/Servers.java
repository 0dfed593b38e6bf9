package io.throttlekit.simulator.concurrency;

import java.util.Arrays;

/** What servers work on, by when they will have done it: a binary heap of numbers. */
final class Servers {
  private long[] dues = new long[64];
  private long[] numbers = new long[64];
  private int size;

  /** How many work. */
  int busy() {
    return size;
  }

  /** When the next is done; {@link Long#MAX_VALUE} when all are idle. */
  long next() {
    return size == 0 ? Long.MAX_VALUE : dues[0];
  }

  /** Begins to work on a request. */
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

  /** The number of the request that is done next, whose server is idle from now on. */
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
