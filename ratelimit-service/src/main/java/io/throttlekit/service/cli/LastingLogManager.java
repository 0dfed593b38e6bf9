package io.throttlekit.service.cli;

import java.util.logging.LogManager;

/**
 * Keeps its handlers until the process is gone. The JDK's own manager resets itself in a shutdown
 * hook, beside the hook that drains, and what is said while draining would be lost. Whoever wants
 * it names it in a system property, before anything is logged.
 */
public final class LastingLogManager extends LogManager {

  /** For the JDK, which makes the one that the system property names. */
  public LastingLogManager() {}

  /** Does nothing. */
  @Override
  public void reset() {}
}
