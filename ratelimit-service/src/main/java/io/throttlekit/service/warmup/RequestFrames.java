package io.throttlekit.service.warmup;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * The HTTP/2 frames of one unary gRPC request, ready but for the number of its stream.
 *
 * <p>Headers are literals without an index (RFC 7541 §6.2.2), so that the frames of one request do
 * not depend on those before it. Immutable.
 */
final class RequestFrames {
  private static final int HEAD = 9;
  private static final int PREFIX = 5; // of a gRPC message: compressed or not, and its length
  private static final byte DATA = 0;
  private static final byte HEADERS = 1;
  private static final byte SETTINGS = 4;
  private static final byte WINDOW_UPDATE = 8;
  private static final byte END_STREAM = 1;
  private static final byte END_HEADERS = 4;
  private static final byte METHOD_POST = (byte) 0x83; // places in HPACK's static table
  private static final byte SCHEME_HTTP = (byte) 0x86;
  private static final int NEVER_FULL = Integer.MAX_VALUE - 65_535;

  private final byte[] headers;
  private final byte[] message;

  private RequestFrames(byte[] headers, byte[] message) {
    this.headers = headers;
    this.message = message;
  }

  /**
   * A call of {@code method} with one message.
   *
   * @param method {@code package.Service/Method}
   */
  static RequestFrames of(String method, byte[] message) {
    ByteBuffer block = ByteBuffer.allocate(256 + method.length());
    block.put(METHOD_POST).put(SCHEME_HTTP);
    literal(block, ":path", "/" + method);
    literal(block, ":authority", "warm-up");
    literal(block, "te", "trailers");
    literal(block, "content-type", "application/grpc");
    literal(block, "user-agent", "warm-up");
    byte[] headers = new byte[block.position()];
    block.flip().get(headers);
    return new RequestFrames(headers, message);
  }

  /** What a client says first: the preface, no settings, and a window that no answer fills. */
  static byte[] greeting() {
    ByteBuffer greeting = ByteBuffer.allocate(64);
    greeting.put("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
    head(greeting, 0, SETTINGS, (byte) 0, 0);
    head(greeting, Integer.BYTES, WINDOW_UPDATE, (byte) 0, 0);
    greeting.putInt(NEVER_FULL);
    byte[] bytes = new byte[greeting.position()];
    greeting.flip().get(bytes);
    return bytes;
  }

  /** How many bytes {@link #put} writes. */
  int size() {
    return HEAD + headers.length + HEAD + PREFIX + message.length;
  }

  /** Writes the frames for a stream. */
  void put(int stream, ByteBuffer into) {
    head(into, headers.length, HEADERS, END_HEADERS, stream);
    into.put(headers);
    head(into, PREFIX + message.length, DATA, END_STREAM, stream);
    into.put((byte) 0).putInt(message.length).put(message);
  }

  private static void head(ByteBuffer into, int length, byte type, byte flags, int stream) {
    into.put((byte) (length >> 16)).putShort((short) length).put(type).put(flags).putInt(stream);
  }

  /** Names and values here are shorter than the 127 bytes that one byte of length can say. */
  private static void literal(ByteBuffer block, String name, String value) {
    block.put((byte) 0);
    text(block, name);
    text(block, value);
  }

  private static void text(ByteBuffer block, String text) {
    block.put((byte) text.length()).put(text.getBytes(StandardCharsets.US_ASCII));
  }
}
