package io.throttlekit.service.warmup;

import io.throttlekit.TimeSource;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Just enough of HTTP/2 to have a gRPC server on this host answer requests, whatever it answers.
 *
 * <p>It stands in for grpc-java's client, which must not run in the process of the server: both
 * share their base classes, and what the compiler then learns of them from two kinds of use cost a
 * decision a seventh of its time (docs/adr/0004). For one thread.
 */
final class BareClient implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(BareClient.class);

  private final Socket socket;
  private final OutputStream out;
  private final DataInputStream in;
  private final HeaderBlocks headers;
  private int sent;
  private int unanswered;

  private BareClient(Socket socket, HeaderBlocks headers) throws IOException {
    this.socket = socket;
    this.out = socket.getOutputStream();
    this.in = new DataInputStream(new BufferedInputStream(socket.getInputStream(), 1 << 15));
    this.headers = headers;
  }

  /** Connects without TLS. */
  static BareClient connect(String host, int port, HeaderBlocks headers) throws IOException {
    Socket socket = new Socket(host, port);
    try {
      socket.setTcpNoDelay(true);
      BareClient client = new BareClient(socket, headers);
      client.out.write(Frames.greeting());
      return client;
    } catch (IOException e) {
      socket.close();
      throw e;
    }
  }

  /** Sends requests, all at once. */
  void send(List<byte[]> messages) throws IOException {
    int size = 0;
    for (int i = 0; i < messages.size(); i++) {
      size += Frames.requestSize(headers.of(sent + i), messages.get(i));
    }
    ByteBuffer batch = ByteBuffer.allocate(size);
    for (byte[] message : messages) {
      Frames.request(batch, 2 * sent + 1, headers.of(sent), message);
      sent++;
      unanswered++;
    }
    out.write(batch.array());
  }

  /**
   * Waits until every request is answered or refused, or until {@code end}.
   *
   * @return false when it was {@code end} that came
   * @throws IOException when they will not be, because the server wants no more
   */
  boolean awaitAnswers(TimeSource time, long end) throws IOException {
    try {
      while (unanswered > 0) {
        long left = end - time.monotonicNanos();
        if (left <= 0) {
          return false;
        }
        socket.setSoTimeout(Math.toIntExact(Math.max(1, TimeUnit.NANOSECONDS.toMillis(left))));
        readFrame();
      }
      return true;
    } catch (SocketTimeoutException atTheEnd) {
      return false;
    }
  }

  /** How many requests were answered or refused. */
  int answered() {
    return sent - unanswered;
  }

  private void readFrame() throws IOException {
    int length = in.readUnsignedByte() << 16 | in.readUnsignedShort();
    byte type = in.readByte();
    int flags = in.readUnsignedByte();
    in.readInt(); // which stream it is does not matter
    switch (type) {
      case Frames.PING, Frames.SETTINGS -> acknowledge(type, flags, length);
      case Frames.GOAWAY -> throw new EOFException("the server wants no more requests");
      default -> in.skipNBytes(length);
    }
    if (type == Frames.RST_STREAM || (type == Frames.HEADERS && (flags & Frames.END_STREAM) != 0)) {
      unanswered--;
    }
  }

  private void acknowledge(byte type, int flags, int length) throws IOException {
    byte[] said = in.readNBytes(length);
    if ((flags & Frames.ACK) == 0) {
      out.write(Frames.acknowledgement(type, type == Frames.PING ? said : new byte[0]));
    }
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException gone) {
      LOG.debug("a connection of the warm-up was gone", gone);
    }
  }
}
