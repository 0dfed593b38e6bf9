package io.throttlekit.http2;

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
 * A minimal HTTP/2 client that sends gRPC requests to a server on this host and ignores the
 * answers.
 *
 * <p>Replaces grpc-java's client, which must not run in the server's process: both share their base
 * classes, and the type profiles that the JIT compiler then collects from two kinds of use made a
 * decision a seventh slower (docs/adr/0004). Not thread-safe.
 */
public final class Http2Client implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Http2Client.class);

  private final Socket socket;
  private final OutputStream out;
  private final DataInputStream in;
  private final HeaderBlocks headers;
  private int sent;
  private int unanswered;

  private Http2Client(Socket socket, HeaderBlocks headers) throws IOException {
    this.socket = socket;
    this.out = socket.getOutputStream();
    this.in = new DataInputStream(new BufferedInputStream(socket.getInputStream(), 1 << 15));
    this.headers = headers;
  }

  /**
   * Connects without TLS and sends the connection preface.
   *
   * @param headers of the requests, in their order
   * @throws IOException if the server does not accept the connection
   */
  public static Http2Client connect(String host, int port, HeaderBlocks headers)
      throws IOException {
    Socket socket = new Socket(host, port);
    try {
      socket.setTcpNoDelay(true);
      Http2Client client = new Http2Client(socket, headers);
      client.out.write(Frames.greeting());
      return client;
    } catch (IOException e) {
      socket.close();
      throw e;
    }
  }

  /**
   * Sends requests in one write.
   *
   * @param messages gRPC messages without their prefix, one for each request
   * @throws IOException if the connection is closed
   */
  public void send(List<byte[]> messages) throws IOException {
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
   * @param end in monotonic ns of {@code time}
   * @return false when {@code end} was reached
   * @throws IOException when the server closes the connection or sends GOAWAY
   */
  public boolean awaitAnswers(TimeSource time, long end) throws IOException {
    try {
      while (unanswered > 0) {
        long left = end - time.monotonicNanos();
        if (left <= 0) {
          return false;
        }
        // At least 1 ms: a timeout of 0 would wait forever.
        socket.setSoTimeout(Math.toIntExact(Math.max(1, TimeUnit.NANOSECONDS.toMillis(left))));
        readFrame();
      }
      return true;
    } catch (SocketTimeoutException atTheEnd) {
      return false;
    }
  }

  /** Returns the number of requests that were answered or refused. */
  public int answered() {
    return sent - unanswered;
  }

  private void readFrame() throws IOException {
    int length = in.readUnsignedByte() << 16 | in.readUnsignedShort();
    byte type = in.readByte();
    int flags = in.readUnsignedByte();
    in.readInt(); // the stream id is not needed: only the number of answers counts
    switch (type) {
      case Frames.PING, Frames.SETTINGS -> acknowledge(type, flags, length);
      case Frames.GOAWAY -> throw new EOFException("the server sent GOAWAY");
      default -> in.skipNBytes(length);
    }
    // An answer ends with trailers; a refusal is a reset, or trailers alone.
    if (type == Frames.RST_STREAM || (type == Frames.HEADERS && (flags & Frames.END_STREAM) != 0)) {
      unanswered--;
    }
  }

  private void acknowledge(byte type, int flags, int length) throws IOException {
    byte[] payload = in.readNBytes(length);
    if ((flags & Frames.ACK) == 0) {
      out.write(Frames.acknowledgement(type, type == Frames.PING ? payload : new byte[0]));
    }
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException gone) {
      LOG.debug("a connection was closed", gone);
    }
  }
}
