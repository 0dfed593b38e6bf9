package io.throttlekit.limiter;

import io.throttlekit.limiter.tenants.PermitTenant;
import org.jspecify.annotations.Nullable;

/**
 * The attributes of a request for a permit.
 *
 * @param level importance, from 0 to {@link Priority#MAX_LEVEL}; used if the limiter has a {@link
 *     Prioritizer}
 * @param user owner of the usage, if the prioritizer tracks that; null for none
 * @param waitTimeoutNanos longest wait in ns, from 0, which means no wait; the limiter's own bound
 *     applies too
 * @param tenant used if tenants share the permits; null for {@link PermitTenant#UNNAMED}
 */
public record PermitRequest(
    int level, @Nullable String user, long waitTimeoutNanos, @Nullable PermitTenant tenant) {

  /** A request without a user, of the lowest level, that waits up to the limiter's bound. */
  public static final PermitRequest PLAIN = new PermitRequest(0, null, Queueing.NO_TIMEOUT);

  /**
   * @throws IllegalArgumentException when a number is out of range
   */
  public PermitRequest {
    if (level < 0 || level > Priority.MAX_LEVEL || waitTimeoutNanos < 0) {
      throw new IllegalArgumentException(
          "level must be from 0 to %s and waitTimeoutNanos at least 0, were %s and %s"
              .formatted(Priority.MAX_LEVEL, level, waitTimeoutNanos));
    }
  }

  /** Creates a request without a tenant. */
  public PermitRequest(int level, @Nullable String user, long waitTimeoutNanos) {
    this(level, user, waitTimeoutNanos, null);
  }
}
