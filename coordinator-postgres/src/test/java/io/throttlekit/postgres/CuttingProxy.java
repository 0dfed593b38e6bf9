package io.throttlekit.postgres;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Stands between a client and a PostgreSQL, and breaks the connection in place of telling that a
 * transaction was committed, as often as it is told to.
 */
final class CuttingProxy implements AutoCloseable {
  private static final String COMMITTED = "COMMIT\0";

  private final ServerSocket listening;
  private final int target;
  private final AtomicInteger cuts = new AtomicInteger();

  private CuttingProxy(int target) throws IOException {
    this.target = target;
    this.listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    var _ = Thread.ofVirtual().start(this::accept);
  }

  static CuttingProxy to(int port) {
    try {
      return new CuttingProxy(port);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  int port() {
    return listening.getLocalPort();
  }

  /** The next commit is not told of. */
  void cutAtNextCommit() {
    cuts.set(1);
  }

  /** Whether it has happened. */
  boolean hasCut() {
    return cuts.get() == 0;
  }

  @Override
  public void close() {
    try {
      listening.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void accept() {
    try {
      while (true) {
        Socket client = listening.accept();
        Socket server = new Socket(InetAddress.getLoopbackAddress(), target);
        var _ = Thread.ofVirtual().start(() -> copy(client, server, false));
        var _ = Thread.ofVirtual().start(() -> copy(server, client, true));
      }
    } catch (IOException _) {
      // closed
    }
  }

  private void copy(Socket from, Socket to, boolean mayCut) {
    try (from;
        to) {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      byte[] bytes = new byte[1 << 16];
      for (int size = in.read(bytes); size >= 0; size = in.read(bytes)) {
        String text = new String(bytes, 0, size, StandardCharsets.ISO_8859_1);
        if (mayCut && text.contains(COMMITTED) && cuts.compareAndSet(1, 0)) {
          return;
        }
        out.write(bytes, 0, size);
      }
    } catch (IOException _) {
      // the other direction has ended
    }
  }
}
