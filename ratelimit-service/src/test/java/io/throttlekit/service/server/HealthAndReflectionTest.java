package io.throttlekit.service.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.reflection.v1.ServerReflectionGrpc;
import io.grpc.reflection.v1.ServerReflectionRequest;
import io.grpc.reflection.v1.ServerReflectionResponse;
import io.grpc.stub.StreamObserver;
import io.throttlekit.service.config.load.ConfigLoader;
import io.throttlekit.service.server.Health.Obstacle;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HealthAndReflectionTest {
  private final Setup setup = new Setup(Book.X, Setup.NATIVE, Setup.BARE);
  private final GrpcServer server = setup.serve(Setup.reflecting(Setup.loopback()));
  private final ManagedChannel channel = Channels.to(server);

  @AfterEach
  void stop() {
    channel.shutdownNow();
    server.stop();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "ratelimit", "envoy.service.ratelimit.v3.RateLimitService"})
  void isServingUnderEveryNameWithoutObstacles(String name) {
    assertThat(check(name)).isEqualTo(ServingStatus.SERVING);
    setup.health.raise(Obstacle.STORE_UNREACHABLE);
    setup.health.raise(Obstacle.NO_POLICIES);
    assertThat(check(name)).isEqualTo(ServingStatus.NOT_SERVING);
    setup.health.clear(Obstacle.STORE_UNREACHABLE);
    assertThat(check(name)).isEqualTo(ServingStatus.NOT_SERVING);
    assertThat(setup.health.serving()).isFalse();
    setup.health.clear(Obstacle.NO_POLICIES);
    assertThat(check(name)).isEqualTo(ServingStatus.SERVING);
    assertThat(setup.health.serving()).isTrue();
  }

  @Test
  void isNotServingDuringTheStart() {
    assertThat(new Health().serving()).isFalse();
  }

  @Test
  void anUnknownNameIsNotFound() {
    assertThatThrownBy(() -> check("zzz")).hasMessageContaining("NOT_FOUND");
  }

  @Test
  void reflectionNamesTheServices() {
    CompletableFuture<String> services = new CompletableFuture<>();
    var requests =
        ServerReflectionGrpc.newStub(channel)
            .serverReflectionInfo(
                new First<ServerReflectionResponse>(
                    services, response -> response.getListServicesResponse().toString()));
    requests.onNext(ServerReflectionRequest.newBuilder().setListServices("").build());
    assertThat(services.join())
        .contains("envoy.service.ratelimit.v3.RateLimitService", "grpc.health.v1.Health");
    requests.onCompleted();
  }

  @Test
  void reflectionIsOffByDefault() {
    assertThat(ConfigLoader.defaults().grpc().reflection()).isFalse();
    GrpcServer closed = setup.serve(Setup.loopback());
    ManagedChannel client = Channels.to(closed);
    CompletableFuture<String> services = new CompletableFuture<>();
    try {
      ServerReflectionGrpc.newStub(client)
          .serverReflectionInfo(
              new First<ServerReflectionResponse>(
                  services, response -> response.getListServicesResponse().toString()))
          .onNext(ServerReflectionRequest.newBuilder().setListServices("").build());
      assertThatThrownBy(services::join).hasMessageContaining("UNIMPLEMENTED");
    } finally {
      client.shutdownNow();
      closed.stop();
    }
  }

  @Test
  void reflectionDescribesTheRequest() {
    CompletableFuture<String> file = new CompletableFuture<>();
    var requests =
        ServerReflectionGrpc.newStub(channel)
            .serverReflectionInfo(
                new First<ServerReflectionResponse>(
                    file, response -> response.getFileDescriptorResponse().toString()));
    requests.onNext(
        ServerReflectionRequest.newBuilder()
            .setFileContainingSymbol("envoy.service.ratelimit.v3.RateLimitService")
            .build());
    assertThat(file.join()).contains("ShouldRateLimit", "hits_addend");
    requests.onCompleted();
  }

  @Test
  void reflectionAlsoAnswersUnderItsOldName() {
    MethodDescriptor<ServerReflectionRequest, ServerReflectionResponse> old =
        ServerReflectionGrpc.getServerReflectionInfoMethod().toBuilder()
            .setFullMethodName("grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo")
            .build();
    CompletableFuture<String> services = new CompletableFuture<>();
    var requests =
        io.grpc.stub.ClientCalls.asyncBidiStreamingCall(
            channel.newCall(old, io.grpc.CallOptions.DEFAULT),
            new First<ServerReflectionResponse>(
                services, response -> response.getListServicesResponse().toString()));
    requests.onNext(ServerReflectionRequest.newBuilder().setListServices("").build());
    assertThat(services.join()).contains("envoy.service.ratelimit.v3.RateLimitService");
    requests.onCompleted();
  }

  private ServingStatus check(String name) {
    return HealthGrpc.newBlockingStub(channel)
        .check(HealthCheckRequest.newBuilder().setService(name).build())
        .getStatus();
  }

  private record First<T>(CompletableFuture<String> future, Function<T, String> text)
      implements StreamObserver<T> {
    @Override
    public void onNext(T value) {
      future.complete(text.apply(value));
    }

    @Override
    public void onError(Throwable t) {
      future.completeExceptionally(t);
    }

    @Override
    public void onCompleted() {}
  }
}
