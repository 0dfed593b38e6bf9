package io.throttlekit.service.server;

import io.grpc.Drainable;
import io.grpc.KnownLength;
import io.grpc.MethodDescriptor.Marshaller;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;

/** Messages as the bytes that they are, so that whoever reads and writes them may do so itself. */
final class MessageBytes extends ByteArrayInputStream implements KnownLength, Drainable {
  static final Marshaller<byte[]> MARSHALLER = new Unchanged();

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

  private static final class Unchanged implements Marshaller<byte[]> {
    @Override
    public InputStream stream(byte[] message) {
      return new MessageBytes(message);
    }

    @Override
    public byte[] parse(InputStream stream) {
      try {
        if (!(stream instanceof KnownLength)) {
          return stream.readAllBytes();
        }
        byte[] message = new byte[stream.available()];
        int length = stream.readNBytes(message, 0, message.length);
        if (length != message.length) {
          throw new IOException("a message of " + message.length + " bytes had only " + length);
        }
        return message;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
