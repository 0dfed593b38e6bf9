package io.throttlekit.demo;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The requests of a region during and after each partition from the coordinator. Thread-safe. */
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
   * @param region index in {@link MeshScenario#REGIONS}
   */
  Cuts(int region) {
    this.region = region;
  }

  /**
   * One partition of the region.
   *
   * @param spent requests admitted during the partition, from units leased before it
   * @param refused requests refused during the partition
   * @param millisToRefusal from its start to the first refusal; below 0 if there was none
   * @param millisToReturn from its end to the first admitted request; below 0 if there was none
   */
  record Cut(long spent, long refused, long millisToRefusal, long millisToReturn) {}

  /** Starts a partition. */
  synchronized void begin(long nowNanos) {
    cut = true;
    sinceNanos = nowNanos;
    spent = 0;
    refused = 0;
    firstRefusalNanos = 0;
  }

  /** Ends the partition. */
  synchronized void end(long nowNanos) {
    cut = false;
    untilNanos = nowNanos;
    ended.add(new Cut(spent, refused, refused == 0 ? NEVER : millis(firstRefusalNanos), NEVER));
  }

  /** Adds a response; counts it if the region was partitioned for the whole request. */
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
    } else if (!cut && answer == Answer.ALLOWED && isFirstAfterCut(sentNanos)) {
      Cut last = ended.removeLast();
      ended.add(
          new Cut(
              last.spent(),
              last.refused(),
              last.millisToRefusal(),
              millis(answeredNanos - untilNanos)));
    }
  }

  private boolean isFirstAfterCut(long sentNanos) {
    return !ended.isEmpty()
        && ended.getLast().millisToReturn() == NEVER
        && sentNanos - untilNanos >= 0;
  }

  /** Returns whether the region is partitioned and has refused a request. */
  synchronized boolean refuses() {
    return cut && refused > 0;
  }

  /** Returns the requests admitted since the start of the last partition. */
  synchronized long spent() {
    return spent;
  }

  /** Returns the partitions that have ended. */
  synchronized List<Cut> ended() {
    return List.copyOf(ended);
  }

  private static long millis(long nanos) {
    return TimeUnit.NANOSECONDS.toMillis(nanos);
  }
}
