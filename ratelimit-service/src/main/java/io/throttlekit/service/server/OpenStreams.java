package io.throttlekit.service.server;

import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * Tracks and bounds long-lived streams, such as health watches.
 *
 * <p>A server that drains ends them, because they would not end by themselves. A stream beyond the
 * maximum is refused at once, and counted. Thread-safe.
 */
final class OpenStreams implements ServerInterceptor {
  private final Set<Stream<?, ?>> open = ConcurrentHashMap.newKeySet();
  private final AtomicInteger count = new AtomicInteger();
  private final LongAdder refused = new LongAdder();
  private final int most;
  private volatile boolean ending;

  /** Creates a tracker of at most {@code most} streams at once, from 1. */
  OpenStreams(int most) {
    this.most = most;
  }

  /** Returns how many streams were refused because too many were open. */
  long refused() {
    return refused.sum();
  }

  /** Ends every stream after the messages already sent, and each later one at once. */
  void end() {
    ending = true;
    open.forEach(Stream::end);
  }

  @Override
  public <Q, A> ServerCall.Listener<Q> interceptCall(
      ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
    if (call.getMethodDescriptor().getType() == MethodType.UNARY) { // ends by itself
      return next.startCall(call, headers);
    }
    if (count.incrementAndGet() > most) {
      count.decrementAndGet();
      refused.increment();
      call.close(
          Status.RESOURCE_EXHAUSTED.withDescription("no more than " + most + " streams at once"),
          new Metadata());
      return new ServerCall.Listener<>() {};
    }
    Stream<Q, A> stream = new Stream<>(call);
    open.add(stream);
    if (ending) { // read after the add: either this or end() sees the stream
      stream.end();
    }
    ServerCall.Listener<Q> listener;
    try {
      listener = next.startCall(stream, headers);
    } catch (RuntimeException | Error failed) {
      remove(stream); // no listener would be notified of its end
      throw failed;
    }
    return new SimpleForwardingServerCallListener<>(listener) {
      @Override
      public void onComplete() {
        remove(stream);
        super.onComplete();
      }

      @Override
      public void onCancel() {
        remove(stream);
        super.onCancel();
      }
    };
  }

  private void remove(Stream<?, ?> stream) {
    if (open.remove(stream)) { // counted down once, whichever event comes first
      count.decrementAndGet();
    }
  }

  /**
   * A call that may be closed by another thread than the one that sends its messages: gRPC's calls
   * are not thread-safe.
   */
  private static final class Stream<Q, A> extends SimpleForwardingServerCall<Q, A> {
    private boolean ended;

    Stream(ServerCall<Q, A> call) {
      super(call);
    }

    synchronized void end() {
      close(Status.UNAVAILABLE.withDescription("the server is shutting down"), new Metadata());
    }

    @Override
    public synchronized void sendHeaders(Metadata headers) {
      if (!ended) {
        super.sendHeaders(headers);
      }
    }

    @Override
    public synchronized void sendMessage(A message) {
      if (!ended) {
        super.sendMessage(message);
      }
    }

    @Override
    public synchronized void close(Status status, Metadata trailers) {
      if (!ended) {
        ended = true;
        super.close(status, trailers);
      }
    }
  }
}
