package io.throttlekit.share;

import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.regex.Pattern;

/**
 * Where processes exchange releases of permits: one that receives the release of another process's
 * permit appends it to the queue of that process, which takes it from there.
 *
 * <p>A process has an address. Its calls keep it known for {@link #KEPT_MILLIS}; only known
 * processes have queues, so that releases with invented addresses are not stored. A release is
 * delivered at least once unless it is dropped: from a full queue, or {@link #KEPT_MILLIS} after it
 * was appended. All times follow the exchange's clock. A call is one atomic step.
 *
 * <p>Thread-safe and non-blocking. A stage fails with a {@link
 * io.throttlekit.store.StoreException}; the call may have taken effect all the same.
 */
public interface ReleaseExchange extends AutoCloseable {
  /** The most releases of one call, in each direction. */
  int MAX_BATCH = 1_000;

  /** The most releases that wait for one process; the oldest are dropped. */
  int MAX_QUEUE = 10_000;

  /** Time for which releases wait, and for which a process is known after its last call, in ms. */
  long KEPT_MILLIS = 600_000;

  /**
   * A release for another process.
   *
   * @param address of the process: 1 to 64 of {@code a-z}, {@code 0-9} and {@code -}
   * @param text printable ASCII, 1 to 200 characters
   */
  record Release(String address, String text) {
    private static final Pattern ADDRESS = Pattern.compile("[a-z0-9-]{1,64}");
    private static final Pattern TEXT = Pattern.compile("[ -~]{1,200}");

    /** Checks the format. */
    public Release {
      requireAddress(address);
      if (!TEXT.matcher(text).matches()) {
        throw new IllegalArgumentException("not 1 to 200 printable characters");
      }
    }

    /**
     * Checks the format of an address.
     *
     * @throws IllegalArgumentException if it is not an address
     */
    public static void requireAddress(String address) {
      if (!ADDRESS.matcher(address).matches()) {
        throw new IllegalArgumentException("not an address of a process");
      }
    }
  }

  /**
   * The answer to a call.
   *
   * @param receipt acknowledges these releases, if it is passed to the next call
   * @param releases texts for the calling process, the oldest first, at most {@link #MAX_BATCH}
   * @param unknown releases of the call that were not stored, because their process is not known
   * @param dropped releases of full queues, which this call removed
   */
  record Delivery(long receipt, List<String> releases, long unknown, long dropped) {
    /** The receipt of a process that has received nothing. */
    public static final long NO_RECEIPT = 0;

    /** Copies the list. */
    public Delivery {
      releases = List.copyOf(releases);
    }
  }

  /**
   * Removes the releases of the receipt from the queue of the calling process, returns the oldest
   * ones that are left in it, and appends {@code outgoing} to the queues of their processes.
   *
   * <p>To be called again after its answer: releases are returned until they are acknowledged, so
   * that a lost answer loses none.
   *
   * @param address of the calling process
   * @param receipt of the last answer that arrived; {@link Delivery#NO_RECEIPT} before the first
   * @param outgoing at most {@link #MAX_BATCH}
   * @throws IllegalArgumentException for an invalid address, or too many releases
   */
  CompletionStage<Delivery> exchange(String address, long receipt, List<Release> outgoing);

  /**
   * Returns releases that wait for another process and that no call has returned yet, the oldest
   * first, at most {@link #MAX_BATCH}, and marks them as returned. They still wait for that
   * process. Of equal releases only one is returned: a call that failed may have been repeated.
   *
   * <p>For a process that does not call any more. What is returned has had no effect there, if the
   * process has died: it may be counted elsewhere. A lost answer loses the releases.
   *
   * @param address of the other process
   * @throws IllegalArgumentException for an invalid address
   */
  CompletionStage<List<String>> claim(String address);

  /** Rejects new calls and closes connections; calls in flight may fail. */
  @Override
  void close();

  /** Checks the arguments of {@link #exchange}. */
  static void requireValid(String address, List<Release> outgoing) {
    Release.requireAddress(address);
    if (outgoing.size() > MAX_BATCH) {
      throw new IllegalArgumentException("more than " + MAX_BATCH + " releases");
    }
  }
}
