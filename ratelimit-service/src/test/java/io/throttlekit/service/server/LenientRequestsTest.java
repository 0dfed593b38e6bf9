package io.throttlekit.service.server;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import io.envoyproxy.envoy.service.accesslog.v3.AccessLogServiceGrpc;
import io.envoyproxy.envoy.service.accesslog.v3.StreamAccessLogsMessage;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import io.opentelemetry.api.OpenTelemetry;
import io.throttlekit.TimeSource;
import io.throttlekit.service.Logged;
import io.throttlekit.service.concurrency.sensors.AccessLogs;
import io.throttlekit.service.concurrency.sensors.Recorded;
import io.throttlekit.service.telemetry.AccessLogMetrics;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Over a real connection: a bad message ends its own call at most, and leaves no trace. */
class LenientRequestsTest {
  private final Recorded recorded = new Recorded();
  private final GrpcServer server =
      GrpcServer.ofStreams(
          Setup.loopback(),
          List.of(
              new AccessLogs(
                      recorded,
                      new AccessLogMetrics(OpenTelemetry.noop().getMeter("test"), () -> true),
                      TimeSource.system(),
                      1_000)
                  .bindService()),
          10);
  private final ManagedChannel channel;

  LenientRequestsTest() {
    server.start();
    channel = Channels.to(server);
  }

  @AfterEach
  void stop() {
    channel.shutdownNow();
    server.stop();
  }

  /** In a header, a tag, the name and the value of an entry of the metadata. */
  @Test
  void anEntryWithBytesThatAreNotUtf8IsAnEntryLikeOthers() {
    StreamAccessLogsMessage.Builder message = StreamAccessLogsMessage.newBuilder();
    message.getIdentifierBuilder().getNodeBuilder().setId("edge");
    message.getHttpLogsBuilder().addLogEntryBuilder().getRequestBuilder().setRequestId("????");
    var common = message.getHttpLogsBuilder().addLogEntryBuilder().getCommonPropertiesBuilder();
    common.putCustomTags("????", "????");
    common
        .getMetadataBuilder()
        .putFilterMetadata(
            "envoy.filters.http.ratelimit",
            Struct.newBuilder()
                .putFields("????", Value.newBuilder().setStringValue("????").build())
                .putFields("lease", Value.newBuilder().setStringValue("a-permit").build())
                .build());
    String bytes = new String(message.build().toByteArray(), ISO_8859_1);
    CompletableFuture<Status> end = new CompletableFuture<>();
    StreamObserver<byte[]> stream = open(end);

    stream.onNext(bytes.replace("????", "a\u00ff\u00e2\u0082").getBytes(ISO_8859_1));
    stream.onNext(bytes.getBytes(ISO_8859_1));
    stream.onCompleted();

    assertThat(end.join()).isEqualTo(Status.OK);
    assertThat(recorded.readings())
        .as("the second copy with the same permit is dropped")
        .hasSize(3);
    assertThat(recorded.readings().get(1).permits()).containsExactly("a-permit");
    assertThat(recorded.ended).allMatch(ended -> ended.node().equals("edge"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"ff", "0a05", "4c", "0affffffff7f"})
  void bytesThatAreNoMessageEndTheirOwnStreamAndLeaveNoTrace(String hex) {
    CompletableFuture<Status> end = new CompletableFuture<>();
    CompletableFuture<Status> otherEnd = new CompletableFuture<>();
    StreamAccessLogsMessage.Builder message = StreamAccessLogsMessage.newBuilder();
    message.getIdentifierBuilder().getNodeBuilder().setId("edge");
    message.getHttpLogsBuilder().addLogEntryBuilder();
    byte[] good = message.build().toByteArray();
    try (Logged logged = Logged.by("")) {
      StreamObserver<byte[]> other = open(otherEnd);
      other.onNext(good);
      await().until(() -> recorded.ended.size() == 1);
      StreamObserver<byte[]> stream = open(end);
      stream.onNext(HexFormat.of().parseHex(hex));
      stream.onNext(good);
      assertThat(end.join().getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
      assertThat(end.join().getDescription())
          .isEqualTo("the message is not a valid protobuf message");
      other.onNext(good);
      other.onCompleted();
      assertThat(otherEnd.join()).isEqualTo(Status.OK);
      assertThat(recorded.ended).hasSize(2);
      assertThat(logged.linesWithCauses()).isEmpty();
    }
  }

  /** Of a client of the port of decisions itself: Envoy asks for names of its configuration. */
  @Test
  void aMalformedHealthCheckIsAnInvalidArgumentAndLeavesNoTrace() {
    Setup setup = new Setup(Book.X, Setup.NATIVE, Setup.BARE);
    GrpcServer decisions = setup.serve(Setup.loopback());
    ManagedChannel client = Channels.to(decisions);
    try (Logged logged = Logged.by("")) {
      assertThat(check(client, "0a05").getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
      assertThat(check(client, "0a01ff").getCode()).isEqualTo(Status.Code.NOT_FOUND);
      assertThat(logged.linesWithCauses()).isEmpty();
    } finally {
      client.shutdownNow();
      decisions.stop();
    }
  }

  private static Status check(ManagedChannel client, String hex) {
    CompletableFuture<Status> end = new CompletableFuture<>();
    ClientCalls.asyncUnaryCall(
        client.newCall(ofBytes(HealthGrpc.getCheckMethod()), CallOptions.DEFAULT),
        HexFormat.of().parseHex(hex),
        new Ending<>(end));
    return end.join();
  }

  private StreamObserver<byte[]> open(CompletableFuture<Status> end) {
    ClientCall<byte[], ?> call =
        channel.newCall(
            ofBytes(AccessLogServiceGrpc.getStreamAccessLogsMethod()), CallOptions.DEFAULT);
    return open(call, end);
  }

  private static <A> StreamObserver<byte[]> open(
      ClientCall<byte[], A> call, CompletableFuture<Status> end) {
    return ClientCalls.asyncClientStreamingCall(call, new Ending<>(end));
  }

  private static <A> MethodDescriptor<byte[], A> ofBytes(MethodDescriptor<?, A> method) {
    return method.toBuilder(new Bytes(), method.getResponseMarshaller()).build();
  }

  private static final class Bytes implements MethodDescriptor.Marshaller<byte[]> {
    @Override
    public InputStream stream(byte[] bytes) {
      return new ByteArrayInputStream(bytes);
    }

    @Override
    public byte[] parse(InputStream stream) {
      try {
        return stream.readAllBytes();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** Completes with the status of a call. */
  private record Ending<A>(CompletableFuture<Status> end) implements StreamObserver<A> {
    @Override
    public void onNext(A answer) {}

    @Override
    public void onError(Throwable cause) {
      end.complete(Status.fromThrowable(cause));
    }

    @Override
    public void onCompleted() {
      end.complete(Status.OK);
    }
  }
}
