package io.throttlekit.service.envoy;

import io.throttlekit.envoy.EnvoyExample;
import io.throttlekit.envoy.EnvoyWiring;
import io.throttlekit.service.fleet.ServiceProcess;
import io.throttlekit.testkit.AwaitLimit;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import java.util.function.UnaryOperator;

/** A client, a real Envoy on one of the examples, the service on its policy, and an upstream. */
final class Mesh implements AutoCloseable {
  /** A window of a thousand years since 1970, so that none ends during a test. */
  static final String ENDLESS = "every: 365000d";

  private final Path folder;
  private final Upstream upstream;
  private ServiceProcess service;
  private final EnvoyUnderTest envoy;
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private Mesh(Path folder, Upstream upstream, ServiceProcess service, EnvoyUnderTest envoy) {
    this.folder = folder;
    this.upstream = upstream;
    this.service = service;
    this.envoy = envoy;
  }

  /** Differences from the example. */
  record Changes(
      UnaryOperator<String> policy,
      UnaryOperator<String> bootstrap,
      Map<String, String> environment) {
    static final Changes NONE = new Changes(p -> p, b -> b, Map.of());

    static Changes policy(UnaryOperator<String> change) {
      return new Changes(change, b -> b, Map.of());
    }

    static Changes bootstrap(UnaryOperator<String> change) {
      return new Changes(p -> p, change, Map.of());
    }

    Changes with(Map<String, String> more) {
      return new Changes(policy, bootstrap, more);
    }
  }

  /**
   * Starts all of it; a minute becomes {@link #ENDLESS} in the policy. Skips the test if Envoy is
   * too old for the example.
   *
   * @param folder an empty folder; may hold {@code ca.pem}, the authority of the service
   */
  static Mesh start(Path folder, EnvoyExample example, Changes changes) throws IOException {
    example.assumeRunsOn(new MeshEnvoy().version());
    String policy = example.policy().replace("unit: minute", ENDLESS);
    writePolicy(folder, changes.policy().apply(policy));
    Upstream upstream = Upstream.start();
    try {
      ServiceProcess service =
          ServiceProcess.start(
              folder.resolve("policies"), changes.environment(), 0, folder.resolve("service.log"));
      try {
        EnvoyUnderTest.Bootstrap bootstrap =
            (listener, admin) ->
                changes
                    .bootstrap()
                    .apply(
                        example.bootstrap(
                            new EnvoyWiring(
                                listener,
                                admin,
                                service.port(),
                                service.sensorsPort(),
                                upstream.port(),
                                AwaitLimit.LIMIT,
                                folder.resolve("ca.pem"))));
        return new Mesh(folder, upstream, service, EnvoyUnderTest.start(bootstrap, folder));
      } catch (IOException | RuntimeException e) {
        service.close();
        throw e;
      }
    } catch (IOException | RuntimeException e) {
      upstream.close();
      throw e;
    }
  }

  /** Replaces the policy at once, as a deployment would: by a rename. */
  void policy(String text) throws IOException {
    writePolicy(folder, text);
  }

  private static void writePolicy(Path folder, String text) throws IOException {
    Path file = Files.createDirectories(folder.resolve("policies")).resolve("policy.yaml");
    Path next = Files.writeString(folder.resolve("next.yaml"), text);
    Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  /** Sends a request with headers, name then value. */
  HttpResponse<String> get(String path, String... headers) throws IOException {
    return get(envoy.port(), path, headers);
  }

  /** Returns the service's counts, by the names of its debug page. */
  String stats() throws IOException {
    return get(service.debugPort(), "/stats").body();
  }

  /** Returns the page that Prometheus scrapes. */
  String metrics() throws IOException {
    return get(service.debugPort(), "/metrics").body();
  }

  private HttpResponse<String> get(int port, String path, String... headers) throws IOException {
    URI uri = URI.create("http://127.0.0.1:" + port + path);
    HttpRequest.Builder request = HttpRequest.newBuilder(uri).timeout(AwaitLimit.LIMIT);
    if (headers.length > 0) {
      request.headers(headers);
    }
    try {
      return client.send(request.build(), BodyHandlers.ofString());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  /**
   * Sends a request on a connection of its own, whose response is not read.
   *
   * @param headers name, value, name, value …; each character is sent as one byte
   */
  Socket sent(String path, String... headers) throws IOException {
    StringBuilder request = new StringBuilder("GET " + path + " HTTP/1.1\r\nhost: mesh\r\n");
    for (int i = 0; i < headers.length; i += 2) {
      request.append(headers[i]).append(": ").append(headers[i + 1]).append("\r\n");
    }
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), envoy.port());
    socket
        .getOutputStream()
        .write(request.append("\r\n").toString().getBytes(StandardCharsets.ISO_8859_1));
    return socket;
  }

  /** Returns the status of a request whose headers may contain any bytes, as {@link #sent}. */
  int statusOfBytes(String path, String... headers) throws IOException {
    try (Socket socket = sent(path, headers)) {
      String line = new String(socket.getInputStream().readNBytes(12), StandardCharsets.US_ASCII);
      return Integer.parseInt(line.substring("HTTP/1.1 ".length()));
    }
  }

  int status(String path, String... headers) throws IOException {
    return get(path, headers).statusCode();
  }

  /** Returns how many of {@code requests} sequential requests got 200; the others must get 429. */
  int admitted(int requests, String path, String... headers) throws IOException {
    int admitted = 0;
    for (int i = 0; i < requests; i++) {
      int status = status(path, headers);
      if (status != 200 && status != 429) {
        throw new IOException("request " + i + " of " + path + ": " + status + service.log());
      }
      admitted += status == 200 ? 1 : 0;
    }
    return admitted;
  }

  Upstream upstream() {
    return upstream;
  }

  EnvoyUnderTest envoy() {
    return envoy;
  }

  int servicePort() {
    return service.port();
  }

  ServiceProcess service() {
    return service;
  }

  void stopService() {
    service.close();
  }

  /** Restarts the stopped service on the same ports. */
  void startServiceAgain() throws IOException {
    service =
        ServiceProcess.start(
            folder.resolve("policies"), Map.of(), service.port(), folder.resolve("again.log"));
  }

  @Override
  public void close() {
    client.close();
    envoy.close();
    service.close();
    upstream.close();
  }
}
