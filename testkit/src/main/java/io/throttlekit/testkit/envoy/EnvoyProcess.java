package io.throttlekit.testkit.envoy;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A running Envoy, ended by {@link #close}, and at the latest with this JVM.
 *
 * <p>Listeners and the admin interface may have port 0: {@link #port} returns the real one.
 * Thread-safe.
 */
public final class EnvoyProcess implements AutoCloseable {
  private static final Pattern ADDRESS =
      Pattern.compile("\"local_address\":.*?\"port_value\":\\s*(\\d+)", Pattern.DOTALL);
  private static final Duration TIMEOUT = Duration.ofMinutes(4);

  private final ChildProcess process;
  private final HttpClient http;
  private String admin = "";
  private int port;

  private EnvoyProcess(ChildProcess process) {
    this.process = process;
    this.http = HttpClient.newHttpClient();
  }

  /**
   * Starts Envoy and waits until it is ready.
   *
   * @param program the executable
   * @param bootstrap YAML; ports may be 0
   * @param folder an existing folder for the bootstrap and the log; not deleted
   * @throws IOException when it ends at once or is not ready in time; the message ends with its log
   */
  public static EnvoyProcess start(Path program, String bootstrap, Path folder) throws IOException {
    Path config = Files.writeString(folder.resolve("envoy.yaml"), bootstrap);
    Path adminAddress = folder.resolve("admin-address");
    EnvoyProcess envoy =
        new EnvoyProcess(
            ChildProcess.start(
                command(program, config, adminAddress), Map.of(), folder.resolve("envoy.log")));
    try {
      envoy.process.await(() -> envoy.isReady(adminAddress), TIMEOUT);
      envoy.port = envoy.firstListenerPort();
      return envoy;
    } catch (IOException | RuntimeException e) {
      envoy.close();
      throw e;
    }
  }

  /**
   * Returns the errors that Envoy's {@code --mode validate} reports for a bootstrap.
   *
   * @return empty if it is valid, else Envoy's message
   */
  public static String validate(Path program, String bootstrap, Path folder) throws IOException {
    Path config = Files.writeString(folder.resolve("validate.yaml"), bootstrap);
    Command.Result result =
        Command.run(
            List.of(program.toString(), "-c", config.toString(), "--mode", "validate"), TIMEOUT);
    return result.exit() == 0 ? "" : result.output();
  }

  private static List<String> command(Path program, Path config, Path adminAddress) {
    return List.of(
        program.toString(),
        "--config-path",
        config.toString(),
        "--admin-address-path",
        adminAddress.toString(),
        "--use-dynamic-base-id",
        "--concurrency",
        "2",
        "--log-level",
        "warning");
  }

  /** Returns the port of the first listener, on loopback. */
  public int port() {
    return port;
  }

  /** Returns the process id. */
  public long pid() {
    return process.pid();
  }

  /** Returns its log. */
  public String log() throws IOException {
    return process.log();
  }

  /**
   * Requests a page of the admin interface.
   *
   * @param path for example {@code /stats?filter=ratelimit}
   * @return the body
   * @throws IOException when the answer is not 200
   */
  public String admin(String path) throws IOException {
    try {
      var request =
          HttpRequest.newBuilder(URI.create("http://" + admin + path)).timeout(TIMEOUT).build();
      var response = http.send(request, BodyHandlers.ofString());
      if (response.statusCode() != 200) {
        throw new IOException(path + ": " + response.statusCode() + " " + response.body());
      }
      return response.body();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  /** Ends Envoy and waits for its end; without effect the second time. */
  @Override
  public void close() {
    process.close();
    http.close();
  }

  private boolean isReady(Path adminAddress) throws IOException {
    if (!Files.exists(adminAddress)) {
      return false;
    }
    admin = Files.readString(adminAddress).strip();
    try {
      return !admin.isEmpty() && admin("/ready").startsWith("LIVE");
    } catch (IOException e) {
      return false; // 503 while it initializes
    }
  }

  private int firstListenerPort() throws IOException {
    Matcher address = ADDRESS.matcher(admin("/listeners?format=json"));
    if (!address.find()) {
      throw new IOException("the bootstrap has no listener");
    }
    return Integer.parseInt(address.group(1));
  }
}
