package io.throttlekit.service.generated;

import io.grpc.BindableService;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerMethodDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.ByteArrayInputStream;
import java.util.ArrayList;
import java.util.List;

/**
 * A stream of one method as a connection sees it, bytes in and messages out, without a network. For
 * one thread.
 */
final class WireStream<Q, A> {
  private final Call<Q, A> call;
  private final ServerCall.Listener<Q> listener;

  private WireStream(ServerMethodDefinition<Q, A> method) {
    call = new Call<>(method.getMethodDescriptor());
    listener = method.getServerCallHandler().startCall(call, new Metadata());
    listener.onReady();
  }

  /** Opens one. */
  static <Q, A> WireStream<Q, A> open(BindableService service, MethodDescriptor<Q, A> method) {
    @SuppressWarnings("unchecked") // the name is that of the descriptor
    var definition =
        (ServerMethodDefinition<Q, A>) service.bindService().getMethod(method.getFullMethodName());
    return new WireStream<>(definition);
  }

  /** Returns whether the server has not ended it and has requested a message. */
  boolean takesMore() {
    return !call.closed && call.requested > 0;
  }

  /**
   * Sends a message, which {@link #takesMore()}; one that cannot be parsed ends the stream, as it
   * does in gRPC.
   *
   * @return whether it was parsed
   */
  boolean send(byte[] bytes) {
    Q message;
    try {
      message = call.getMethodDescriptor().parseRequest(new ByteArrayInputStream(bytes));
    } catch (StatusRuntimeException malformed) {
      cancel();
      return false;
    }
    call.requested--;
    listener.onMessage(message);
    return true;
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

  private static final class Call<Q, A> extends ServerCall<Q, A> {
    private final MethodDescriptor<Q, A> method;
    private final List<A> sent = new ArrayList<>();
    private int requested;
    private volatile boolean closed;
    private volatile boolean cancelled;

    Call(MethodDescriptor<Q, A> method) {
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
      if (cancelled) {
        return; // the server may not have received it yet, and gRPC drops the message
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
      closed = true;
    }

    @Override
    public boolean isCancelled() {
      return cancelled;
    }

    @Override
    public MethodDescriptor<Q, A> getMethodDescriptor() {
      return method;
    }
  }
}
