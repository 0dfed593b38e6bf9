package io.throttlekit.bench.load;

import io.grpc.KnownLength;
import io.grpc.MethodDescriptor.Marshaller;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/** Passes messages as bytes, so that the load generator spends no time on parsing. */
public enum RawBytes implements Marshaller<byte[]> {
  INSTANCE;

  @Override
  public InputStream stream(byte[] message) {
    return new KnownBytes(message);
  }

  @Override
  public byte[] parse(InputStream stream) {
    try {
      return stream.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static final class KnownBytes extends ByteArrayInputStream implements KnownLength {
    KnownBytes(byte[] message) {
      super(message);
    }
  }
}
