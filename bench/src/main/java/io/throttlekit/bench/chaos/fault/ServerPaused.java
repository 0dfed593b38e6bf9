package io.throttlekit.bench.chaos.fault;

import io.throttlekit.bench.chaos.fleet.StoreServer;

/**
 * Pauses the store of a region or the coordinator by SIGSTOP, and resumes it by SIGCONT.
 *
 * @param region of the store, or {@link ServerKilled#COORDINATOR}
 */
public record ServerPaused(int region) implements Fault {

  @Override
  public String kind() {
    return (region == ServerKilled.COORDINATOR ? "coordinator" : "store") + " paused";
  }

  @Override
  public Running begin(Stage stage) {
    StoreServer server = ServerKilled.server(stage.fleet(), region);
    server.pause().run();
    return server.resume()::run;
  }
}
