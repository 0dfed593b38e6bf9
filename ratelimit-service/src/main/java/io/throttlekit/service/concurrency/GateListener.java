package io.throttlekit.service.concurrency;

import io.throttlekit.concurrency.Refusal;

/** Is told what happens at the ceilings. Thread-safe and quick. */
public interface GateListener {

  /** Listens to nothing. */
  GateListener NONE =
      new GateListener() {
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

  /** A request found no room below a ceiling. */
  void refused(Refusal why);

  /** A request was refused because there are too many leases. */
  void noRoomForLeases();

  /** A request has got a lease. */
  void leased();

  /** A lease ended. */
  void ended(LeaseEnd how);

  /** Somebody gave back a lease that is over, or never was. */
  void stale();
}
