package io.throttlekit.service.cli;

import io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.NettyChannelBuilder;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.throttlekit.envoy.PemFiles;
import java.io.IOException;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** TLS of a connection to the service. Each option but {@code --tls} implies it. */
final class TlsArguments {

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command = CommandSpec.create();

  @Option(names = "--tls", description = "Use TLS.")
  private boolean tls;

  @Option(
      names = "--ca",
      paramLabel = "FILE",
      description =
          "PEM certificates that must have signed the service's; those of Java by default.")
  private @Nullable Path authorities;

  @Option(
      names = "--cert",
      paramLabel = "FILE",
      description = "PEM chain of this client, where the service requires one; with --key.")
  private @Nullable Path certificate;

  @Option(
      names = "--key",
      paramLabel = "FILE",
      description = "PEM private key of that certificate.")
  private @Nullable Path key;

  @Option(
      names = "--server-name",
      paramLabel = "NAME",
      description = "Name that the service's certificate must contain; by default the host.")
  private @Nullable String serverName;

  /**
   * Returns what secures a connection: TLS, or nothing without these options.
   *
   * @throws ParameterException when they do not fit together, or a file is not usable
   */
  Consumer<NettyChannelBuilder> security() {
    if ((certificate == null) != (key == null)) {
      throw new ParameterException(command.commandLine(), "--cert and --key go together");
    }
    String name = serverName;
    if (!tls && authorities == null && certificate == null && name == null) {
      return NettyChannelBuilder::usePlaintext;
    }
    SslContext context = context();
    return channel -> {
      channel.sslContext(context);
      if (name != null) {
        channel.overrideAuthority(name);
      }
    };
  }

  private SslContext context() {
    SslContextBuilder builder = GrpcSslContexts.forClient();
    Path trusted = authorities;
    Path chain = certificate;
    Path ofChain = key;
    try {
      if (trusted != null) {
        builder.trustManager(PemFiles.certificates(trusted, PemFiles.bytes(trusted)));
      }
      if (chain != null && ofChain != null) {
        KeyStore.PrivateKeyEntry own = PemFiles.identity(chain, ofChain);
        builder.keyManager(own.getPrivateKey(), (X509Certificate[]) own.getCertificateChain());
      }
      return builder.build();
    } catch (IOException e) {
      throw new ParameterException(command.commandLine(), e.getMessage(), e);
    }
  }
}
