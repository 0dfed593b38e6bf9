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

/**
 * The streams that clients keep open for as long as they like, such as those that watch health, so
 * that a server that drains can end them: nobody waits for their end. Thread-safe.
 */
final class OpenStreams implements ServerInterceptor {
  private final Set<Stream<?, ?>> open = ConcurrentHashMap.newKeySet();
  private volatile boolean ending;

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
    Stream<Q, A> stream = new Stream<>(call);
    open.add(stream);
    if (ending) { // looked at after it was added, so that either this or the other sees it
      stream.end();
    }
    return new SimpleForwardingServerCallListener<>(next.startCall(stream, headers)) {
      @Override
      public void onComplete() {
        open.remove(stream);
        super.onComplete();
      }

      @Override
      public void onCancel() {
        open.remove(stream);
        super.onCancel();
      }
    };
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
