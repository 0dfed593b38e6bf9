package io.throttlekit.service.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.throttlekit.TimeSource;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class HttpListenerTest {
  private final AtomicInteger lost = new AtomicInteger();
  private final CountDownLatch asked = new CountDownLatch(1);
  private final CountDownLatch answering = new CountDownLatch(1);

  @Test
  void anAnswerIsReportedAsLostIfItsCallerHasDisconnected() throws Exception {
    try (HttpListener listener = listener()) {
      listener.start();
      try (Socket client =
          new Socket(InetAddress.getLoopbackAddress(), listener.address().getPort())) {
        client.setSoLinger(true, 0); // close sends a reset at once
        client
            .getOutputStream()
            .write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        assertThat(asked.await(5, TimeUnit.MINUTES)).isTrue();
      }
      answering.countDown();
      await().until(() -> lost.get() == 1);
    }
  }

  @Test
  void aDeliveredAnswerIsNotReportedAsLost() throws Exception {
    answering.countDown();
    try (HttpFixture http = new HttpFixture(listener())) {
      assertThat(http.get("/").body()).isEqualTo("answer");
    }
    assertThat(lost).hasValue(0);
  }

  @Test
  void anAnswerToAHeadRequestIsReportedAsLost() throws Exception {
    answering.countDown();
    try (HttpFixture http = new HttpFixture(listener())) {
      assertThat(http.send("HEAD", "/", new byte[0]).statusCode()).isEqualTo(200);
      await().until(() -> lost.get() == 1);
    }
  }

  private HttpListener listener() throws Exception {
    return new HttpListener(
        "127.0.0.1", 0, HttpBounds.of(10, 0), TimeSource.system(), Map.of("/", _ -> answer()));
  }

  private Reply answer() {
    asked.countDown();
    try {
      assertThat(answering.await(5, TimeUnit.MINUTES)).isTrue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return Reply.text(200, "answer").orElse(lost::incrementAndGet);
  }
}
