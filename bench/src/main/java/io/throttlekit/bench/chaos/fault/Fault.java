package io.throttlekit.bench.chaos.fault;

/** A fault that lasts for a while. Immutable: its state while it lasts is in {@link Running}. */
public sealed interface Fault
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

  /** Value in place of a region. */
  int NO_REGION = -1;

  /** A fault that has begun. */
  @FunctionalInterface
  interface Running {
    /** Ends the fault, and returns after what had to be restarted serves. */
    void end() throws Exception;

    /** Describes how much of the fault took place; empty where all of it does. */
    default String extent() {
      return "";
    }
  }

  /** Returns the region whose own limits may be affected, or {@link #NO_REGION} for none or all. */
  int region();

  /**
   * Returns whether service recovers before {@link Running#end}, so that recovery counts from the
   * beginning.
   */
  default boolean endsByItself() {
    return false;
  }

  /** Returns the name of its kind; reports and tests count by it. */
  String kind();

  /** Begins the fault. */
  Running begin(Stage stage) throws Exception;
}
