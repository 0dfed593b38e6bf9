package io.throttlekit.service;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;

/** Waits for conditions as long as a busy machine may need to meet them. */
public final class Patient {
  private static final Duration AT_MOST = Duration.ofSeconds(60);

  private Patient() {}

  /** As {@link Awaitility#await()}, whose ten seconds a busy machine can take to start a thread. */
  public static ConditionFactory await() {
    return Awaitility.await().atMost(AT_MOST);
  }
}
