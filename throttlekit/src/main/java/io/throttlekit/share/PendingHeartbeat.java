package io.throttlekit.share;

import org.jspecify.annotations.Nullable;

/**
 * A heartbeat that is not made before its turn to be sent comes: so it reports the node as it is
 * then, however long it waited. Thread-safe; its methods do not block.
 */
public interface PendingHeartbeat {

  /** Returns the key of the limit. */
  String key();

  /**
   * Returns for how long the node applies its share without an answer, in ns; 0 or less if it has
   * none, because it joins or is fenced. Takes no lock.
   */
  long leftNanos();

  /**
   * Makes the heartbeat. To be called once, just before it is sent: the node's share lasts from
   * this instant on.
   *
   * @return null if none is to be sent any more
   */
  @Nullable Heartbeat make();
}
