package io.throttlekit.store;

import java.net.UnknownHostException;
import java.nio.channels.ClosedChannelException;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertificateException;
import java.util.Objects;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** Describes failures of connections to operators. */
public final class RootCause {
  private static final int MAX_CAUSES = 8; // causes may be cyclic

  private RootCause() {}

  /**
   * Returns the message of the innermost cause of a failure, which names it. Where that is only the
   * name of a host, absent, or does not say that TLS is the subject, it is completed.
   */
  public static String message(@Nullable Throwable failure) {
    if (failure == null) {
      return "unknown";
    }
    Throwable innermost = innermost(failure);
    String message = innermost.getMessage();
    if (message == null) {
      return switch (innermost) {
        case ClosedChannelException _ -> "connection closed before an answer";
        case TimeoutException _ -> "timed out";
        default -> innermost.toString();
      };
    }
    return switch (innermost) {
      case UnknownHostException unknown when isNameUnresolved(unknown) ->
          "name resolution timed out: " + message.strip();
      case UnknownHostException _ -> "unknown host: " + message.strip();
      case SSLException _ when !message.contains("TLS") -> "TLS failed: " + message;
      case CertPathBuilderException _, CertificateException _ -> "TLS failed: " + message;
      default -> message;
    };
  }

  /** Returns the innermost cause of a failure, or the unknown host before it. */
  public static Throwable innermost(Throwable failure) {
    Throwable innermost = failure;
    for (int i = 0; i < MAX_CAUSES && innermost.getCause() != null; i++) {
      if (innermost instanceof UnknownHostException) {
        break; // its cause describes an answer of DNS
      }
      innermost = innermost.getCause();
    }
    return innermost;
  }

  /** Returns whether no name server has responded in time, so that the host may exist. */
  public static boolean isNameUnresolved(Throwable failure) {
    Throwable innermost = innermost(failure);
    return innermost instanceof UnknownHostException
        && causes(innermost.getCause())
            .anyMatch(cause -> String.valueOf(cause.getMessage()).contains("timed out"));
  }

  /** Returns a failure and its causes, the outermost first; none without a failure. */
  public static Stream<Throwable> causes(@Nullable Throwable failure) {
    return Stream.<@Nullable Throwable>iterate(
            failure, Objects::nonNull, each -> each == null ? null : each.getCause())
        .limit(MAX_CAUSES)
        .map(Objects::requireNonNull);
  }
}
