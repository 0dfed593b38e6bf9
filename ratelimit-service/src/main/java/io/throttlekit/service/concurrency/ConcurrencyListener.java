package io.throttlekit.service.concurrency;

import io.throttlekit.concurrency.Refusal;

/** Listener for the events of the limiter. Thread-safe and quick. */
public interface ConcurrencyListener {

  /** A listener that ignores every event. */
  ConcurrencyListener NONE =
      new ConcurrencyListener() {
        @Override
        public void refused(Refusal why) {}

        @Override
        public void noRoomForLeases() {}

        @Override
        public void leased() {}

        @Override
        public void ended(LeaseEnd how) {}

        @Override
        public void stale() {}
      };

  /** A request found no room below a concurrency limit. */
  void refused(Refusal why);

  /** A request was refused because there are too many leases. */
  void noRoomForLeases();

  /** A lease was created. */
  void leased();

  /** A lease ended. */
  void ended(LeaseEnd how);

  /** A release named a lease that has ended or never existed. */
  void stale();
}
