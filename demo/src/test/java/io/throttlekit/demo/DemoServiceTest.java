package io.throttlekit.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DemoServiceTest {
  @TempDir private Path folder;

  @Test
  void listensOnLoopbackAlone() throws IOException {
    Path policy = Files.writeString(folder.resolve("p.yaml"), "domain: demo\n");
    Path log = folder.resolve("log");
    try (DemoService service = DemoService.start(policy, log)) {
      assertThat(service.port()).isPositive();
      assertThat(Files.readString(log))
          .containsPattern(
              "ready grpc=127\\.0\\.0\\.1:\\d+ http=127\\.0\\.0\\.1:\\d+"
                  + " debug=127\\.0\\.0\\.1:\\d+");
    }
  }
}
