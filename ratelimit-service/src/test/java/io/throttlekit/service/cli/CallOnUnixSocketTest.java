package io.throttlekit.service.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.bootstrap.AbstractBootstrap;
import io.netty.channel.epoll.Epoll;
import io.throttlekit.service.Logged;
import io.throttlekit.service.RateLimitService;
import io.throttlekit.service.config.load.Options;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CallOnUnixSocketTest {

  @TempDir private Path folder;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @Test
  void isAnsweredWithoutLogLinesOfLibraries() throws IOException {
    assumeTrue(Epoll.isAvailable());
    Path socket = folder.resolve("rl.sock");
    RateLimitService service = start(socket);
    try (Logged logged = Logged.by(AbstractBootstrap.class)) {
      assertThat(call(socket)).isZero();
      assertThat(err.toString()).isEmpty();
      assertThat(out.toString()).startsWith("OK: the request may pass\n  user=a: OK, 1 left");
      assertThat(logged.lines()).isEmpty();
    } finally {
      service.stop();
    }
  }

  @Test
  void reportsThatNoServerListens() {
    assumeTrue(Epoll.isAvailable());
    Path socket = folder.resolve("nobody.sock");
    assertThat(call(socket)).isEqualTo(1);
    assertThat(err.toString())
        .startsWith("error: no answer from unix:" + socket + ": ")
        .doesNotContain("Exception")
        .hasLineCount(1);
  }

  private int call(Path socket) {
    String[] line = {"call", "unix:" + socket, "--domain", "shop", "user=a"};
    return CommandLineTool.run(line, Map.of(), new PrintWriter(out), new PrintWriter(err));
  }

  private RateLimitService start(Path socket) throws IOException {
    Path policies =
        Files.writeString(
            folder.resolve("p.yaml"),
            """
            domain: shop
            descriptors: [{key: user, rate_limit: {unit: day, requests_per_unit: 2}}]
            """);
    Map<String, String> environment =
        Map.of(
            "THROTTLEKIT_POLICIES_PATHS",
            policies.toString(),
            "THROTTLEKIT_HTTP_HOST",
            "127.0.0.1",
            "THROTTLEKIT_WARM_UP_REQUESTS",
            "0",
            "GRPC_UDS",
            socket.toString());
    Map<String, List<String>> flags = Options.of("--http-port", "0", "--debug-port", "0");
    return RunningService.with(environment, flags);
  }
}
