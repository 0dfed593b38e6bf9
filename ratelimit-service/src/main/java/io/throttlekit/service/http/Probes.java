package io.throttlekit.service.http;

import java.util.List;

/** The state of the process that probes of Kubernetes and load balancers read. Thread-safe. */
public interface Probes {

  /** Returns whether start and warm-up are over; never false again afterwards. */
  boolean started();

  /** Returns why the process does not serve, in words; empty if it serves. */
  List<String> obstacles();

  /**
   * Returns why the process makes no progress, in words; empty if it does. Waits for event loops
   * for a bounded time.
   */
  List<String> hangs() throws InterruptedException;
}
