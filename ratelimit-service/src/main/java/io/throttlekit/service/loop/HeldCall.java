package io.throttlekit.service.loop;

import io.grpc.InternalMetadata;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerStreamTracer;
import io.grpc.Status;
import org.jspecify.annotations.Nullable;

/**
 * What one call keeps in memory, and whether it does so because of its client: one that has not
 * sent its whole request, or does not read its answer.
 *
 * <p>Its phases are, in this order, a request that is incomplete, a decision, and an answer that
 * has not been sent. A call of a streaming method is held by its client only while a message is
 * incomplete. Confined to the event loop of its connection, but for the phase and the length of the
 * answer, which any thread may set.
 */
public final class HeldCall extends ServerStreamTracer {
  /** The objects of a call, without its headers and messages. */
  private static final int CALL_BYTES = 4 << 10;

  /** What a byte that has arrived keeps, at most: the buffer that was read with it. */
  private static final int RECEIVE_BUFFER = 64 << 10;

  /** What an answer takes at least: grpc-java's smallest buffer. */
  private static final int SEND_BUFFER = 4 << 10;

  private enum Phase {
    REQUEST,
    DECISION,
    ANSWER
  }

  private final @Nullable ClientConnection connection;
  private final Metadata headers;
  private boolean lasting;
  private long receivedBytes;

  /** Of its headers, which do not change; 0 until they are needed. */
  private long headerBytes;

  /** Of its message, decompressed. */
  private long messageBytes;

  private volatile long sentBytes;
  private volatile Phase phase = Phase.REQUEST;

  /** In a row, at which its client held it. */
  private int looks;

  // The list of the open calls of its connection.
  @Nullable HeldCall before;
  @Nullable HeldCall after;

  HeldCall(@Nullable ClientConnection connection, Metadata headers) {
    this.connection = connection;
    this.headers = headers;
  }

  /**
   * The call that the current thread has begun last for the bytes that it reads; elsewhere one of
   * no connection.
   */
  public static HeldCall begun() {
    HeldCall begun = Thread.currentThread() instanceof LoopThread loop ? loop.begun() : null;
    return begun == null ? new HeldCall(null, new Metadata()) : begun;
  }

  /** The request is complete: until it is answered, the call is not held by its client. */
  public void requestIsComplete() {
    phase = Phase.DECISION;
  }

  /** There is an answer, which the client has to read. */
  public void isAnswered() {
    phase = Phase.ANSWER;
  }

  @Override
  public void serverCallStarted(ServerCallInfo<?, ?> call) {
    lasting = call.getMethodDescriptor().getType() != MethodType.UNARY;
  }

  @Override
  public void inboundWireSize(long bytes) {
    receivedBytes += bytes;
  }

  /** Told while a message is read: one that is compressed may become a thousand times as long. */
  @Override
  public void inboundUncompressedSize(long bytes) {
    if (!lasting) {
      messageBytes += bytes;
    }
  }

  @Override
  public void inboundMessageRead(int number, long wireSize, long uncompressedSize) {
    if (lasting) {
      receivedBytes = 0;
    }
  }

  @Override
  public void outboundWireSize(long bytes) {
    sentBytes = bytes; // a call that is not streaming has one answer
  }

  @Override
  public void streamClosed(Status status) {
    if (connection != null) {
      connection.ended(this);
    }
  }

  /** Whether it ends by itself, and soon. */
  boolean passes() {
    return !lasting;
  }

  /** Returns what the client holds, in bytes, and notes that it was looked at. */
  long look() {
    long held = held();
    looks = held == 0 ? 0 : looks + 1;
    return held;
  }

  /** How often in a row it was held when it was looked at. */
  int looks() {
    return looks;
  }

  /** What the message takes that is being decided. */
  long decidingBytes() {
    return !lasting && phase == Phase.DECISION ? requestBytes() : 0;
  }

  private long held() {
    long request = requestBytes() == 0 ? 0 : Math.max(requestBytes(), RECEIVE_BUFFER);
    if (lasting) {
      return request;
    }
    return switch (phase) {
      case REQUEST -> CALL_BYTES + headerBytes() + request;
      case DECISION -> 0;
      case ANSWER -> CALL_BYTES + headerBytes() + Math.max(sentBytes, SEND_BUFFER);
    };
  }

  private long requestBytes() {
    return Math.max(receivedBytes, messageBytes);
  }

  private long headerBytes() {
    if (headerBytes == 0) {
      for (byte[] text : InternalMetadata.serialize(headers)) {
        headerBytes += text == null ? 0 : text.length;
      }
    }
    return headerBytes;
  }
}
