package io.throttlekit.service.server;

import io.grpc.Drainable;
import io.grpc.KnownLength;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/** A response as bytes that gRPC takes without a copy of its own, and the reader of requests. */
final class MessageBytes extends ByteArrayInputStream implements KnownLength, Drainable {
  MessageBytes(byte[] message) {
    super(message);
  }

  @Override
  public int drainTo(OutputStream target) throws IOException {
    int length = count - pos;
    target.write(buf, pos, length);
    pos = count;
    return length;
  }

  /**
   * Reads all bytes of a message.
   *
   * @throws IOException when they are compressed and the compression is malformed
   * @throws io.grpc.StatusRuntimeException when the decompressed message exceeds the maximum size
   */
  static byte[] read(InputStream message) throws IOException {
    if (!(message instanceof KnownLength)) { // compressed
      return message.readAllBytes();
    }
    byte[] bytes = new byte[message.available()];
    int length = message.readNBytes(bytes, 0, bytes.length);
    if (length != bytes.length) {
      throw new IOException("a message of " + bytes.length + " bytes had only " + length);
    }
    return bytes;
  }
}
