package io.throttlekit.service.rls;

import io.throttlekit.service.concurrency.RequestPermit;
import org.jspecify.annotations.Nullable;

/**
 * A response in JSON that may still be lost on its way to the caller.
 *
 * @param admitted whether the request may pass
 * @param json the response
 * @param permit of the request in flight that it grants; null for none
 */
public record JsonAnswer(boolean admitted, String json, @Nullable RequestPermit permit) {
  /** Returns the permit because the caller does not receive the answer that names it. */
  public void lost() {
    if (permit != null) {
      permit.cancelled();
    }
  }
}
