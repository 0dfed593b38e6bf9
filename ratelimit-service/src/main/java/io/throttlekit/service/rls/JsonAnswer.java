package io.throttlekit.service.rls;

import io.throttlekit.service.concurrency.Lease;
import org.jspecify.annotations.Nullable;

/**
 * A response in JSON that may still be lost on its way to the caller.
 *
 * @param admitted whether the request may pass
 * @param json the response
 * @param lease the slots in flight that it grants; null for none
 */
public record JsonAnswer(boolean admitted, String json, @Nullable Lease lease) {
  /** Returns the permit because the caller does not receive the answer that names it. */
  public void lost() {
    if (lease != null) {
      lease.cancelled();
    }
  }
}
