package io.throttlekit.testkit.net;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Arrays;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/**
 * A TCP proxy between clients and a server on the loopback interface, which behaves like a bad
 * network: it holds bytes, delays replies and cuts connections.
 *
 * <p>Thread-safe.
 */
public final class TcpProxy implements AutoCloseable {
  private static final int BUFFER_BYTES = 1 << 16;

  private final int target;
  private final ServerSocket server;
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private boolean requestsHang;
  private boolean repliesHang;
  private boolean refusing;
  private final AtomicInteger accepted = new AtomicInteger();
  private volatile boolean closed;
  private volatile LongSupplier replyDelayNanos = () -> 0;

  /** Bytes in transit, with their earliest arrival; empty at the end. */
  private static final class Chunk {
    final long dueNanos;
    final byte[] bytes;

    Chunk(long dueNanos, byte[] bytes) {
      this.dueNanos = dueNanos;
      this.bytes = bytes;
    }
  }

  private TcpProxy(int target, ServerSocket server) {
    this.target = target;
    this.server = server;
  }

  /** Creates a proxy for the server at {@code port}, on a port of its own. */
  public static TcpProxy to(int port) {
    try {
      return to(port, new ServerSocket(0, 50, InetAddress.getLoopbackAddress()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Creates a proxy for the server at {@code port} on the socket {@code listening}, which it
   * closes.
   */
  public static TcpProxy to(int port, ServerSocket listening) {
    TcpProxy proxy = new TcpProxy(port, listening);
    Thread.ofVirtual().start(proxy::accept);
    return proxy;
  }

  /** Returns its port on 127.0.0.1. */
  public int port() {
    return server.getLocalPort();
  }

  /** Returns how many connections it has accepted. */
  public int accepted() {
    return accepted.get();
  }

  /** Holds requests and replies until {@link #goOn()}. */
  public void hang() {
    set(true, true);
  }

  /** Passes requests, but holds their replies until {@link #goOn()}. */
  public void hangReplies() {
    set(false, true);
  }

  /** Passes held bytes and everything from now on, and accepts connections. */
  public void goOn() {
    set(false, false);
  }

  /** Delays each reply from now on, however many are in transit. */
  public void delayReplies(long millis) {
    long nanos = TimeUnit.MILLISECONDS.toNanos(millis);
    replyDelayNanos = () -> nanos;
  }

  /**
   * Delays each reply from now on by 0 to {@code maxMillis} at random. Replies of one connection
   * stay in order.
   */
  public void delayReplies(long maxMillis, long seed) {
    Random random = new Random(seed); // thread-safe: connections share it
    long bound = TimeUnit.MILLISECONDS.toNanos(maxMillis) + 1;
    replyDelayNanos = () -> random.nextLong(bound);
  }

  /** Cuts all connections, and loses bytes in transit. */
  public void cut() {
    sockets.forEach(TcpProxy::close);
  }

  /** Cuts all connections and each new one, until {@link #goOn()}. */
  public void refuse() {
    lock.lock();
    try {
      refusing = true;
    } finally {
      lock.unlock();
    }
    cut();
  }

  @Override
  public void close() {
    closed = true;
    set(false, false);
    try {
      server.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    cut();
  }

  private void set(boolean requests, boolean replies) {
    lock.lock();
    try {
      requestsHang = requests;
      repliesHang = replies;
      refusing = false;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void accept() {
    while (!closed) {
      try {
        Socket client = server.accept();
        accepted.incrementAndGet();
        sockets.add(client);
        if (isRefusing()) {
          close(client);
          continue;
        }
        Socket there = new Socket(InetAddress.getLoopbackAddress(), target);
        sockets.add(there);
        client.setTcpNoDelay(true);
        there.setTcpNoDelay(true);
        Thread.ofVirtual().start(() -> pass(client, there, false));
        Thread.ofVirtual().start(() -> pass(there, client, true));
      } catch (IOException _) {
        cut(); // the server has ended, or this proxy
      }
    }
  }

  private boolean isRefusing() {
    lock.lock();
    try {
      return refusing;
    } finally {
      lock.unlock();
    }
  }

  private void pass(Socket from, Socket to, boolean reply) {
    BlockingQueue<Chunk> chunks = new LinkedBlockingQueue<>();
    Thread.ofVirtual().start(() -> deliver(chunks, from, to, reply));
    byte[] buffer = new byte[BUFFER_BYTES];
    try {
      InputStream in = from.getInputStream();
      for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
        long delay = reply ? replyDelayNanos.getAsLong() : 0;
        chunks.add(new Chunk(System.nanoTime() + delay, Arrays.copyOf(buffer, length)));
      }
    } catch (IOException _) {
      // cut
    } finally {
      chunks.add(new Chunk(System.nanoTime(), new byte[0]));
    }
  }

  private void deliver(BlockingQueue<Chunk> chunks, Socket from, Socket to, boolean reply) {
    try {
      OutputStream out = to.getOutputStream();
      for (Chunk chunk = chunks.take(); chunk.bytes.length > 0; chunk = chunks.take()) {
        awaitDelivery(chunk.dueNanos, reply);
        out.write(chunk.bytes);
      }
    } catch (IOException _) {
      // cut
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    } finally {
      close(from);
      close(to);
      sockets.remove(from);
      sockets.remove(to);
    }
  }

  private void awaitDelivery(long dueNanos, boolean reply) throws InterruptedException {
    lock.lock();
    try {
      long left = dueNanos - System.nanoTime();
      while (left > 0) {
        var _ = changed.awaitNanos(left);
        left = dueNanos - System.nanoTime();
      }
      while (reply ? repliesHang : requestsHang) {
        changed.await();
      }
    } finally {
      lock.unlock();
    }
  }

  private static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException _) {
      // TLS sends a close message, and the peer may have closed
    }
  }
}
