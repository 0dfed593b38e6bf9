package io.throttlekit.service.server;

/** Hears how calls end, on the thread that answers. Implementations are thread-safe and quick. */
public interface CallObserver {

  /** A call was answered with a decision, {@code nanos} after its request was complete. */
  void answered(long nanos);

  /** A call ended with an error, because of the request or of this service. */
  void failed();
}
