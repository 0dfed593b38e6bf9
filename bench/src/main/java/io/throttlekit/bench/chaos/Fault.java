package io.throttlekit.bench.chaos;

/**
 * A thing that goes wrong for a while. A value: what it needs while it lasts belongs to {@link
 * Running}.
 */
sealed interface Fault
    permits ProcessKilled,
        ProcessPaused,
        ServerKilled,
        ServerPaused,
        RepliesDelayed,
        LinkCut,
        SnapshotRestored,
        FailedOver,
        ProcessClockStepped,
        CoordinatorClockStepped,
        SlowReaders,
        HostileStreams,
        LongKeys,
        KeyFlood,
        LoadMultiplied {

  /** A fault that has begun. */
  @FunctionalInterface
  interface Running {
    /** Ends it, and returns once what had to be started again serves. */
    void end() throws Exception;
  }

  /** The name of its kind; reports and tests count by it. */
  String kind();

  /** Begins it. */
  Running begin(Stage stage) throws Exception;
}
