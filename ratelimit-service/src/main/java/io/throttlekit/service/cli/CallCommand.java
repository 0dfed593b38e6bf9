package io.throttlekit.service.cli;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.UInt64Value;
import com.google.protobuf.util.JsonFormat;
import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.CallOptions;
import io.grpc.ClientStreamTracer;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCalls;
import io.throttlekit.descriptors.source.Wording;
import io.throttlekit.envoy.HostPort;
import io.throttlekit.store.RootCause;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Calls a running service, as Envoy would. */
@Command(
    name = "call",
    description = "Sends a request to a running service, as Envoy would.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    footer = {
      "Where tenants share a limit (fair_share), limit and rest are those of the tenant of the"
          + " descriptor: its guarantee, or what it may have in all by borrowing.",
      "Exit code: 0 OK, 3 OVER_LIMIT, 1 no answer, 2 wrong use."
    })
final class CallCommand implements Callable<Integer> {

  private static final long DEADLINE_SECONDS = 5; // generous for a person at a terminal
  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(
      index = "0",
      paramLabel = "HOST:PORT",
      converter = Target.Converter.class,
      description = "The service's gRPC address; unix:/PATH for a Unix socket.")
  private Target target = new Target.Tcp(new HostPort("", 0));

  @Mixin private DescriptorArguments arguments = new DescriptorArguments();

  @Mixin private TlsArguments tls = new TlsArguments();

  @Option(
      names = "--hits",
      paramLabel = "N",
      description = "Cost of the request; 0 for a look without a charge. Default: 1.")
  private @Nullable Long hits;

  @Option(names = "--json", description = "The answer as one JSON object.")
  private boolean json;

  @Override
  public Integer call() throws InvalidProtocolBufferException {
    if (hits != null && hits < 0) {
      throw new ParameterException(spec.commandLine(), "--hits has to be 0 or more");
    }
    RateLimitRequest request = request();
    String obstacle = target.obstacle();
    if (!obstacle.isEmpty()) {
      return failed("no answer from " + target + ": " + obstacle);
    }
    Answered answered = new Answered();
    Consumer<NettyChannelBuilder> security = tls.security();
    try (Target.Connection connection = target.open(security)) {
      RateLimitResponse response =
          ClientCalls.blockingUnaryCall(
              connection.channel(),
              RateLimitServiceGrpc.getShouldRateLimitMethod(),
              CallOptions.DEFAULT
                  .withDeadlineAfter(DEADLINE_SECONDS, TimeUnit.SECONDS)
                  .withStreamTracerFactory(answered),
              request);
      print(response);
      return switch (response.getOverallCode()) {
        case OK -> CommandLineTool.OK;
        case OVER_LIMIT -> CommandLineTool.OVER_LIMIT;
        default -> CommandLineTool.FAILED;
      };
    } catch (StatusRuntimeException e) {
      return failed(describe(e.getStatus(), answered.answered));
    }
  }

  private int failed(String reason) {
    spec.commandLine().getErr().println("error: " + reason);
    return CommandLineTool.FAILED;
  }

  private RateLimitRequest request() {
    RateLimitRequest.Builder request = RateLimitRequest.newBuilder().setDomain(arguments.domain());
    for (DescriptorArgument argument : arguments.descriptors()) {
      RateLimitDescriptor.Builder descriptor = request.addDescriptorsBuilder();
      List<String> entries = argument.entries();
      for (int i = 0; i < entries.size(); i += 2) {
        descriptor.addEntriesBuilder().setKey(entries.get(i)).setValue(entries.get(i + 1));
      }
      if (hits != null) {
        descriptor.setHitsAddend(UInt64Value.of(hits));
      }
    }
    return request.build();
  }

  private void print(RateLimitResponse response) throws InvalidProtocolBufferException {
    if (ResponseText.isOfUnknownDomain(response)) {
      spec.commandLine()
          .getErr()
          .println(
              "warning: the service has no policies for the domain %s, so that nothing limits its requests"
                  .formatted(Wording.quote(arguments.domain())));
    }
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      out.println(JsonFormat.printer().omittingInsignificantWhitespace().print(response));
      return;
    }
    ResponseText words = new ResponseText(hits == null ? 1 : hits);
    List<DescriptorArgument> descriptors = arguments.descriptors();
    out.println(words.overall(response));
    for (int i = 0; i < response.getStatusesCount() && i < descriptors.size(); i++) {
      out.println("  " + descriptors.get(i) + ": " + words.of(response.getStatuses(i)));
    }
    response
        .getResponseHeadersToAddList()
        .forEach(header -> out.println("  header " + header.getKey() + ": " + header.getValue()));
  }

  private String describe(Status status, boolean answered) {
    String description = status.getDescription();
    if (answered) {
      return target
          + " answered "
          + status.getCode()
          + (description == null ? "" : ": " + description);
    }
    if (status.getCode() == Status.Code.DEADLINE_EXCEEDED) {
      return "no answer from " + target + " within " + DEADLINE_SECONDS + " s";
    }
    Throwable outer = status.getCause(); // only repeats that the connection failed
    Throwable cause = outer == null ? null : RootCause.innermost(outer);
    String why = cause != null && cause.getMessage() != null ? cause.getMessage() : description;
    return "no answer from " + target + (why == null ? "" : ": " + described(why));
  }

  /** Replaces descriptions of peers without HTTP/2 or TLS by ones for users, and names the flag. */
  private static String described(String reason) {
    String why = reason.replaceFirst("^\\w+\\(\\.\\.\\) failed with error\\(-?\\d+\\): ", "");
    if (why.startsWith("First received frame was not SETTINGS")) {
      return "it does not support gRPC; is this the service's gRPC port?";
    }
    if (why.startsWith("not an SSL/TLS record")) {
      return "it does not use TLS there; leave out --tls, --ca, --cert and --server-name";
    }
    if (why.contains("unable to find valid certification path")) {
      return why + "; --ca names the certificates to trust";
    }
    if (why.startsWith("No subject alternative")) {
      return why + " --server-name sets the name to expect.";
    }
    if (why.contains("CERTIFICATE_REQUIRED")) {
      return "it requires a certificate of the client: --cert and --key";
    }
    return why.equals("Network closed for unknown reason")
            || why.startsWith("Connection reset")
            || why.contains("before any response")
        ? "it closed the connection; does it require TLS (--tls)?"
        : why;
  }

  /**
   * Detects whether a server answered at all. The status of a failed call does not show it, as the
   * client generates some statuses itself. For one call.
   */
  private static final class Answered extends ClientStreamTracer.Factory {

    private volatile boolean answered;

    @Override
    public ClientStreamTracer newClientStreamTracer(
        ClientStreamTracer.StreamInfo info, Metadata headers) {
      return new ClientStreamTracer() {
        @Override
        public void inboundTrailers(Metadata trailers) {
          answered = true;
        }
      };
    }
  }
}
