package io.throttlekit.service.http;

import java.util.List;

/** Probes of a process whose state a test sets. */
final class SetProbes implements Probes {
  volatile boolean started = true;
  volatile List<String> obstacles = List.of();
  volatile List<String> hangs = List.of();

  @Override
  public boolean started() {
    return started;
  }

  @Override
  public List<String> obstacles() {
    return obstacles;
  }

  @Override
  public List<String> hangs() {
    return hangs;
  }
}
