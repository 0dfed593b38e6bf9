package io.throttlekit.service.warmup;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersEncoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * The HTTP/2 frames of one unary gRPC request, ready but for the number of its stream.
 *
 * <p>Its headers are compressed as every client does it: the first request of a connection spells
 * them out, all others refer to it. Immutable.
 */
final class RequestFrames {
  /** Bytes of a frame before its payload, RFC 9113 §4.1. */
  static final int HEAD = 9;

  static final byte HEADERS = 1;
  static final byte SETTINGS = 4;
  static final byte END_STREAM = 1;

  private static final int PREFIX = 5; // of a gRPC message: compressed or not, and its length
  private static final byte DATA = 0;
  private static final byte WINDOW_UPDATE = 8;
  private static final byte END_HEADERS = 4;
  private static final int NEVER_FULL = Integer.MAX_VALUE - 65_535;

  private final byte[] firstHeaders;
  private final byte[] laterHeaders;
  private final byte[] message;

  private RequestFrames(byte[] firstHeaders, byte[] laterHeaders, byte[] message) {
    this.firstHeaders = firstHeaders;
    this.laterHeaders = laterHeaders;
    this.message = message;
  }

  /**
   * Calls of {@code method} with one message each, for connections that make no other calls.
   *
   * @param method {@code package.Service/Method}
   */
  static List<RequestFrames> of(String method, List<byte[]> messages) {
    Http2Headers headers =
        new DefaultHttp2Headers()
            .method("POST")
            .scheme("http")
            .path("/" + method)
            .authority("warm-up")
            .set("te", "trailers")
            .set("content-type", "application/grpc")
            .set("user-agent", "warm-up");
    DefaultHttp2HeadersEncoder connection = new DefaultHttp2HeadersEncoder();
    byte[] first = block(connection, headers);
    byte[] later = block(connection, headers);
    return messages.stream().map(bytes -> new RequestFrames(first, later, bytes)).toList();
  }

  private static byte[] block(DefaultHttp2HeadersEncoder connection, Http2Headers headers) {
    ByteBuf block = Unpooled.buffer();
    try {
      connection.encodeHeaders(1, headers, block);
    } catch (Http2Exception impossible) {
      throw new IllegalStateException(impossible);
    }
    return ByteBufUtil.getBytes(block);
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
  int size(boolean first) {
    return HEAD + headers(first).length + HEAD + PREFIX + message.length;
  }

  /**
   * Writes the frames for a stream.
   *
   * @param first whether it is the first of its connection
   */
  void put(int stream, boolean first, ByteBuffer into) {
    byte[] headers = headers(first);
    head(into, headers.length, HEADERS, END_HEADERS, stream);
    into.put(headers);
    head(into, PREFIX + message.length, DATA, END_STREAM, stream);
    into.put((byte) 0).putInt(message.length).put(message);
  }

  private byte[] headers(boolean first) {
    return first ? firstHeaders : laterHeaders;
  }

  /** Writes the head of a frame. */
  static void head(ByteBuffer into, int length, byte type, byte flags, int stream) {
    into.put((byte) (length >> 16)).putShort((short) length).put(type).put(flags).putInt(stream);
  }
}
