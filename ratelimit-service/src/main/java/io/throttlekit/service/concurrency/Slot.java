package io.throttlekit.service.concurrency;

import io.throttlekit.concurrency.Permit;
import java.util.concurrent.atomic.AtomicBoolean;

/** A place below one ceiling that a request has taken, until it is ended once. Thread-safe. */
final class Slot {
  private final HeldCeiling ceiling;
  private final Permit permit;
  private final AtomicBoolean ended = new AtomicBoolean();

  Slot(HeldCeiling ceiling, Permit permit) {
    this.ceiling = ceiling;
    this.permit = permit;
  }

  /** Ends it; says nothing of the backend. */
  void giveBack() {
    end(false);
  }

  /** Ends it, because the backend has answered. */
  void record() {
    end(true);
  }

  private void end(boolean sample) {
    if (!ended.compareAndSet(false, true)) {
      return;
    }
    try {
      if (sample) {
        permit.record();
      } else {
        permit.release();
      }
    } finally {
      ceiling.unpin();
    }
  }
}
