package io.throttlekit.service.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Attributes;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerStreamTracer.ServerCallInfo;
import io.grpc.Status;
import io.grpc.health.v1.HealthGrpc;
import io.throttlekit.TimeSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class HeldCallTest {
  private final ClientConnection connection =
      new ClientConnection(
          new HeldByClients(
              1, 1_000, TimeSource.system(), new ClosedConnections(TimeSource.system())));

  @Test
  void aRequestIsHeldUntilItIsCompleteAndAnAnswerUntilItIsSent() {
    HeldCall call = begin(HealthGrpc.getCheckMethod());
    assertThat(held()).isBetween(4_000L, 5_000L);
    call.inboundWireSize(200_000);
    call.inboundMessageRead(0, 200_000, 200_000);
    assertThat(held()).as("the request is not complete yet").isGreaterThan(200_000);
    call.requestIsComplete();
    assertThat(held()).isZero();
    assertThat(connection.decidingBytes()).isEqualTo(200_000);
    call.isAnswered();
    call.outboundWireSize(50_000);
    assertThat(held()).isBetween(54_000L, 60_000L);
    assertThat(connection.decidingBytes()).isZero();
    call.streamClosed(Status.OK);
    call.streamClosed(Status.OK);
    assertThat(held()).isZero();
    assertThat(connection.needsLook()).isFalse();
  }

  @Test
  void aCompressedRequestIsHeldWhileItIsDecompressed() {
    HeldCall call = begin(HealthGrpc.getCheckMethod());
    call.inboundWireSize(300);
    call.inboundMessageRead(0, 300, -1);
    call.inboundUncompressedSize(100_000);
    call.inboundUncompressedSize(100_000);
    assertThat(held()).as("the request is not complete yet").isGreaterThan(200_000);
    call.requestIsComplete();
    connection.look();
    assertThat(connection.decidingBytes()).isEqualTo(200_000);
  }

  @Test
  void aStreamIsHeldWhileAMessageIsIncomplete() {
    HeldCall stream = begin(HealthGrpc.getWatchMethod());
    assertThat(held()).isZero();
    assertThat(connection.needsLook()).isFalse();
    stream.inboundWireSize(10);
    assertThat(held()).as("with its read buffer").isEqualTo(64 << 10);
    stream.inboundMessageRead(0, 10, 10);
    assertThat(held()).isZero();
  }

  @Test
  void longHeadersCount() {
    HeldCall plain = begin(HealthGrpc.getCheckMethod());
    long before = held();
    Metadata headers = new Metadata();
    headers.put(Metadata.Key.of("x", Metadata.ASCII_STRING_MARSHALLER), "x".repeat(8_000));
    plain.streamClosed(Status.OK);
    connection.begun(new HeldCall(connection, headers, 0));
    assertThat(held()).isEqualTo(before + 8_001);
  }

  @Test
  void bytesHeldAtASingleSampleDoNotCountAgainstTheirConnection() {
    HeldCall first = begin(HealthGrpc.getCheckMethod());
    long held = held();
    assertThat(connection.byteLooks()).isZero();
    HeldCall second = begin(HealthGrpc.getCheckMethod());
    connection.look();
    assertThat(connection.byteLooks()).isEqualTo(held);
    connection.look();
    assertThat(connection.byteLooks()).isEqualTo(3 * held);
    first.streamClosed(Status.CANCELLED);
    second.requestIsComplete();
    connection.look();
    assertThat(connection.byteLooks()).isZero();
  }

  private long held() {
    connection.look();
    return connection.heldBytes();
  }

  private HeldCall begin(MethodDescriptor<?, ?> method) {
    HeldCall call = new HeldCall(connection, new Metadata(), 0);
    connection.begun(call);
    call.serverCallStarted(new Info(method));
    return call;
  }

  private static final class Info extends ServerCallInfo<Object, Object> {
    private final MethodDescriptor<?, ?> method;

    Info(MethodDescriptor<?, ?> method) {
      this.method = method;
    }

    @Override
    @SuppressWarnings("unchecked") // nothing is marshalled
    public MethodDescriptor<Object, Object> getMethodDescriptor() {
      return (MethodDescriptor<Object, Object>) method;
    }

    @Override
    public Attributes getAttributes() {
      return Attributes.EMPTY;
    }

    @Override
    public @Nullable String getAuthority() {
      return null;
    }
  }
}
