package io.throttlekit.envoy.ceiling;

/** Hears what Envoys obey. Called by one thread at a time, which must not be kept waiting. */
@FunctionalInterface
public interface CeilingListener {

  /**
   * A ceiling that was offered is in force: every Envoy that is there has acknowledged its share,
   * and no more than the ceiling is reserved. Told once for each change of it, and not at all for
   * one that the next came before.
   *
   * @param requests the ceiling
   * @param sinceNanos monotonic; requests that began before may have been let in by an older one
   */
  void applied(Ceiling ceiling, int requests, long sinceNanos);

  /** A stream was ended at once because there are too many: its Envoy has no share. */
  default void turnedAway() {}
}
