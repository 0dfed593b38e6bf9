package io.throttlekit.service.server;

import io.grpc.Drainable;
import io.grpc.KnownLength;
import io.grpc.MethodDescriptor.Marshaller;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;

/**
 * Marshals messages as plain bytes, so that the caller parses and serializes them: an exception
 * thrown within a gRPC marshaller cannot be answered with a status of our own.
 */
final class MessageBytes extends ByteArrayInputStream implements KnownLength, Drainable {
  static final Marshaller<InputStream> REQUEST = new Unread();
  static final Marshaller<byte[]> RESPONSE = new Unchanged();

  private MessageBytes(byte[] message) {
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

  private static final class Unread implements Marshaller<InputStream> {
    @Override
    public InputStream stream(InputStream message) {
      return message;
    }

    @Override
    public InputStream parse(InputStream stream) {
      return stream;
    }
  }

  private static final class Unchanged implements Marshaller<byte[]> {
    @Override
    public InputStream stream(byte[] message) {
      return new MessageBytes(message);
    }

    @Override
    public byte[] parse(InputStream stream) {
      try {
        return read(stream);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
