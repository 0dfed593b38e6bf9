package io.throttlekit.service.concurrency;

import io.throttlekit.limiter.Permit;

/** A permit of one concurrency limit. To be ended once, because that unpins the limit. */
record HeldPermit(PinnedLimit limit, Permit permit) {

  /** Releases the permit and reports the result to the limit algorithm. */
  void end(Ending ending) {
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
