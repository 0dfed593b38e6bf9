package io.throttlekit.service.generated;

import io.grpc.BindableService;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerMethodDefinition;
import io.grpc.Status;
import io.throttlekit.service.server.LenientRequests;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;

/**
 * A stream of one method as a connection sees it, bytes in and messages out, without a network. For
 * one thread.
 */
final class WireStream<A> {
  private final Call<A> call;
  private final ServerCall.Listener<InputStream> listener;

  private WireStream(ServerMethodDefinition<InputStream, A> method) {
    call = new Call<>(method.getMethodDescriptor());
    listener = method.getServerCallHandler().startCall(call, new Metadata());
    listener.onReady();
  }

  /** Opens one. */
  static <A> WireStream<A> open(BindableService service, MethodDescriptor<?, A> method) {
    @SuppressWarnings("unchecked") // the name is that of the descriptor
    var definition =
        (ServerMethodDefinition<InputStream, A>)
            LenientRequests.of(service.bindService()).getMethod(method.getFullMethodName());
    return new WireStream<>(definition);
  }

  /** Returns whether the server has not ended it and has requested a message. */
  boolean takesMore() {
    return !call.closed && call.requested > 0;
  }

  /**
   * Sends a message, which {@link #takesMore()}; one that cannot be parsed ends the stream.
   *
   * @return whether it was parsed
   */
  boolean send(byte[] bytes) {
    call.requested--;
    listener.onMessage(new ByteArrayInputStream(bytes));
    return !call.unparsed;
  }

  /** Cancels the stream. */
  void cancel() {
    if (!call.closed) {
      call.cancelled = true;
      call.closed = true;
      listener.onCancel();
    }
  }

  /** Returns what the server has sent since the last call. */
  List<A> received() {
    List<A> received = List.copyOf(call.sent);
    call.sent.clear();
    return received;
  }

  private static final class Call<A> extends ServerCall<InputStream, A> {
    private final MethodDescriptor<InputStream, A> method;
    private final List<A> sent = new ArrayList<>();
    private int requested;
    private volatile boolean closed;
    private volatile boolean cancelled;
    private volatile boolean unparsed;

    Call(MethodDescriptor<InputStream, A> method) {
      this.method = method;
    }

    @Override
    public void request(int messages) {
      requested += messages;
    }

    @Override
    public void sendHeaders(Metadata headers) {}

    @Override
    public void sendMessage(A message) {
      if (cancelled || unparsed) {
        return; // the service may not have been notified yet; gRPC or OpenStreams drops the message
      }
      if (closed) {
        throw new AssertionError("a message after the end");
      }
      sent.add(message);
    }

    @Override
    public void close(Status status, Metadata trailers) {
      if (status.getCode() == Status.Code.UNKNOWN || status.getCode() == Status.Code.INTERNAL) {
        throw new AssertionError("ended as " + status, status.getCause());
      }
      unparsed = String.valueOf(status.getDescription()).contains("protobuf");
      closed = true;
    }

    @Override
    public boolean isCancelled() {
      return cancelled;
    }

    @Override
    public MethodDescriptor<InputStream, A> getMethodDescriptor() {
      return method;
    }
  }
}
