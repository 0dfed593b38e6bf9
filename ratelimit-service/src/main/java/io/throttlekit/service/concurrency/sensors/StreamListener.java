package io.throttlekit.service.concurrency.sensors;

/** Listener for the streams on which Envoys report. Thread-safe and quick. */
public interface StreamListener {

  /** A stream began. */
  void opened();

  /** A stream ended. */
  void closed();

  /** A stream was rejected because of its node id. */
  void rejected();
}
