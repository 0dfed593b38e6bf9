package io.throttlekit.postgres;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Stands between a client and a PostgreSQL, counts round trips, and breaks the connection in place
 * of passing an answer on, once each time it is told to.
 */
final class CuttingProxy implements AutoCloseable {
  /** In every answer. */
  private static final String ANY = "";

  /** In the answer that a transaction was committed. */
  private static final String COMMITTED = "COMMIT\0";

  private final ServerSocket listening;
  private final int target;
  private final AtomicReference<@Nullable String> cutAt = new AtomicReference<>();
  private final AtomicInteger trips = new AtomicInteger();

  /** Whether what was passed on last was an answer. */
  private final AtomicBoolean answered = new AtomicBoolean(true);

  private volatile long delayMillis;

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
    cutAt.set(COMMITTED);
  }

  /** Nor is the next answer, whatever it is. */
  void cutAtNextAnswer() {
    cutAt.set(ANY);
  }

  /** Passes each answer on so much later. */
  void delayAnswers(long millis) {
    delayMillis = millis;
  }

  /** Whether it has happened. */
  boolean hasCut() {
    return cutAt.get() == null;
  }

  /** How often an answer was waited for since this was asked last, by one client at a time. */
  int trips() {
    return trips.getAndSet(0);
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

  private void copy(Socket from, Socket to, boolean isAnswer) {
    try (from;
        to) {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      byte[] bytes = new byte[1 << 16];
      for (int size = in.read(bytes); size >= 0; size = in.read(bytes)) {
        if (answered.getAndSet(isAnswer) && !isAnswer) {
          trips.incrementAndGet();
        }
        String text = new String(bytes, 0, size, StandardCharsets.ISO_8859_1);
        String cut = cutAt.get();
        if (isAnswer && cut != null && text.contains(cut) && cutAt.compareAndSet(cut, null)) {
          return;
        }
        boolean late = isAnswer && delayMillis > 0;
        if (late) {
          await(delayMillis);
        }
        out.write(bytes, 0, size);
        while (late && in.available() > 0) { // the rest of that answer came meanwhile
          out.write(bytes, 0, in.read(bytes));
        }
      }
    } catch (IOException _) {
      // the other direction has ended
    }
  }

  private static void await(long millis) {
    long begun = System.nanoTime();
    long nanos = TimeUnit.MILLISECONDS.toNanos(millis);
    for (long left = nanos; left > 0; left = begun + nanos - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }
}
