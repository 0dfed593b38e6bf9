package io.throttlekit.service.server;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersEncoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersEncoder;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.function.Predicate;

/**
 * An HTTP/2 connection without automatic replies (RFC 9113 §6): it answers pings only when the test
 * calls for it. A read that takes longer than {@value #TIMEOUT_MILLIS} ms fails. Not thread-safe.
 */
final class RawConnection implements AutoCloseable {
  static final int DATA = 0;
  static final int HEADERS = 1;
  static final int PRIORITY = 2;
  static final int RST_STREAM = 3;
  static final int SETTINGS = 4;
  static final int PING = 6;
  static final int GOAWAY = 7;
  static final int WINDOW_UPDATE = 8;
  static final int CONTINUATION = 9;
  static final int ACK = 1;
  private static final int END_STREAM = 1;
  private static final int END_HEADERS = 4;
  private static final byte CANCEL = 8;
  private static final byte INITIAL_WINDOW_SIZE = 4;
  private static final int MAX_FRAME = 16 << 10;
  private static final int TIMEOUT_MILLIS = 300_000;

  private final Socket socket;
  private final DataInputStream in;
  private final DataOutputStream out;

  /** Connects and sends the preface. */
  RawConnection(GrpcServer server) throws IOException {
    socket = new Socket(InetAddress.getLoopbackAddress(), server.port());
    socket.setSoTimeout(TIMEOUT_MILLIS);
    in = new DataInputStream(socket.getInputStream());
    out = new DataOutputStream(socket.getOutputStream());
    out.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
    send(SETTINGS, 0, 0, new byte[0]);
  }

  /** A frame that the server sent. */
  record Frame(int type, int flags, int stream, ByteBuffer payload) {
    /** Returns whether it is the last of its call. */
    boolean endsCall() {
      return type == HEADERS && (flags & END_STREAM) != 0;
    }

    boolean isPing() {
      return type == PING && (flags & ACK) == 0;
    }

    boolean isAnswerToPing() {
      return type == PING && (flags & ACK) != 0;
    }

    /** Returns the increment of the client's send window. */
    int increment() {
      return payload.getInt(0);
    }

    /** Returns the error code of a RST_STREAM frame. */
    int resetError() {
      return payload.getInt(0);
    }

    /** Returns the error code of a GOAWAY frame. */
    int error() {
      return payload.getInt(Integer.BYTES);
    }
  }

  /** Returns the next matching frame; skips others. */
  Frame await(Predicate<Frame> wanted) throws IOException {
    while (true) {
      int length = in.readUnsignedByte() << 16 | in.readUnsignedShort();
      int type = in.readUnsignedByte();
      int flags = in.readUnsignedByte();
      int stream = in.readInt();
      Frame frame = new Frame(type, flags, stream, ByteBuffer.wrap(in.readNBytes(length)));
      if (wanted.test(frame)) {
        return frame;
      }
    }
  }

  /** Reads until the server closes the connection; fails if it does not. */
  void awaitEnd() throws IOException {
    try {
      await(_ -> false);
    } catch (EOFException | SocketException ended) { // closed, or reset
      return;
    }
  }

  void ping() throws IOException {
    pings(1);
  }

  /** Sends many at once: the server may close the connection after reading some of them. */
  void pings(int count) throws IOException {
    flood(count, PING, 0, 0, new byte[Long.BYTES]);
  }

  /** Sends a frame many times at once: the server may close the connection meanwhile. */
  void flood(int count, int type, int flags, int stream, byte[] payload) throws IOException {
    ByteArrayOutputStream together = new ByteArrayOutputStream();
    for (int i = 0; i < count; i++) {
      together.write(frame(type, flags, stream, payload));
    }
    out.write(together.toByteArray());
  }

  /** Acknowledges the settings of the server. */
  void acknowledgeSettings() throws IOException {
    send(SETTINGS, ACK, 0, new byte[0]);
  }

  void answer(Frame ping) throws IOException {
    send(PING, ACK, 0, ping.payload().array());
  }

  /** Starts a call that does not end by itself. */
  void beginCall() throws IOException {
    beginCall(1, Map.of());
  }

  /**
   * Starts a call on its own stream, 1, 3, 5 …
   *
   * @param further headers
   */
  void beginCall(int stream, Map<String, String> further) throws IOException {
    String method = RateLimitServiceGrpc.getShouldRateLimitMethod().getFullMethodName();
    ByteBuf block = Unpooled.buffer();
    Http2Headers headers =
        new DefaultHttp2Headers()
            .method("POST")
            .scheme("http")
            .path("/" + method)
            .authority("test")
            .set("te", "trailers")
            .set("content-type", "application/grpc");
    further.forEach(headers::set);
    try {
      // A new encoder: its block refers to none before it.
      new DefaultHttp2HeadersEncoder(
              Http2HeadersEncoder.ALWAYS_SENSITIVE, true, 16, Integer.MAX_VALUE)
          .encodeHeaders(stream, headers, block);
    } catch (Http2Exception e) {
      throw new IOException(e);
    }
    int type = HEADERS;
    for (; block.readableBytes() > MAX_FRAME; type = CONTINUATION) {
      send(type, 0, stream, ByteBufUtil.getBytes(block.readSlice(MAX_FRAME)));
    }
    send(type, END_HEADERS, stream, ByteBufUtil.getBytes(block));
  }

  /** Starts a call with headers that do not end. */
  void beginHeaders() throws IOException {
    send(HEADERS, 0, 1, new byte[0]);
  }

  /** Sends a part of the headers of a call, in that many of the longest frames. */
  void beginHeaders(int frames) throws IOException {
    beginHeaders();
    for (int i = 0; i < frames; i++) {
      send(CONTINUATION, 0, 1, new byte[MAX_FRAME]);
    }
  }

  /** Sends the message of a call and ends the stream. */
  void ask(int stream, byte[] message) throws IOException {
    byte[] framed =
        ByteBuffer.allocate(5 + message.length)
            .put((byte) 0)
            .putInt(message.length)
            .put(message)
            .array();
    send(DATA, END_STREAM, stream, framed);
  }

  /** Resets a call. */
  void reset(int stream) throws IOException {
    send(RST_STREAM, 0, stream, new byte[] {0, 0, 0, CANCEL});
  }

  /** Sends part of a message on the first stream. */
  void beginMessage() throws IOException {
    beginMessage(1);
  }

  /** Sends part of a message on that stream. */
  void beginMessage(int stream) throws IOException {
    ByteBuffer message = ByteBuffer.allocate(100).put((byte) 0).putInt(500);
    send(DATA, 0, stream, message.array());
  }

  /** Sets the window to 0, so that the server cannot send answers. */
  void readNoAnswers() throws IOException {
    send(SETTINGS, 0, 0, new byte[] {0, INITIAL_WINDOW_SIZE, 0, 0, 0, 0});
  }

  private void send(int type, int flags, int stream, byte[] payload) throws IOException {
    out.write(frame(type, flags, stream, payload));
  }

  private static byte[] frame(int type, int flags, int stream, byte[] payload) {
    ByteBuffer frame = ByteBuffer.allocate(9 + payload.length);
    frame.put((byte) (payload.length >> 16)).putShort((short) payload.length);
    frame.put((byte) type).put((byte) flags).putInt(stream).put(payload);
    return frame.array();
  }

  /** Closes the connection with a reset, as the kernel does for a process that is killed. */
  void abort() throws IOException {
    socket.setSoLinger(true, 0);
    socket.close();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
