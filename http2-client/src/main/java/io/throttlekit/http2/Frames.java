package io.throttlekit.http2;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Encodes the HTTP/2 frames that a unary gRPC call needs, RFC 9113 §4.1 and §6. */
final class Frames {
  /** Length of a frame's header, in bytes. */
  static final int HEAD = 9;

  static final byte DATA = 0;
  static final byte HEADERS = 1;
  static final byte RST_STREAM = 3;
  static final byte SETTINGS = 4;
  static final byte PING = 6;
  static final byte GOAWAY = 7;
  static final byte WINDOW_UPDATE = 8;

  static final byte ACK = 1;
  static final byte END_STREAM = 1;
  private static final byte END_HEADERS = 4;

  private static final int PREFIX = 5; // of a gRPC message: a compression flag and its length

  /**
   * Raises the connection's window of 65,535 bytes to the maximum, 2^31 − 1, so that answers never
   * fill it and no updates are needed.
   */
  private static final int NEVER_FULL = Integer.MAX_VALUE - 65_535;

  private Frames() {}

  /** Returns the connection preface, empty settings, and a window that no answer fills. */
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

  /** Returns the length of a whole request, in bytes. */
  static int requestSize(byte[] headers, byte[] message) {
    return HEAD + headers.length + HEAD + PREFIX + message.length;
  }

  /** Writes a whole request whose headers are one HPACK block. */
  static void request(ByteBuffer into, int stream, byte[] headers, byte[] message) {
    head(into, headers.length, HEADERS, END_HEADERS, stream);
    into.put(headers);
    head(into, PREFIX + message.length, DATA, END_STREAM, stream);
    into.put((byte) 0).putInt(message.length).put(message);
  }

  /** Returns the acknowledgement of a frame, with its payload. */
  static byte[] acknowledgement(byte type, byte[] payload) {
    ByteBuffer frame = ByteBuffer.allocate(HEAD + payload.length);
    head(frame, payload.length, type, ACK, 0);
    return frame.put(payload).array();
  }

  private static void head(ByteBuffer into, int length, byte type, byte flags, int stream) {
    into.put((byte) (length >> 16)).putShort((short) length).put(type).put(flags).putInt(stream);
  }
}
