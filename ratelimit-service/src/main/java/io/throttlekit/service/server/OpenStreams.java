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

/**
 * The streams that clients keep open for as long as they like, such as those that watch health, so
 * that a server that drains can end them: nobody waits for their end. There is a bound of them;
 * what is beyond is refused at once. Thread-safe.
 */
final class OpenStreams implements ServerInterceptor {
  private final Set<Stream<?, ?>> open = ConcurrentHashMap.newKeySet();
  private final AtomicInteger count = new AtomicInteger();
  private final int most;
  private volatile boolean ending;

  /** No more than so many at once, from 1. */
  OpenStreams(int most) {
    this.most = most;
  }

  /** Ends every stream, after what it was told, and from now on each new one at once. */
  void end() {
    ending = true;
    open.forEach(Stream::end);
  }

  @Override
  public <Q, A> ServerCall.Listener<Q> interceptCall(
      ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
    if (call.getMethodDescriptor().getType() == MethodType.UNARY) {
      return next.startCall(call, headers);
    }
    if (count.incrementAndGet() > most) {
      count.decrementAndGet();
      call.close(
          Status.RESOURCE_EXHAUSTED.withDescription("no more than " + most + " streams at once"),
          new Metadata());
      return new ServerCall.Listener<>() {};
    }
    Stream<Q, A> stream = new Stream<>(call);
    open.add(stream);
    if (ending) { // looked at after it was added, so that either this or the other sees it
      stream.end();
    }
    ServerCall.Listener<Q> listener;
    try {
      listener = next.startCall(stream, headers);
    } catch (RuntimeException | Error failed) {
      remove(stream); // no listener would be told of its end
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
    if (open.remove(stream)) {
      count.decrementAndGet();
    }
  }

  /** A call is for one thread at a time, and the end comes from another than its messages. */
  private static final class Stream<Q, A> extends SimpleForwardingServerCall<Q, A> {
    private boolean ended;

    Stream(ServerCall<Q, A> call) {
      super(call);
    }

    synchronized void end() {
      close(Status.UNAVAILABLE.withDescription("the server is going"), new Metadata());
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
