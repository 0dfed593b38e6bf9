package io.throttlekit.service.server;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerMethodDefinition;
import io.grpc.Status;
import io.throttlekit.TimeSource;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.service.config.CompatibilityConfig;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/**
 * The rate limit service as a connection sees it, bytes in and bytes out, without a network. Not
 * thread-safe.
 */
public final class Wire {
  private final Setup setup;
  private final ServerMethodDefinition<?, ?> method;

  /** Creates a service without policies. */
  public Wire(CompatibilityConfig compatibility, TimeSource time) {
    setup = new Setup(null, compatibility, Setup.BARE, time);
    method =
        setup
            .service()
            .definition()
            .getMethod(RateLimitServiceGrpc.getShouldRateLimitMethod().getFullMethodName());
  }

  /** The end of a call; the response is null unless the status is OK. */
  public record Reply(Status status, @Nullable RateLimitResponse response) {}

  /** Replaces the policies and keeps the counters. */
  public void policies(PolicyBook book) {
    setup.book.set(book);
  }

  /** Sends one message without waiting: the call must have ended when this returns. */
  public Reply invoke(byte[] message) {
    return invoke(method, message);
  }

  private static <Q, P> Reply invoke(ServerMethodDefinition<Q, P> method, byte[] message) {
    Call<Q, P> call = new Call<>(method.getMethodDescriptor());
    ServerCall.Listener<Q> listener = method.getServerCallHandler().startCall(call, new Metadata());
    listener.onMessage(call.getMethodDescriptor().parseRequest(new ByteArrayInputStream(message)));
    listener.onHalfClose();
    return call.reply();
  }

  private static final class Call<Q, P> extends ServerCall<Q, P> {
    private final MethodDescriptor<Q, P> method;
    private @Nullable RateLimitResponse sent;
    private @Nullable Status closed;

    Call(MethodDescriptor<Q, P> method) {
      this.method = method;
    }

    Reply reply() {
      if (closed == null) {
        throw new AssertionError("the call has not ended");
      }
      if (closed.isOk() != (sent != null)) {
        throw new AssertionError("ended as " + closed + " with " + sent);
      }
      return new Reply(closed, sent);
    }

    @Override
    public void sendMessage(P message) {
      if (sent != null || closed != null) {
        throw new AssertionError("a message after the answer or the end");
      }
      try (InputStream bytes = method.streamResponse(message)) {
        sent = RateLimitResponse.parseFrom(bytes);
      } catch (IOException e) {
        throw new AssertionError(e);
      }
    }

    @Override
    public void close(Status status, Metadata trailers) {
      if (closed != null) {
        throw new AssertionError("ended twice: " + closed + ", " + status);
      }
      closed = status;
    }

    @Override
    public void request(int messages) {}

    @Override
    public void sendHeaders(Metadata headers) {}

    @Override
    public boolean isCancelled() {
      return false;
    }

    @Override
    public MethodDescriptor<Q, P> getMethodDescriptor() {
      return method;
    }
  }
}
