package io.throttlekit.service.cli;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.UInt64Value;
import com.google.protobuf.util.JsonFormat;
import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyChannelBuilder;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Asks a running service, as Envoy would. */
@Command(
    name = "call",
    description = "Asks a running service whether a request may pass, as Envoy would.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    footer = "Exit code: 0 answered, whatever the answer; 1 no answer; 2 wrong use.")
final class CallCommand implements Callable<Integer> {

  private static final long DEADLINE_SECONDS = 5;
  private static final Pattern TARGET =
      Pattern.compile("([0-9A-Za-z_.-]+|\\[[0-9A-Fa-f:.]+\\]):([0-9]{1,5})");

  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(index = "0", paramLabel = "HOST:PORT", description = "The service's gRPC address.")
  private String target = "";

  @Option(
      names = "--domain",
      required = true,
      paramLabel = "D",
      description = "Domain of the request.")
  private String domain = "";

  @Option(
      names = "--hits",
      paramLabel = "N",
      description = "Cost of the request; 0 looks without charging. Default: 1.")
  private @Nullable Long hits;

  @Option(names = "--json", description = "The answer as one JSON object.")
  private boolean json;

  @Parameters(
      index = "1..*",
      arity = "1..*",
      paramLabel = "key=value,...",
      converter = DescriptorArgument.Converter.class,
      description = "Descriptors, one per argument.")
  private List<DescriptorArgument> descriptors = new ArrayList<>();

  @Override
  public Integer call() throws InvalidProtocolBufferException {
    Matcher address = TARGET.matcher(target);
    if (!address.matches() || Integer.parseInt(address.group(2)) > 65_535) {
      throw new ParameterException(
          spec.commandLine(), "'" + target + "' is not HOST:PORT, such as 127.0.0.1:8081");
    }
    if (hits != null && hits < 0) {
      throw new ParameterException(spec.commandLine(), "--hits has to be 0 or more");
    }
    ManagedChannel channel =
        NettyChannelBuilder.forAddress(address.group(1), Integer.parseInt(address.group(2)))
            .usePlaintext()
            .build();
    try {
      RateLimitResponse response =
          RateLimitServiceGrpc.newBlockingStub(channel)
              .withDeadlineAfter(DEADLINE_SECONDS, TimeUnit.SECONDS)
              .shouldRateLimit(request());
      print(response);
      return CommandLineTool.OK;
    } catch (StatusRuntimeException e) {
      spec.commandLine().getErr().println("error: " + describe(e.getStatus()));
      return CommandLineTool.FAILED;
    } finally {
      channel.shutdownNow();
    }
  }

  private RateLimitRequest request() {
    RateLimitRequest.Builder request = RateLimitRequest.newBuilder().setDomain(domain);
    for (DescriptorArgument argument : descriptors) {
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
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      out.println(JsonFormat.printer().omittingInsignificantWhitespace().print(response));
      return;
    }
    out.println(AnswerInWords.overall(response));
    for (int i = 0; i < response.getStatusesCount() && i < descriptors.size(); i++) {
      out.println("  " + descriptors.get(i) + ": " + AnswerInWords.of(response.getStatuses(i)));
    }
    response
        .getResponseHeadersToAddList()
        .forEach(header -> out.println("  header " + header.getKey() + ": " + header.getValue()));
  }

  private String describe(Status status) {
    Throwable cause = status.getCause();
    while (cause != null && cause.getCause() != null) {
      cause = cause.getCause();
    }
    String description = status.getDescription();
    String why = cause != null && cause.getMessage() != null ? cause.getMessage() : description;
    return "no answer from " + target + ": " + status.getCode() + (why == null ? "" : ", " + why);
  }
}
