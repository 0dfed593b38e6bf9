package io.throttlekit.demo;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.function.Consumer;

/** Sends HTTP requests to Envoy. */
final class HttpSender implements RequestSender {
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final String address;

  HttpSender(int port) {
    this.address = "http://127.0.0.1:" + port;
  }

  @Override
  public String through() {
    return "envoy";
  }

  @Override
  public void send(DemoRequest request, Consumer<Answer> answered) {
    HttpRequest http =
        HttpRequest.newBuilder(URI.create(address + request.path()))
            .header("x-user", request.user())
            .timeout(Duration.ofSeconds(30))
            .build();
    var _ =
        client
            .sendAsync(http, BodyHandlers.discarding())
            .handle((response, _) -> response == null ? 0 : response.statusCode())
            .thenAccept(status -> answered.accept(answer(status)));
  }

  private static Answer answer(int status) {
    return switch (status) {
      case 200 -> Answer.ALLOWED;
      case 429 -> Answer.LIMITED;
      default -> Answer.FAILED;
    };
  }

  @Override
  public void close() {
    client.shutdownNow();
    client.close();
  }
}
