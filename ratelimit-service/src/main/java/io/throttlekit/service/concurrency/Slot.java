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
    end(Ending.Plain.UNTOLD);
  }

  /** Ends it, and has the law of the ceiling learn what its end says. */
  void end(Ending ending) {
    if (!ended.compareAndSet(false, true)) {
      return;
    }
    try {
      switch (ending) {
        case Ending.Measured measured -> permit.record(measured.nanos());
        case Ending.Plain.ANSWERED -> permit.record();
        case Ending.Plain.GIVEN_UP -> permit.drop();
        case Ending.Plain.UNTOLD -> permit.release();
      }
    } finally {
      ceiling.unpin();
    }
  }
}
