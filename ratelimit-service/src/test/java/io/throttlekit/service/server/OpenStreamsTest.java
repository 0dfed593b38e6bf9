package io.throttlekit.service.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.grpc.health.v1.HealthGrpc;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class OpenStreamsTest {

  @Test
  void aStreamThatBeginsAfterTheEndOfAllIsEndedAtOnceAndACallIsNot() {
    OpenStreams streams = new OpenStreams(3);
    streams.end();
    assertThat(begun(streams, HealthGrpc.getWatchMethod()))
        .extracting(Status::getCode)
        .containsExactly(Status.Code.UNAVAILABLE);
    assertThat(begun(streams, HealthGrpc.getCheckMethod())).isEmpty();
  }

  @Test
  void aStreamThatBeganBeforeIsEndedOnce() {
    OpenStreams streams = new OpenStreams(3);
    List<Status> ended = begun(streams, HealthGrpc.getWatchMethod());
    assertThat(ended).isEmpty();
    streams.end();
    streams.end();
    assertThat(ended).hasSize(1);
  }

  private static <Q, A> List<Status> begun(OpenStreams streams, MethodDescriptor<Q, A> method) {
    Call<Q, A> call = new Call<>(method);
    var _ = streams.interceptCall(call, new Metadata(), (_, _) -> new ServerCall.Listener<Q>() {});
    return call.ended;
  }

  private static final class Call<Q, A> extends ServerCall<Q, A> {
    final List<Status> ended = new ArrayList<>();
    private final MethodDescriptor<Q, A> method;

    Call(MethodDescriptor<Q, A> method) {
      this.method = method;
    }

    @Override
    public void close(Status status, Metadata trailers) {
      ended.add(status);
    }

    @Override
    public void request(int messages) {}

    @Override
    public void sendHeaders(Metadata headers) {}

    @Override
    public void sendMessage(A message) {}

    @Override
    public boolean isCancelled() {
      return false;
    }

    @Override
    public MethodDescriptor<Q, A> getMethodDescriptor() {
      return method;
    }
  }
}
