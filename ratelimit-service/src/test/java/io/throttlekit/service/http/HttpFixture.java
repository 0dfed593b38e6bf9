package io.throttlekit.service.http;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;

/** A client of one listener. */
final class HttpFixture implements AutoCloseable {
  final HttpListener listener;
  private final HttpClient client = HttpClient.newHttpClient();

  HttpFixture(HttpListener listener) {
    this.listener = listener;
    listener.start();
  }

  HttpResponse<String> get(String path, String... headers)
      throws IOException, InterruptedException {
    HttpRequest.Builder request = request(path);
    if (headers.length > 0) {
      request.headers(headers);
    }
    return client.send(request.build(), BodyHandlers.ofString());
  }

  HttpResponse<String> send(String method, String path, byte[] body)
      throws IOException, InterruptedException {
    return client.send(
        request(path).method(method, BodyPublishers.ofByteArray(body)).build(),
        BodyHandlers.ofString());
  }

  int port() {
    return listener.address().getPort();
  }

  @Override
  public void close() {
    client.shutdownNow();
    listener.close();
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port() + path))
        .timeout(Duration.ofMinutes(2));
  }
}
