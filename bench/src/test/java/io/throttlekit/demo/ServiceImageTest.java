package io.throttlekit.demo;

import static io.throttlekit.demo.ComposeFile.PROJECT;
import static io.throttlekit.demo.DockerEngine.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.throttlekit.required.Requires;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The image of the {@code Dockerfile}, on a base that is made here instead of fetched. */
@Requires(DockerEngine.class)
class ServiceImageTest {
  private static final String BASE = "throttlekit-test-base:1";
  private static final String IMAGE = "throttlekit-test:1";
  private static final String REQUEST =
      "{\"domain\":\"d\",\"descriptors\":[{\"entries\":[{\"key\":\"user\",\"value\":\"anna\"}]}]}";

  @TempDir private Path folder;

  @Test
  @Timeout(1_800)
  void isHealthyAndDecidesWithoutRights() throws Exception {
    buildImage();
    Path policies = Files.createDirectory(folder.resolve("policies"));
    Files.writeString(
        policies.resolve("p.yaml"),
        "domain: d\ndescriptors: [{key: user, rate_limit: {unit: hour, requests_per_unit: 1}}]\n");
    String container =
        run(
            List.of(
                "docker",
                "run",
                "--detach",
                "--publish",
                "127.0.0.1::8080",
                "--volume",
                policies + ":/etc/throttlekit/policies:ro",
                IMAGE));
    try {
      await()
          .atMost(Duration.ofMinutes(2))
          .until(() -> inspect("{{.State.Health.Status}}", container).equals("healthy"));
      assertThat(run(List.of("docker", "exec", container, "id", "-u"))).isEqualTo("10001");
      String address = run(List.of("docker", "port", container, "8080/tcp"));
      assertThat(decide(address)).contains("\"OK\"");
      assertThat(decide(address)).contains("\"OVER_LIMIT\"");
      run(List.of("docker", "stop", container));
      assertThat(inspect("{{.State.ExitCode}}", container)).isEqualTo("0");
    } finally {
      run(List.of("docker", "rm", "--force", container));
      run(List.of("docker", "rmi", IMAGE, BASE));
    }
  }

  private void buildImage() throws IOException {
    Path root = folder.resolve("root");
    Path archive = folder.resolve("root.tar");
    run(List.of("debootstrap", "--variant=minbase", "bookworm", root.toString()));
    run(List.of("tar", "-C", root.toString(), "-cf", archive.toString(), "."));
    run(List.of("docker", "import", archive.toString(), BASE));
    Path context = Files.createDirectory(folder.resolve("context"));
    Path opt = Files.createDirectory(context.resolve("opt"));
    run(
        List.of(
            PROJECT.resolve("deploy/image/assemble").toString(),
            opt.resolve("throttlekit").toString(),
            opt.resolve("java").toString()));
    String dockerfile = Files.readString(PROJECT.resolve("Dockerfile"));
    Files.writeString(
        context.resolve("Dockerfile"),
        dockerfile
            .substring(dockerfile.indexOf("FROM debian"))
            .replaceAll("debian:\\S+", BASE)
            .replace("--from=build /image", "opt"));
    run(List.of("docker", "build", "--tag", IMAGE, context.toString()));
  }

  private static String inspect(String format, String container) throws IOException {
    return run(List.of("docker", "inspect", "--format", format, container));
  }

  private static String decide(String address) throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://" + address + "/json"))
            .POST(BodyPublishers.ofString(REQUEST))
            .build();
    try (HttpClient http = HttpClient.newHttpClient()) {
      return http.send(request, BodyHandlers.ofString()).body();
    }
  }
}
