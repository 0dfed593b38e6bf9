package io.throttlekit.service.sensor;

/** Tells two, one after the other. Thread-safe. */
public record BothSensed(Sensed first, Sensed second) implements Sensed {

  @Override
  public void ended(String node, Reading reading, long beganNanos, long arrivedNanos) {
    first.ended(node, reading, beganNanos, arrivedNanos);
    second.ended(node, reading, beganNanos, arrivedNanos);
  }

  @Override
  public void reported(String node, Load load, long arrivedNanos) {
    first.reported(node, load, arrivedNanos);
    second.reported(node, load, arrivedNanos);
  }

  @Override
  public void left(String node) {
    first.left(node);
    second.left(node);
  }
}
