package io.throttlekit.service.http;

/** Answers the requests for one path. Thread-safe. */
@FunctionalInterface
interface Route {

  /** Answers one request; the listener sends the reply. */
  Reply answer(HttpQuery query) throws InterruptedException;

  /**
   * Returns whether {@link #answer} is fast and never blocks, so that it may run on the event loop.
   */
  default boolean immediate() {
    return false;
  }
}
