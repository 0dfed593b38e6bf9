package io.throttlekit.service.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.util.JsonFormat;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.throttlekit.TimeSource;
import io.throttlekit.service.Logged;
import io.throttlekit.service.admission.NoPoliciesException;
import io.throttlekit.service.config.HttpConfig;
import io.throttlekit.service.rls.AnswerText;
import io.throttlekit.service.rls.InvalidRequestException;
import io.throttlekit.service.rls.JsonAnswer;
import io.throttlekit.service.rls.RequestFields;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.http.HttpResponse;
import java.util.Arrays;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonRouteTest {
  private static final int MAX_BODY = 2_000;
  static final String VALID =
      """
      {"domain":"x","hits_addend":2,"descriptors":[
        {"entries":[{"key":"ten","value":"j\\u00e9"}],"hits_addend":"3",
         "limit":{"requestsPerUnit":2,"unit":"HOUR"}},
        {"entries":[{"key":"a","value":"b"},{"key":"c","value":""}]}]}
      """;
  private static final JsonAnswer OK = new JsonAnswer(true, "{\"overallCode\":\"OK\"}", null);
  private static final JsonAnswer OVER =
      new JsonAnswer(false, "{\"overallCode\":\"OVER_LIMIT\"}", null);

  private final Queue<String> asked = new ConcurrentLinkedQueue<>();
  private final AtomicInteger failures = new AtomicInteger();
  private final HttpFixture http;

  JsonRouteTest() throws IOException {
    http = new HttpFixture(listener(false));
  }

  @AfterEach
  void close() {
    http.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"POST", "GET", "PUT", "DELETE"})
  void answersAnAdmittedRequestOfAnyMethod(String method) throws Exception {
    HttpResponse<String> answer = http.send(method, "/json", VALID.getBytes(UTF_8));

    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.headers().firstValue("Content-Type")).hasValue("application/json");
    assertThat(answer.body()).isEqualTo(OK.json());
  }

  @Test
  void answers429ToARefusedRequest() throws Exception {
    HttpResponse<String> answer = post("{\"domain\":\"over\"}");

    assertThat(answer.statusCode()).isEqualTo(429);
    assertThat(answer.headers().firstValue("Content-Type")).hasValue("application/json");
    assertThat(answer.body()).isEqualTo(OVER.json());
  }

  @Test
  void readsEveryFieldLikeProtobufsParser() throws Exception {
    post(VALID);
    RateLimitRequest.Builder expected = RateLimitRequest.newBuilder();
    JsonFormat.parser().merge(VALID, expected);

    assertThat(asked).containsExactly(fields(expected));
  }

  @Test
  void rejectsARefundWithItsReasonAlsoAsADropIn() throws Exception {
    String refund = "{\"domain\":\"x\",\"descriptors\":[{\"is_negative_hits\":true}]}";
    String why = "is_negative_hits is not accepted over /json: refunds need http.json_refunds\n";

    HttpResponse<String> answer = post(refund);

    assertThat(answer.statusCode()).isEqualTo(400);
    assertThat(answer.body()).isEqualTo(why);
    assertThat(post(refund.replace("is_negative_hits", "isNegativeHits")).body()).isEqualTo(why);
    try (HttpFixture standingIn = new HttpFixture(listener(true))) {
      assertThat(standingIn.send("POST", "/json", refund.getBytes(UTF_8)).body()).isEqualTo(why);
    }
    assertThat(asked).isEmpty();
    assertThat(failures).as("counted as failures").hasValue(3);
    assertThat(post(refund.replace("true", "false")).statusCode()).isEqualTo(200);
  }

  @Test
  void readsARefundIfConfigured() throws Exception {
    try (HttpFixture refunding = new HttpFixture(listener(false, true))) {
      refunding.send(
          "POST",
          "/json",
          "{\"domain\":\"x\",\"descriptors\":[{\"is_negative_hits\":true}]}".getBytes(UTF_8));
    }
    assertThat(asked.element()).endsWith("refund");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "}",
        "null",
        "[]",
        "\"x\"",
        "{\"foo\":1}",
        "{\"foo\":null}",
        "{'domain':'x'}",
        "{domain:\"x\"}",
        "{\"domain\":\"x\"} {}",
        "{\"domain\":\"x\",}",
        "{\"domain\":\"x\"}// done",
        "{\"domain\":5}",
        "{\"domain\":\"x\",\"domain\":\"y\"}",
        "{\"domain\":\"\\ud800\"}",
        "{\"domain\":\"x\",\"hitsAddend\":1,\"hits_addend\":1}",
        "{\"domain\":\"x\",\"hitsAddend\":-1}",
        "{\"domain\":\"x\",\"hitsAddend\":1.5}",
        "{\"domain\":\"x\",\"hitsAddend\":4294967296}",
        "{\"domain\":\"x\",\"hitsAddend\":1e9999999}",
        "{\"domain\":\"x\",\"hitsAddend\":1e999999999}", // as a whole number: 400 MB
        "{\"domain\":\"x\",\"hitsAddend\":NaN}",
        "{\"domain\":\"x\",\"hitsAddend\":\" 1\"}",
        "{\"domain\":\"x\",\"hitsAddend\":true}",
        "{\"domain\":\"x\",\"descriptors\":{}}",
        "{\"domain\":\"x\",\"descriptors\":[null]}",
        "{\"domain\":\"x\",\"descriptors\":[{\"limit\":{\"unit\":\"FORTNIGHT\"}}]}",
        "{\"domain\":\"x\",\"descriptors\":[{\"limit\":{\"unit\":\"2\"}}]}",
        "{\"domain\":\"x\",\"descriptors\":[{\"hitsAddend\":18446744073709551616}]}",
        "\uFEFF{\"domain\":\"x\"}",
        "{\"domain\":\"invalid\"}",
      })
  void answers400ToAnInvalidRequestWithAReasonUnlessADropIn(String body) throws Exception {
    HttpResponse<String> answer = post(body);

    assertThat(answer.statusCode()).isEqualTo(400);
    assertThat(answer.headers().firstValue("Content-Type")).hasValue("text/plain; charset=utf-8");
    assertThat(answer.body())
        .isNotEqualTo("Bad Request\n")
        .matches("\\P{Cntrl}{5,}\n")
        .doesNotContain("Exception");
    try (HttpFixture standingIn = new HttpFixture(listener(true))) {
      HttpResponse<String> same = standingIn.send("POST", "/json", body.getBytes(UTF_8));
      assertThat(same.statusCode()).isEqualTo(400);
      assertThat(same.body()).isEqualTo("Bad Request\n");
    }
  }

  @Test
  void anInvalidRequestIsAnsweredWithTheViolatedRule() throws Exception {
    assertThat(post("{\"domain\":\"invalid\"}").body())
        .isEqualTo("rate limit domain must not be empty\n");
    assertThat(post("{\"a\\r\\nb\":1}").body()).isEqualTo("unknown field a b\n");
  }

  @Test
  void answers400ToTextThatIsNotUtf8() throws Exception {
    byte[] body = "{\"domain\":\"x?\"}".getBytes(UTF_8);
    body[12] = (byte) 0xff;

    assertThat(http.send("POST", "/json", body).statusCode()).isEqualTo(400);
  }

  @Test
  void rejectsABodyBeyondTheLimitUnread() throws Exception {
    assertThat(post(" ".repeat(MAX_BODY - 14) + "{\"domain\":\"x\"}").statusCode()).isEqualTo(200);
    assertThat(post(" ".repeat(MAX_BODY - 13) + "{\"domain\":\"x\"}").statusCode()).isEqualTo(413);
    assertThat(failures.get()).as("counted by the front end").isEqualTo(1);
  }

  @Test
  void malformedChunksAreA400() throws Exception {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), http.port())) {
      String head = "POST /json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
      String request = head + "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n";
      socket.getOutputStream().write(request.getBytes(UTF_8));
      assertThat(new String(socket.getInputStream().readAllBytes(), UTF_8))
          .startsWith("HTTP/1.1 400 ");
    }
    assertThat(failures.get()).isEqualTo(1);
  }

  @Test
  void anOutageIs503() throws Exception {
    assertThat(post("{\"domain\":\"outage\"}").statusCode()).isEqualTo(503);
  }

  @Test
  void anOutageIs400AsADropIn() throws Exception {
    try (HttpFixture compatible = new HttpFixture(listener(true))) {
      HttpResponse<String> answer =
          compatible.send("POST", "/json", "{\"domain\":\"outage\"}".getBytes(UTF_8));

      assertThat(answer.statusCode()).isEqualTo(400);
      assertThat(answer.body()).isEqualTo("Bad Request\n");
    }
  }

  @Test
  void repeatedInternalErrorsAre500AndLoggedOnce() throws Exception {
    try (Logged logged = Logged.by(HttpListener.class)) {
      assertThat(post("{\"domain\":\"bug\"}").statusCode()).isEqualTo(500);
      assertThat(post("{\"domain\":\"broken\"}").statusCode()).isEqualTo(500);
      assertThat(logged.lines()).containsExactly("SEVERE /json failed");
    }
    assertThat(post("{\"domain\":\"x\"}").statusCode()).isEqualTo(200);
  }

  @Test
  void deepNestingIsA400() throws Exception {
    assertThat(post("[".repeat(MAX_BODY)).statusCode()).isEqualTo(400);
    assertThat(post("{\"domain\":" + "[".repeat(MAX_BODY - 20)).statusCode()).isEqualTo(400);
  }

  @Tag("slow")
  @Test
  void tenThousandMutatedBodiesOfSeed7AreReadCorrectlyOrRejected() throws Exception {
    RandomGenerator random = new SplittableRandom(7);
    int accepted = 0;
    for (int i = 0; i < 10_000; i++) {
      byte[] body = mutated(VALID.strip().getBytes(UTF_8), random);
      asked.clear();
      int status = http.send("POST", "/json", body).statusCode();
      assertThat(status).as(() -> new String(body, UTF_8)).isIn(200, 429, 400, 413);
      if (status == 200 || status == 429) {
        accepted++;
        RateLimitRequest.Builder expected = RateLimitRequest.newBuilder();
        JsonFormat.parser().merge(new String(body, UTF_8), expected); // throws when it is invalid
        assertThat(asked).containsExactly(fields(expected));
      }
    }
    assertThat(accepted).isBetween(100, 9_000);
    assertThat(post(VALID).statusCode()).isEqualTo(200);
  }

  @Test
  void everyTruncatedRequestIsA400() throws Exception {
    byte[] body = VALID.strip().getBytes(UTF_8);
    for (int length = 0; length < body.length; length++) {
      int status = http.send("POST", "/json", Arrays.copyOf(body, length)).statusCode();
      assertThat(status).isEqualTo(400);
    }
  }

  @Test
  void aRequestThatNeverEndsIsDisconnected() throws Exception {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), http.port())) {
      socket.setSoTimeout(300_000);
      OutputStream out = socket.getOutputStream();
      out.write(
          "POST /json HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{".getBytes(UTF_8));
      out.flush();
      assertThat(socket.getInputStream().readAllBytes()).isEmpty();
    }
    assertThat(post(VALID).statusCode()).isEqualTo(200);
  }

  @Test
  void theServerSurvivesMalformedHttpOfSeed11() throws Exception {
    RandomGenerator random = new SplittableRandom(11);
    byte[] valid =
        "POST /json HTTP/1.1\r\nHost: localhost\r\nContent-Length: 14\r\n\r\n{\"domain\":\"x\"}"
            .getBytes(UTF_8);
    for (int i = 0; i < 300; i++) {
      try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), http.port())) {
        socket.setSoTimeout(300_000);
        socket.getOutputStream().write(mutated(valid, random));
        socket.shutdownOutput();
        InputStream answer = socket.getInputStream();
        answer.read();
      } catch (IOException closed) {
        assertThat(closed).isNotInstanceOf(SocketTimeoutException.class);
      }
    }
    assertThat(post(VALID).statusCode()).isEqualTo(200);
  }

  private HttpListener listener(boolean standsIn) throws IOException {
    return listener(standsIn, false);
  }

  private HttpListener listener(boolean standsIn, boolean refunds) throws IOException {
    HttpConfig config = new HttpConfig("127.0.0.1", 0, true, refunds, 64);
    return new HttpServers(TimeSource.system(), null)
        .service(config, this::decide, MAX_BODY, standsIn, new SetProbes());
  }

  private JsonAnswer decide(Callable<RequestFields> body) throws Exception {
    RequestFields request;
    try {
      request = body.call();
    } catch (Exception e) {
      failures.incrementAndGet();
      throw e;
    }
    asked.add(request.toString());
    return switch (request.domain()) {
      case "over" -> OVER;
      case "invalid" -> throw new InvalidRequestException("rate limit domain must not be empty");
      case "outage" -> throw new NoPoliciesException();
      case "broken" -> throw new LinkageError("broken");
      case "bug" -> throw new IllegalStateException("bug");
      default -> OK;
    };
  }

  private static String fields(RateLimitRequest.Builder expected) {
    return AnswerText.fields(expected.build()).toString();
  }

  private HttpResponse<String> post(String body) throws IOException, InterruptedException {
    return http.send("POST", "/json", body.getBytes(UTF_8));
  }

  /** Returns the body with one to three changes of a byte or a few. */
  static byte[] mutated(byte[] valid, RandomGenerator random) {
    byte[] structural = "{}[]:,\"\\0e-.n".getBytes(UTF_8);
    byte[] body = valid.clone();
    for (int i = 1 + random.nextInt(3); i > 0 && body.length > 1; i--) {
      int at = random.nextInt(body.length);
      switch (random.nextInt(4)) {
        case 0 -> body[at] = (byte) random.nextInt(256);
        case 1 -> body[at] = structural[random.nextInt(structural.length)];
        case 2 -> { // deletes a byte
          byte[] shorter = Arrays.copyOf(body, body.length - 1);
          System.arraycopy(body, at + 1, shorter, at, shorter.length - at);
          body = shorter;
        }
        default -> { // repeats a range
          int end = Math.min(body.length, at + 1 + random.nextInt(20));
          byte[] longer = new byte[body.length + end - at];
          System.arraycopy(body, 0, longer, 0, end);
          System.arraycopy(body, at, longer, end, body.length - at);
          body = longer;
        }
      }
    }
    return body;
  }
}
