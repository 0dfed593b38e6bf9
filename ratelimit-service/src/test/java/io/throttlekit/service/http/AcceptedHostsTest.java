package io.throttlekit.service.http;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import io.throttlekit.TimeSource;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A page whose name leads to loopback must not read a port on loopback (DNS rebinding). */
class AcceptedHostsTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "localhost",
        "localhost:6070",
        "LOCALHOST.:1",
        "127.0.0.1",
        "127.255.0.9:80",
        "[::1]",
        "[::1]:6070",
        "[0:0:0:0:0:0:0:1]",
        "[::ffff:127.0.0.1]",
        ""
      })
  void onLoopbackNamesOfLoopbackAreAnswered(String host) throws Exception {
    assertThat(status("127.0.0.1", "GET / HTTP/1.1", "Host: " + host)).isEqualTo(200);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "evil.example",
        "evil.example:6070",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "127.1",
        "128.0.0.1",
        "0.0.0.0",
        "[::]",
        "[::2]:1",
        "[::1]x",
        "[::1",
        "localhost, evil.example",
        "evil.example@localhost"
      })
  void onLoopbackOtherNamesAreRefused(String host) throws Exception {
    assertThat(status("127.0.0.1", "GET / HTTP/1.1", "Host: " + host)).isEqualTo(421);
    assertThat(status("0.0.0.0", "GET / HTTP/1.1", "Host: " + host)).isEqualTo(200);
  }

  @Test
  void everyNameOfARequestCounts() throws Exception {
    String evil = "Host: evil.example";
    assertThat(status("127.0.0.1", "GET / HTTP/1.1", "Host: localhost\r\n" + evil)).isEqualTo(421);
    assertThat(status("127.0.0.1", "GET http://evil.example/ HTTP/1.1", "Host: localhost"))
        .isEqualTo(421);
    assertThat(status("127.0.0.1", "GET http://u@localhost:1/ HTTP/1.1", "Host: localhost"))
        .isEqualTo(200);
    assertThat(status("127.0.0.1", "POST / HTTP/1.1", evil + "\r\nContent-Length: 10"))
        .isEqualTo(421);
  }

  /** Scripts and old clients send none; browsers always do. */
  @Test
  void aRequestWithoutAHostIsAnswered() throws Exception {
    assertThat(status("127.0.0.1", "GET / HTTP/1.0", "Accept: */*")).isEqualTo(200);
    assertThat(status("127.0.0.1", "GET / HTTP/1.1", "Accept: */*")).isEqualTo(200);
  }

  @Test
  void theConfiguredNameIsAnswered() throws Exception {
    InetAddress loopback = InetAddress.getLoopbackAddress();
    assertThat(new AcceptedHosts("My-Alias").accept(request("my-alias:1"))).isTrue();
    assertThat(AcceptedHosts.of("My-Alias", loopback).accept(request("other"))).isFalse();
  }

  private static HttpRequest request(String host) {
    var request = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/");
    request.headers().set("host", host);
    return request;
  }

  /** Returns the status of a request to a listener that is bound to {@code address}. */
  private static int status(String address, String line, String headers) throws IOException {
    Route route = _ -> Reply.text(200, "page");
    try (HttpListener listener =
        new HttpListener(
            address, 0, HttpBounds.of(10, 0), TimeSource.system(), Map.of("/", route))) {
      listener.start();
      try (Socket socket =
          new Socket(InetAddress.getLoopbackAddress(), listener.address().getPort())) {
        socket
            .getOutputStream()
            .write((line + "\r\n" + headers + "\r\nConnection: close\r\n\r\n").getBytes(US_ASCII));
        String answer = new String(socket.getInputStream().readAllBytes(), US_ASCII);
        return Integer.parseInt(answer.substring(9, 12));
      }
    }
  }
}
