package io.throttlekit.share;

/** Listener for the events of a node of a fleet. Thread-safe; its methods never block. */
public interface MembershipListener {
  /** A listener that ignores every event. */
  MembershipListener NONE = new MembershipListener() {};

  /**
   * The lease is about to end without an answer of the coordinator, or the node could not join:
   * from now on nothing is admitted. Called once, until an answer arrives. Requests in flight that
   * can be aborted should be.
   */
  default void fenced() {}

  /** The coordinator has answered again: requests are admitted. */
  default void unfenced() {}

  /** The node has left the fleet because it had no requests, until the next one. */
  default void left() {}

  /** A share was granted. */
  default void granted(ShareGrant grant) {}

  /** A heartbeat failed. */
  default void failed(Throwable why) {}
}
