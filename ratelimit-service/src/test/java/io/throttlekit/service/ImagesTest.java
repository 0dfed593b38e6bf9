package io.throttlekit.service;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The images that the files of Docker name, each by an exact version, and the one they build. */
class ImagesTest {
  private static final Path ROOT = Path.of("..");
  private static final Pattern IMAGE =
      Pattern.compile(
          "^ *image: +(\\S+)|^ARG [A-Z]+=(\\S+:\\S+)|^FROM +([a-z]\\S*:\\S+)", Pattern.MULTILINE);
  private static final Pattern EXACT =
      Pattern.compile("[^:@]+:v?\\d+\\.\\d+(\\.\\d+)?[^:@]*(@sha256:[0-9a-f]{64})?");
  private static final Pattern REDIS = Pattern.compile("redis:(\\d+)\\.(\\d+)\\.(\\d+)\\b.*");

  @Test
  void noImageHasAFloatingTag() throws IOException {
    assertThat(images())
        .hasSizeGreaterThan(8)
        .filteredOn(image -> !image.equals("throttlekit:mesh")) // built from this tree
        .allMatch(image -> EXACT.matcher(image).matches());
  }

  @Test
  void redisHasTheFixesOfVersion746() throws IOException {
    assertThat(images())
        .filteredOn(image -> image.startsWith("redis:"))
        .isNotEmpty()
        .allSatisfy(image -> {
          Matcher version = REDIS.matcher(image);
          assertThat(version.matches()).isTrue();
          int number = 0;
          for (int part = 1; part <= 3; part++) {
            number = 1_000 * number + Integer.parseInt(version.group(part));
          }
          assertThat(number).isGreaterThanOrEqualTo(7_004_006);
        });
  }

  @Test
  void theDockerfileConfiguresItsImageAsJibDoes() throws IOException {
    String pom = Files.readString(ROOT.resolve("deploy/image/pom.xml"));
    String jib = pom.substring(pom.indexOf("<container>"), pom.indexOf("</container>"));
    String dockerfile = Files.readString(ROOT.resolve("Dockerfile"));
    assertThat(dockerfile.substring(dockerfile.lastIndexOf("\nFROM ")).lines())
        .contains(
            "ENV " + String.join(" ", each(jib, "<([A-Z_]+)>([^<]+)<")),
            "USER " + String.join(" ", each(jib, "<user>([^<]+)<")),
            "EXPOSE " + String.join(" ", each(jib, "<port>([^<]+)<")),
            "ENTRYPOINT [\"" + String.join("\", \"", each(jib, "<entrypoint>([^<]+)<")) + "\"]",
            "CMD [\"" + String.join("\", \"", each(jib, "<arg>([^<]+)<")) + "\"]");
  }

  /** Returns what the groups of a pattern match, joined by {@code =}. */
  private static List<String> each(String text, String pattern) {
    return Pattern.compile(pattern)
        .matcher(text)
        .results()
        .map(match ->
            match.groupCount() == 1 ? match.group(1) : match.group(1) + "=" + match.group(2))
        .toList();
  }

  private static List<String> images() throws IOException {
    List<String> images = new ArrayList<>();
    for (String file : List.of("docker-compose.yml", "Dockerfile")) {
      Matcher image = IMAGE.matcher(Files.readString(ROOT.resolve(file)));
      while (image.find()) {
        for (int group = 1; group <= image.groupCount(); group++) {
          if (image.group(group) != null) {
            images.add(image.group(group));
          }
        }
      }
    }
    return images;
  }
}
