package io.throttlekit.postgres;

import io.throttlekit.store.CallId;
import org.jspecify.annotations.Nullable;

/** How long the stage of a call may be without an answer. */
enum Deadline {
  /** As long as a request waits. */
  REQUEST,

  /** As long as a lease may take. */
  LEASE,

  /**
   * Until the answer comes, or the connection is lost: for calls that take effect once however
   * often they are sent. Past the deadline of a lease one is counted as late, and not begun any
   * more.
   */
  NONE;

  /** That of a lease, or a return, which may have an id. */
  static Deadline ofCall(@Nullable CallId id) {
    return id == null ? LEASE : NONE;
  }
}
