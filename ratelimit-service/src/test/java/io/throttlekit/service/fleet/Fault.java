package io.throttlekit.service.fleet;

/** A fault of a store or a coordinator. */
enum Fault {
  KILLED,
  STOPPED;

  /** Starts the fault. */
  void begin(LeaseStore store) {
    switch (this) {
      case KILLED -> store.kill();
      case STOPPED -> store.hang();
    }
  }

  /** Ends the fault. */
  void end(LeaseStore store) {
    switch (this) {
      case KILLED -> store.restart();
      case STOPPED -> store.goOn();
    }
  }
}
