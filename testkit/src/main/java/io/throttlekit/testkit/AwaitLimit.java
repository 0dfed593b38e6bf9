package io.throttlekit.testkit;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;

/**
 * Lets every {@link Awaitility#await()} wait for minutes instead of ten seconds, which a busy
 * machine can take to start a thread. A condition that holds ends the wait at once.
 *
 * <p>JUnit registers the listener in every module whose tests have the test kit on their class
 * path.
 */
public final class AwaitLimit implements LauncherSessionListener {
  /** What a test waits at most for a condition; less than the timeout of a test. */
  public static final Duration LIMIT = Duration.ofMinutes(5);

  /** Creates the listener. */
  public AwaitLimit() {}

  @Override
  public void launcherSessionOpened(LauncherSession session) {
    try {
      Awaitility.setDefaultTimeout(LIMIT);
    } catch (NoClassDefFoundError _) {
      // A module without Awaitility.
    }
  }
}
