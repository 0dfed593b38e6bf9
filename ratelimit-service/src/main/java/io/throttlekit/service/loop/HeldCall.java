package io.throttlekit.service.loop;

import io.grpc.InternalMetadata;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerStreamTracer;
import io.grpc.Status;
import io.netty.handler.codec.http2.Http2Exception;
import io.throttlekit.TimeSource;
import org.jspecify.annotations.Nullable;

/**
 * One call as its connection sees it: when it arrived, the memory that it takes, and whether its
 * client causes that: a client that has not sent its whole request, or does not read its answer.
 *
 * <p>Its phases are, in this order, an incomplete request, a decision, and an answer that is not
 * yet sent. A call of a streaming method is held by its client only while a message is incomplete,
 * and for headers that are longer than usual. Confined to the event loop of its connection, except
 * the phase and the length of the answer, which any thread may set.
 */
public final class HeldCall extends ServerStreamTracer {
  /** The objects of a call, without its headers and messages. */
  private static final int CALL_BYTES = 4 << 10;

  /** Upper bound of the memory that a received byte retains: the buffer it was read into. */
  private static final int RECEIVE_BUFFER = 64 << 10;

  /** Minimum size of an answer: grpc-java's smallest buffer. */
  private static final int SEND_BUFFER = 4 << 10;

  private enum Phase {
    REQUEST,
    DECISION,
    ANSWER
  }

  private final @Nullable ClientConnection connection;
  private final Metadata headers;
  private final long arrivedNanos;
  private boolean lasting;
  private boolean counted;
  private long receivedBytes;

  /** Of its headers, which do not change; 0 until first needed. */
  private long headerBytes;

  /** Of its message, decompressed. */
  private long messageBytes;

  private volatile long sentBytes;
  private volatile Phase phase = Phase.REQUEST;

  /** Number of consecutive checks at which its client held it. */
  private int looks;

  // The list of the open calls of its connection.
  @Nullable HeldCall before;
  @Nullable HeldCall after;

  HeldCall(@Nullable ClientConnection connection, Metadata headers, long arrivedNanos) {
    this.connection = connection;
    this.headers = headers;
    this.arrivedNanos = arrivedNanos;
  }

  /**
   * Returns the call that the current thread started last for the bytes it is reading; where there
   * is none, a call without a connection.
   *
   * @param time the same clock as that of the event loops
   */
  public static HeldCall begun(TimeSource time) {
    if (!(Thread.currentThread() instanceof LoopThread loop)) {
      return new HeldCall(null, new Metadata(), time.monotonicNanos());
    }
    HeldCall begun = loop.begun;
    return begun != null
        ? begun
        : new HeldCall(null, new Metadata(), LoopThread.arrivedNanos(time));
  }

  /** Returns the earliest time at which it can have arrived, in monotonic ns. */
  public long arrivedNanos() {
    return arrivedNanos;
  }

  /** Marks the request as complete: its client does not hold the call until it is answered. */
  public void requestIsComplete() {
    phase = Phase.DECISION;
  }

  /** Marks the call as answered; the client has to read the answer. */
  public void isAnswered() {
    phase = Phase.ANSWER;
  }

  @Override
  public void serverCallStarted(ServerCallInfo<?, ?> call) {
    lasting = call.getMethodDescriptor().getType() != MethodType.UNARY;
    if (!lasting && connection != null) {
      counted = true;
      connection.counts(1);
    }
  }

  @Override
  public void inboundWireSize(long bytes) {
    receivedBytes += bytes;
  }

  /** Runs while a message is read: decompression may enlarge it a thousand times. */
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
    sentBytes = bytes; // a unary call has one answer
  }

  @Override
  public void streamClosed(Status status) {
    if (connection != null) {
      if (status.getCause() instanceof Http2Exception) {
        connection.callFailed();
      }
      connection.ended(this);
      if (counted) {
        counted = false;
        connection.counts(-1);
      }
    }
  }

  /** Returns whether the call ends soon without action of the client. */
  boolean passes() {
    return !lasting;
  }

  /** Returns the bytes that the client holds, and counts the check. */
  long look() {
    long held = held();
    looks = held == 0 ? 0 : looks + 1;
    return held;
  }

  /** Returns at how many consecutive checks the call was held. */
  int looks() {
    return looks;
  }

  /** Returns the size of its message and headers while it is being decided. */
  long decidingBytes() {
    return !lasting && phase == Phase.DECISION ? headerBytes() + requestBytes() : 0;
  }

  private long held() {
    long request = requestBytes() == 0 ? 0 : Math.max(requestBytes(), RECEIVE_BUFFER);
    if (lasting) {
      return request + Math.max(0, headerBytes() - CALL_BYTES);
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

  /** Returns the bytes of its headers, without overhead. */
  long headerBytes() {
    if (headerBytes == 0) {
      for (byte[] text : InternalMetadata.serialize(headers)) {
        headerBytes += text == null ? 0 : text.length;
      }
    }
    return headerBytes;
  }
}
