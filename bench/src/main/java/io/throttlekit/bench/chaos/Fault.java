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
        CoordinatorFailedOver,
        SlowReaders,
        HostileStreams,
        LongKeys,
        KeyFlood,
        LoadMultiplied {

  /** In place of a region. */
  int NO_REGION = -1;

  /** A fault that has begun. */
  @FunctionalInterface
  interface Running {
    /** Ends it, and returns once what had to be started again serves. */
    void end() throws Exception;

    /** How much of it took place, in words; empty where all of it does. */
    default String extent() {
      return "";
    }
  }

  /** The region whose own limits it may affect, or {@link #NO_REGION} for none or all. */
  int region();

  /** Whether service is back before {@link Running#end}: recovery counts from the beginning. */
  default boolean endsByItself() {
    return false;
  }

  /** The name of its kind; reports and tests count by it. */
  String kind();

  /** Begins it. */
  Running begin(Stage stage) throws Exception;
}
