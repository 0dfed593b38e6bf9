package io.throttlekit.service.fleet;

/** What happens to a store or a coordinator. */
enum Fault {
  KILLED,
  STOPPED;

  /** Lets it happen. */
  void begin(LeaseStore store) {
    switch (this) {
      case KILLED -> store.kill();
      case STOPPED -> store.hang();
    }
  }

  /** Ends it. */
  void end(LeaseStore store) {
    switch (this) {
      case KILLED -> store.restart();
      case STOPPED -> store.goOn();
    }
  }
}
