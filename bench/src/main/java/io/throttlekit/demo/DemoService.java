package io.throttlekit.demo;

import io.throttlekit.envoy.ChildProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * The service in a process of its own: {@code serve} on this program's class path, on loopback and
 * with a short warm-up, without the JVM options and the AOT cache of {@code bin/throttlekit}.
 */
final class DemoService implements AutoCloseable {
  private static final Pattern READY = Pattern.compile("(?m)^ready grpc=\\S+:(\\d+) ");
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final ChildProcess process;
  private final int port;

  private DemoService(ChildProcess process, int port) {
    this.process = process;
    this.port = port;
  }

  static DemoService start(Path policy, Path log) throws IOException {
    ChildProcess process =
        ChildProcess.start(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-Xmx128m",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty(
                    "surefire.test.class.path", System.getProperty("java.class.path", "")),
                "io.throttlekit.service.Main",
                "serve",
                "--policies=" + policy,
                "--grpc-port=0",
                "--http-port=0",
                "--debug-port=0"),
            Map.of(
                "THROTTLEKIT_WARM_UP_REQUESTS", "1000",
                "THROTTLEKIT_GRPC_HOST", "127.0.0.1",
                "THROTTLEKIT_HTTP_HOST", "127.0.0.1",
                "THROTTLEKIT_DEBUG_HOST", "127.0.0.1"),
            log);
    try {
      String port = process.awaitLog(READY, PATIENCE).group(1);
      return new DemoService(process, Integer.parseInt(port));
    } catch (IOException | RuntimeException e) {
      process.close();
      throw e;
    }
  }

  int port() {
    return port;
  }

  @Override
  public void close() {
    process.close();
  }
}
