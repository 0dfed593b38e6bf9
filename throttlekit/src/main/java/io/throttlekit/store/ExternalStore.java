package io.throttlekit.store;

import java.util.concurrent.CompletionStage;

/** A store, an escrow or a coordinator outside this process, with the connections to it. */
public interface ExternalStore extends AutoCloseable {

  /**
   * Completes when the connections have been opened once; never while the server is unreachable.
   * Completed for a store that connects on its first call.
   */
  CompletionStage<?> ready();

  /** Rejects new calls, and closes the connections when earlier calls have ended. */
  @Override
  void close();

  /**
   * Completes after {@link #close} when all earlier calls have ended, at the latest after their
   * deadlines, and all connections are closed.
   */
  CompletionStage<?> ended();
}
