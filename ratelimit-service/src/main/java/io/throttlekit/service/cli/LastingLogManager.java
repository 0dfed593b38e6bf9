package io.throttlekit.service.cli;

import java.util.logging.LogManager;

/**
 * Keeps its handlers until the process ends. The JDK's own manager resets itself in a shutdown
 * hook, concurrently with the hook that drains, so that log lines of draining would be lost. It is
 * enabled by a system property, set before the first log line.
 */
public final class LastingLogManager extends LogManager {

  /** Creates the manager; called by the JDK, which reads the class from a system property. */
  public LastingLogManager() {}

  /** Does nothing. */
  @Override
  public void reset() {}
}
