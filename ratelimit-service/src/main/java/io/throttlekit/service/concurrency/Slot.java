package io.throttlekit.service.concurrency;

import io.throttlekit.limiter.Permit;
import java.util.concurrent.atomic.AtomicBoolean;

/** A slot in flight below one concurrency limit, which ends once. Thread-safe. */
final class Slot {
  private final PinnedLimit limit;
  private final Permit permit;
  private final AtomicBoolean ended = new AtomicBoolean();

  Slot(PinnedLimit limit, Permit permit) {
    this.limit = limit;
    this.permit = permit;
  }

  /** Releases the slot without evidence about the backend. */
  void returnUnits() {
    end(Ending.Plain.UNKNOWN);
  }

  /** Releases the slot and reports the result to the limit algorithm. */
  void end(Ending ending) {
    if (!ended.compareAndSet(false, true)) {
      return;
    }
    try {
      switch (ending) {
        case Ending.Measured measured -> permit.record(measured.nanos());
        case Ending.Plain.ANSWERED -> permit.record();
        case Ending.Plain.TIMED_OUT -> permit.drop();
        case Ending.Plain.UNKNOWN -> permit.release();
      }
    } finally {
      limit.unpin();
    }
  }
}
