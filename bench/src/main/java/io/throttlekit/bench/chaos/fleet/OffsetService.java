package io.throttlekit.bench.chaos.fleet;

import io.throttlekit.service.RateLimitService;
import io.throttlekit.service.config.ServiceConfig;
import io.throttlekit.service.config.load.ConfigLoader;
import io.throttlekit.service.config.load.LoadedConfig;
import io.throttlekit.service.server.StartException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

/**
 * The service as {@code serve} runs it, configured only by its environment, on an {@link
 * OffsetClock}.
 */
final class OffsetService {
  private OffsetService() {}

  /**
   * Serves until a signal ends it.
   *
   * @param args the file of its clock
   */
  public static void main(String[] args) throws IOException, InterruptedException {
    LoadedConfig loaded = new ConfigLoader(System.getenv()).load(Map.of());
    ServiceConfig config = loaded.config();
    if (config == null) {
      loaded.errors().forEach(System.err::println);
      System.exit(2);
      return;
    }
    try {
      RateLimitService service = new RateLimitService(config, OffsetClock.of(Path.of(args[0])));
      Runtime.getRuntime().addShutdownHook(new Thread(service::stop));
      if (service.start()) {
        System.out.println(service.readyLine());
      }
    } catch (StartException e) {
      System.err.println(e.getMessage());
      System.exit(1);
    }
    new CountDownLatch(1).await(); // a signal ends the process
  }
}
