package io.throttlekit.limiter;

/**
 * The callback of a request for a permit. Notified exactly once: by the calling thread, or later by
 * the one that freed a permit or ended the wait. No lock is held, and the permit may be ended
 * within the callback. It must not block, because the callbacks of other requests follow on the
 * same thread.
 *
 * <p>An exception counts as a bug: the permit is released, and if the callback ran later, the
 * exception goes to the thread's handler of uncaught exceptions.
 */
public interface PermitCallback {

  /** Called when the request may go to the backend; {@code permit} must be ended afterwards. */
  void admitted(Permit permit);

  /** Called when the request may not go to the backend. */
  void refused(Refusal why);
}
