package io.throttlekit.redis;

import java.util.regex.Pattern;

/**
 * The pauses between attempts of a link to connect, each twice as long as the one before it. Used
 * on one event loop.
 */
final class RetryPauses {
  /** Short, for a restart. */
  private static final long FIRST_MILLIS = 10;

  /** Requests succeed within 100 ms of Redis's return. */
  private static final long MAX_MILLIS = 50;

  /** After a refused login: Redis works and has to answer, until an operator changes something. */
  private static final long MAX_REFUSED_MILLIS = 1_000;

  /** Answers of Redis and of Sentinels to a login. */
  private static final Pattern REFUSED =
      Pattern.compile("WRONGPASS|NOAUTH|NOPERM|invalid password|without any password configured");

  private long nextMillis = FIRST_MILLIS;

  /**
   * Returns the pause before the next attempt.
   *
   * @param reason why the last attempt failed
   */
  long afterFailure(String reason) {
    long max = REFUSED.matcher(reason).find() ? MAX_REFUSED_MILLIS : MAX_MILLIS;
    long pause = Math.min(max, nextMillis);
    nextMillis = Math.min(MAX_REFUSED_MILLIS, 2 * pause);
    return pause;
  }

  /** Begins with the shortest pause again, after a connection. */
  void reset() {
    nextMillis = FIRST_MILLIS;
  }
}
