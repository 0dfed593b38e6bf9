package io.throttlekit.service.server;

import static io.throttlekit.service.server.TestRequests.entries;
import static io.throttlekit.service.server.TestRequests.x;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc.RateLimitServiceBlockingStub;
import io.grpc.Codec;
import io.grpc.CompressorRegistry;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.MetadataUtils;
import io.throttlekit.service.telemetry.statsd.StatsLines;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class CompressionTest {
  private final Setup setup = new Setup(Book.X, Setup.NATIVE, Setup.BARE);
  private final GrpcServer server = setup.serve(Setup.loopback());

  /** Changes the compressed bytes before the client sends them. */
  private final AtomicReference<UnaryOperator<byte[]>> harm =
      new AtomicReference<>(UnaryOperator.identity());

  private final ManagedChannel channel =
      NettyChannelBuilder.forAddress("127.0.0.1", server.port())
          .usePlaintext()
          .compressorRegistry(corrupting())
          .build();

  @AfterEach
  void stop() {
    channel.shutdownNow();
    server.stop();
  }

  @Test
  void aCompressedRequestIsAnsweredWithoutOfferingCompression() {
    var headers = new AtomicReference<Metadata>();
    var stub =
        stub()
            .withInterceptors(
                MetadataUtils.newCaptureMetadataInterceptor(headers, new AtomicReference<>()));
    assertThat(stub.shouldRateLimit(x(entries("one", "a"))).getOverallCode()).isEqualTo(Code.OK);
    assertThat(headers.get().keys()).doesNotContain("grpc-accept-encoding");
  }

  @Test
  void damagedCompressionIsAnInvalidArgumentThatIsCounted() {
    harm.set(bytes -> new byte[] {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13});
    assertThatThrownBy(() -> callService("a"))
        .hasMessage("INVALID_ARGUMENT: the request does not match its declared compression");
    harm.set(bytes -> Arrays.copyOf(bytes, bytes.length / 2));
    assertThatThrownBy(() -> callService("a"))
        .hasMessage("INVALID_ARGUMENT: the request does not match its declared compression");
    assertCounted(2);
  }

  @Test
  void aTooLongDecompressedMessageIsRejectedAndCounted() {
    assertThatThrownBy(() -> callService("v".repeat(3_000_000)))
        .hasMessageStartingWith("RESOURCE_EXHAUSTED: Decompressed gRPC message exceeds");
    assertCounted(1);
  }

  private void assertCounted(int failures) {
    assertThat(StatsLines.of(setup.metrics))
        .contains(
            "ratelimit_server.ShouldRateLimit.total_requests: " + failures,
            "ratelimit.service.call.should_rate_limit.service_error: " + failures);
    harm.set(UnaryOperator.identity());
    assertThat(callService("a").getOverallCode()).isEqualTo(Code.OK);
  }

  private RateLimitResponse callService(String value) {
    return stub().shouldRateLimit(x(entries("one", value)));
  }

  private RateLimitServiceBlockingStub stub() {
    return RateLimitServiceGrpc.newBlockingStub(channel).withCompression("gzip");
  }

  private CompressorRegistry corrupting() {
    CompressorRegistry registry = CompressorRegistry.newEmptyInstance();
    registry.register(new Corrupting());
    return registry;
  }

  private final class Corrupting implements Codec {
    private final Codec gzip = new Codec.Gzip();

    @Override
    public String getMessageEncoding() {
      return "gzip";
    }

    @Override
    public InputStream decompress(InputStream compressed) throws IOException {
      return gzip.decompress(new ByteArrayInputStream(compressed.readAllBytes()));
    }

    @Override
    public OutputStream compress(OutputStream target) throws IOException {
      ByteArrayOutputStream compressed = new ByteArrayOutputStream();
      return new FilterOutputStream(gzip.compress(compressed)) {
        @Override
        public void close() throws IOException {
          super.close();
          target.write(harm.get().apply(compressed.toByteArray()));
          target.close();
        }
      };
    }
  }
}
