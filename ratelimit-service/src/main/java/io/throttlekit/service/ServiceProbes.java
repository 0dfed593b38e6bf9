package io.throttlekit.service;

import io.throttlekit.service.http.Probes;
import io.throttlekit.service.loop.LoopLiveness;
import io.throttlekit.service.server.Health;
import java.time.Duration;
import java.util.List;

/** The probes of a process: its health, and whether its event loops run. Thread-safe. */
record ServiceProbes(Health health, LoopLiveness loops) implements Probes {
  /** Above every pause of a busy process: a restart loses leased units. */
  private static final Duration TIMEOUT = Duration.ofSeconds(2);

  @Override
  public boolean started() {
    return health.started();
  }

  @Override
  public List<String> obstacles() {
    return health.obstacles();
  }

  @Override
  public List<String> hangs() throws InterruptedException {
    int hung = loops.hung(TIMEOUT);
    return hung == 0
        ? List.of()
        : List.of("event loops that ran no task for " + TIMEOUT.toSeconds() + " s: " + hung);
  }
}
