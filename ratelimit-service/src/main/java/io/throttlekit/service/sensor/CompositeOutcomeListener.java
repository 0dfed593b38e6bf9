package io.throttlekit.service.sensor;

/** Forwards to two listeners in order. Thread-safe. */
public record CompositeOutcomeListener(OutcomeListener first, OutcomeListener second)
    implements OutcomeListener {

  @Override
  public void ended(String node, Reading reading, long beganNanos, long arrivedNanos) {
    first.ended(node, reading, beganNanos, arrivedNanos);
    second.ended(node, reading, beganNanos, arrivedNanos);
  }

  @Override
  public void reported(String node, long stream, ClusterLoad load, long arrivedNanos) {
    first.reported(node, stream, load, arrivedNanos);
    second.reported(node, stream, load, arrivedNanos);
  }

  @Override
  public void left(String node, long stream) {
    first.left(node, stream);
    second.left(node, stream);
  }
}
