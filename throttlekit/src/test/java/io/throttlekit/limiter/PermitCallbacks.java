package io.throttlekit.limiter;

import static java.util.Objects.requireNonNull;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Records the callbacks of named requests, in order. Not thread-safe. */
final class PermitCallbacks {
  private final AdaptiveLimiter limiter;
  private final List<String> notifications = new ArrayList<>();
  private final List<Permit> permits = new ArrayList<>();

  PermitCallbacks(AdaptiveLimiter limiter) {
    this.limiter = limiter;
  }

  PendingPermit ask(String name) {
    return ask(name, PermitRequest.PLAIN);
  }

  PendingPermit ask(String name, PermitRequest request) {
    return limiter.acquire(
        request,
        new PermitCallback() {
          @Override
          public void admitted(Permit permit) {
            notifications.add(name);
            permits.add(permit);
          }

          @Override
          public void refused(Refusal why) {
            notifications.add(name + " " + why);
          }
        });
  }

  /** Returns the callbacks since the last call. */
  List<String> notified() {
    List<String> now = List.copyOf(notifications);
    notifications.clear();
    return now;
  }

  /** Returns the first permit that was not yet returned here. */
  Permit permit() {
    return permits.removeFirst();
  }

  /** Returns the permits that were not yet returned here. */
  List<Permit> permits() {
    List<Permit> now = List.copyOf(permits);
    permits.clear();
    return now;
  }

  /** Returns a permit that must not be null. */
  static Permit taken(@Nullable Permit permit) {
    return requireNonNull(permit, "no permit");
  }
}
