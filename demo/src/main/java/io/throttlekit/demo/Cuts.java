package io.throttlekit.demo;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** How a region fares each time that it is cut off from the coordinator. Thread-safe. */
final class Cuts {
  private static final long NEVER = -1;

  private final int region;
  private final List<Cut> ended = new ArrayList<>();
  private boolean cut;
  private long sinceNanos;
  private long untilNanos;
  private long spent;
  private long refused;
  private long firstRefusalNanos;

  /**
   * @param region by its place in {@link MeshScenario#REGIONS}
   */
  Cuts(int region) {
    this.region = region;
  }

  /**
   * One time that the region was cut off.
   *
   * @param spent requests that it admitted meanwhile, with what it had leased before
   * @param refused requests that it refused meanwhile
   * @param millisToRefusal from the cut to the first refusal; less than 0 when there was none
   * @param millisToReturn from the end of the cut until a client has been admitted again; less than
   *     0 when none was
   */
  record Cut(long spent, long refused, long millisToRefusal, long millisToReturn) {}

  /** From now on the region is cut off. */
  synchronized void begin(long nowNanos) {
    cut = true;
    sinceNanos = nowNanos;
    spent = 0;
    refused = 0;
    firstRefusalNanos = 0;
  }

  /** From now on the region is connected again. */
  synchronized void end(long nowNanos) {
    cut = false;
    untilNanos = nowNanos;
    ended.add(new Cut(spent, refused, refused == 0 ? NEVER : millis(firstRefusalNanos), NEVER));
  }

  /** Takes an answer; counts it when the region was cut off for as long as it took. */
  synchronized void add(int from, Answer answer, long sentNanos, long answeredNanos) {
    if (from != region || answer == Answer.FAILED) {
      return;
    }
    if (cut && sentNanos - sinceNanos >= 0) {
      if (answer == Answer.ALLOWED) {
        spent++;
      } else if (refused++ == 0) {
        firstRefusalNanos = answeredNanos - sinceNanos;
      }
    } else if (!cut && answer == Answer.ALLOWED && isBackFirst(sentNanos)) {
      Cut last = ended.removeLast();
      ended.add(
          new Cut(
              last.spent(),
              last.refused(),
              last.millisToRefusal(),
              millis(answeredNanos - untilNanos)));
    }
  }

  private boolean isBackFirst(long sentNanos) {
    return !ended.isEmpty()
        && ended.getLast().millisToReturn() == NEVER
        && sentNanos - untilNanos >= 0;
  }

  /** Whether it is cut off now, and has refused. */
  synchronized boolean refuses() {
    return cut && refused > 0;
  }

  /** What it has spent since it was cut off last. */
  synchronized long spent() {
    return spent;
  }

  /** Those that have ended. */
  synchronized List<Cut> ended() {
    return List.copyOf(ended);
  }

  private static long millis(long nanos) {
    return TimeUnit.NANOSECONDS.toMillis(nanos);
  }
}
