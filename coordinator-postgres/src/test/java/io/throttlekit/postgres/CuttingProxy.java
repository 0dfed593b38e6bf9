package io.throttlekit.postgres;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A proxy between a client and a PostgreSQL that counts round trips. On request it cuts the
 * connection once instead of passing an answer on.
 */
final class CuttingProxy implements AutoCloseable {
  /** Matches every message. */
  private static final String ANY = "";

  /** The text in the answer to a commit. */
  private static final String COMMITTED = "COMMIT\0";

  /**
   * Matches a request that commits its writes. A pool also commits in a request of its own after it
   * has opened a connection, which can happen at any time.
   */
  private static final Pattern WRITES =
      Pattern.compile("(INSERT|UPDATE|DELETE) .*COMMIT", Pattern.DOTALL);

  private final ServerSocket listening;
  private final int target;
  private final AtomicReference<@Nullable Cut> cutAt = new AtomicReference<>();
  private final AtomicInteger trips = new AtomicInteger();

  /** Whether the last message was an answer. */
  private final AtomicBoolean answered = new AtomicBoolean(true);

  private final AtomicInteger holding = new AtomicInteger();
  private volatile CountDownLatch held = new CountDownLatch(0);

  /** An answer to drop: one that contains {@code answer}, to a request that matches. */
  private record Cut(Pattern request, String answer) {}

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

  /** Cuts at the answer to the next commit of a request that writes. */
  void cutAtNextCommit() {
    cutAt.set(new Cut(WRITES, COMMITTED));
  }

  /** Cuts at the next answer of any kind. */
  void cutAtNextAnswer() {
    cutAt.set(new Cut(Pattern.compile(ANY), ANY));
  }

  /** Holds answers back from here on. */
  void holdAnswers() {
    held = new CountDownLatch(1);
  }

  /** Returns the connections with an answer that is held back. */
  int holding() {
    return holding.get();
  }

  /** Passes on the answers that were held back, and those to come. */
  void passAnswers() {
    held.countDown();
  }

  /** Returns whether the requested cut has happened. */
  boolean hasCut() {
    return cutAt.get() == null;
  }

  /** Returns the round trips since the last call, for one client at a time. */
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
        AtomicReference<String> request = new AtomicReference<>(ANY);
        var _ = Thread.ofVirtual().start(() -> copy(client, server, false, request));
        var _ = Thread.ofVirtual().start(() -> copy(server, client, true, request));
      }
    } catch (IOException _) {
      // closed
    }
  }

  private void copy(Socket from, Socket to, boolean isAnswer, AtomicReference<String> request) {
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
        if (!isAnswer) {
          request.set(text);
        } else if (isCut(request.get(), text)) {
          return;
        }
        if (isAnswer && held.getCount() > 0) {
          holding.incrementAndGet();
          held.await();
          holding.decrementAndGet();
        }
        out.write(bytes, 0, size);
      }
    } catch (IOException | InterruptedException _) {
      // the other direction has ended
    }
  }

  private boolean isCut(String request, String answer) {
    Cut cut = cutAt.get();
    return cut != null
        && cut.request.matcher(request).find()
        && answer.contains(cut.answer)
        && cutAt.compareAndSet(cut, null);
  }
}
