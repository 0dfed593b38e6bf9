package io.throttlekit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * Tests that a project that depends on the artifact gets the versions of this build: Maven does not
 * apply this build's dependency management there, but direct dependencies have precedence.
 */
class ConsumerVersionsTest {
  private static final Pattern MANAGED_JAR =
      Pattern.compile(
          "(netty-[a-z-]*[a-z]|slf4j-api)-(\\d[0-9.]*(?:\\.Final)?)(?:-linux.*)?\\.jar");
  private static final Pattern ARTIFACT = Pattern.compile("<artifactId>(.*)</artifactId>");

  @Test
  void everyNettyOfTheClassPathIsADirectDependencyOfOneVersion() throws IOException {
    Set<String> names = new HashSet<>();
    Set<String> versions = new HashSet<>();
    for (String path : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
      Matcher jar = MANAGED_JAR.matcher(Path.of(path).getFileName().toString());
      if (jar.matches()) {
        names.add(jar.group(1));
        if (jar.group(1).startsWith("netty")) {
          versions.add(jar.group(2));
        }
      }
    }
    assertThat(names).contains("netty-common", "netty-codec-dns", "slf4j-api");
    assertThat(artifacts("pom.xml")).containsAll(names);
    assertThat(versions).hasSize(1);
  }

  @Test
  void theConnectionPoolOfPostgresGetsTheVersionOfSlf4jToo() throws IOException {
    assertThat(artifacts("../coordinator-postgres/pom.xml")).contains("slf4j-api");
  }

  private static Set<String> artifacts(String pom) throws IOException {
    Set<String> artifacts = new HashSet<>();
    ARTIFACT
        .matcher(Files.readString(Path.of(pom)))
        .results()
        .forEach(found -> artifacts.add(found.group(1)));
    return artifacts;
  }
}
