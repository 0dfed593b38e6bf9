package io.throttlekit.service;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;

/** Waits for conditions with timeouts for busy machines. */
public final class LongAwait {
  private static final Duration AT_MOST = Duration.ofSeconds(60);

  private LongAwait() {}

  /**
   * Returns {@link Awaitility#await()} with a longer timeout: a busy machine can take its default
   * of 10 s to start a thread.
   */
  public static ConditionFactory await() {
    return Awaitility.await().atMost(AT_MOST);
  }
}
