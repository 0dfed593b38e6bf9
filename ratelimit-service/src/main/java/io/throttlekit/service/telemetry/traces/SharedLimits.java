package io.throttlekit.service.telemetry.traces;

import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.share.FleetFigures;
import org.jspecify.annotations.Nullable;

/** Returns the state of a concurrency limit among replicas. Thread-safe. */
@FunctionalInterface
public interface SharedLimits {
  /**
   * Returns the state of the limit that a descriptor reaches; null if none share it.
   *
   * @param entries of the descriptor: key, value, key, value …
   */
  @Nullable FleetFigures of(Rule rule, String[] entries);
}
