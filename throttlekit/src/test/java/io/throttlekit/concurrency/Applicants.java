package io.throttlekit.concurrency;

import static java.util.Objects.requireNonNull;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Those who ask a limiter, by name, and what they were told, in order. For one thread. */
final class Applicants {
  private final AdaptiveLimiter limiter;
  private final List<String> told = new ArrayList<>();
  private final List<Permit> permits = new ArrayList<>();

  Applicants(AdaptiveLimiter limiter) {
    this.limiter = limiter;
  }

  Waiting ask(String name) {
    return ask(name, PermitRequest.PLAIN);
  }

  Waiting ask(String name, PermitRequest request) {
    return limiter.acquire(
        request,
        new Applicant() {
          @Override
          public void admitted(Permit permit) {
            told.add(name);
            permits.add(permit);
          }

          @Override
          public void refused(Refusal why) {
            told.add(name + " " + why);
          }
        });
  }

  /** What was told since this was asked last. */
  List<String> told() {
    List<String> now = List.copyOf(told);
    told.clear();
    return now;
  }

  /** The permit that was given first, and is not yet taken from here. */
  Permit permit() {
    return permits.removeFirst();
  }

  /** A permit that must be there. */
  static Permit taken(@Nullable Permit permit) {
    return requireNonNull(permit, "no permit");
  }
}
