package io.throttlekit.concurrency;

/**
 * Asked for a permit, and is told once what became of it: by the thread that asks, or later by the
 * one that made room or ended the waiting. It is told with no lock held, and may give the permit
 * back at once. It must not block, for others wait to be told.
 *
 * <p>What it throws is taken for a bug: its permit is given back, and where it was told later the
 * exception goes to the thread's handler of uncaught exceptions.
 */
public interface Applicant {

  /** The request may go to the backend; {@code permit} must be ended once it has. */
  void admitted(Permit permit);

  /** The request may not go to the backend. */
  void refused(Refusal why);
}
