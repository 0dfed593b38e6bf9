package io.throttlekit.postgres;

import io.throttlekit.store.CallId;
import org.jspecify.annotations.Nullable;

/** The deadline of a call's stage. */
enum Deadline {
  /** The deadline of a request. */
  REQUEST,

  /** The deadline of a lease. */
  LEASE,

  /**
   * No deadline: until the answer arrives or the connection is lost, for calls that take effect
   * once however often they are repeated. After the deadline of a lease such a call counts as late,
   * and is not started any more.
   */
  NONE;

  /** Returns the deadline of a lease or a return. */
  static Deadline ofCall(@Nullable CallId id) {
    return id == null ? LEASE : NONE;
  }
}
