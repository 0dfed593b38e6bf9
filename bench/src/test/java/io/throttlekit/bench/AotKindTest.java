package io.throttlekit.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.bench.command.ProgramHome;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests for which kind of counters {@code bin/throttlekit} makes and uses an AOT cache. */
@Tag("process")
class AotKindTest extends AotScene {
  @Test
  void theDryRunDecidesForWhichCountersToTrain() throws Exception {
    program.java(training("200000"), "echo shared");
    assertThat(serveAndTrain("serve").errors()).isEmpty();
    assertThat(caches()).singleElement().asString().startsWith("shared-");

    var _ = serveAndTrain("serve");
    assertThat(log()).contains("Z no training: there is a cache for shared counters");
    assertThat(caches()).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"--config FILE", "--config=FILE"})
  void aConfigurationWithRedisHasItsOwnCache(String config) throws Exception {
    Path file = program.home().resolve("with-redis.yaml");
    Files.writeString(file, "# no memory\nstore: {uri: redis://127.0.0.1}\n");
    program.java(training("200000"));
    var _ = serveAndTrain("serve");
    program.java(training("200000"), ASKED_FOR_SHARED);
    String[] arguments = describe("serve " + config, file);
    assertThat(serveAndTrain(arguments).out()).doesNotContain("AOTCache");
    assertUsesCache("shared", Map.of(), arguments);
    assertUsesCache("memory", Map.of(), "serve");
    assertThat(program.home().resolve("asked")).hasContent("x");
    assertThat(caches()).hasSize(2);
  }

  @ParameterizedTest
  @Tag("thorough")
  @CsvSource({
    "memory, serve --config REDIS --store memory, ''",
    "memory, serve, REDIS_URL=h:1 BACKEND_TYPE=memcache",
    "memory, serve --config REDIS, THROTTLEKIT_STORE_URI=memory",
    "memory, serve --policies /etc/redis/p --debug-port=x:1, ''",
    "memory, serve --policies redis://h:1, ''",
    "memory, serve --config MEMORY, THROTTLEKIT_CONFIG=REDIS",
    "memory, serve --coordinator redis://h:1, ''",
    "shared, serve --config MEMORY, REDIS_URL=h:1",
    "shared, serve, REDIS_URL=h:1 BACKEND_TYPE=redis",
    "shared, serve, THROTTLEKIT_STORE_URI=redis-socket:///run/r",
    "shared, serve --store redis://h:1, THROTTLEKIT_STORE_URI=memory",
    "shared, serve --config REDIS, REDIS_URL=h:1 BACKEND_TYPE=memcache",
    "shared, serve --store postgres://h/d, ''",
  })
  void theKindFollowsEveryOtherSetting(String kind, String arguments, String variables)
      throws Exception {
    theCacheOfTheServicesKindIsUsed(kind, arguments, variables);
  }

  @ParameterizedTest
  @CsvSource({
    "memory, serve --store memory, REDIS_URL=h:1",
    "memory, serve --store=memory, THROTTLEKIT_STORE_URI=redis://h:1",
    "memory, serve, REDIS_URL=h:1 THROTTLEKIT_STORE_URI=memory",
    "memory, serve --config REGION, ''",
    "shared, serve, REDIS_URL=h:1",
    "shared, serve --store=REDISS://h:1, ''",
    "shared, serve, THROTTLEKIT_CONFIG=REDIS",
    "shared, serve --config POSTGRES, ''",
    "shared, serve, THROTTLEKIT_STORE_URI=postgresql://h/d",
  })
  void theCacheOfTheServicesKindIsUsed(String kind, String arguments, String variables)
      throws Exception {
    Path redis = Files.writeString(folder.resolve("r.yaml"), "store: {uri: redis://h}\n");
    Path memory = Files.writeString(folder.resolve("m.yaml"), "store: {uri: memory}\n");
    Path postgres =
        Files.writeString(folder.resolve("p.yaml"), "store:\n  uri: \"postgresql://h/d\"\n");
    Path region =
        Files.writeString(folder.resolve("f.yaml"), "federation:\n  coordinator: redis://h\n");
    Map<String, String> environment = new HashMap<>();
    for (String variable : describe(variables, redis)) {
      String[] parts = variable.split("=", 2);
      if (parts.length == 2) {
        environment.put(parts[0], parts[1]);
      }
    }
    String files =
        arguments
            .replace("MEMORY", memory.toString())
            .replace("POSTGRES", postgres.toString())
            .replace("REGION", region.toString());
    String[] words = describe(files, redis);
    program.java(training("200000"), kind.equals("memory") ? ASKED_FOR_MEMORY : ASKED_FOR_SHARED);
    assertThat(serveAndTrain(environment, words).errors()).isEmpty();
    assertUsesCache(kind, environment, words);
    assertThat(program.home().resolve("asked")).hasContent("x");
  }

  @ParameterizedTest
  @ValueSource(strings = {"--config", "--policies"})
  void aConfigurationReadableOnlyOnceIsLeftToTheService(String option) throws Exception {
    Files.delete(program.serving());
    program.java(
        training("200000"), "cat \"${*: -2:1}\" >/dev/null; echo x >HOME/asked; echo memory");
    ProgramHome.Ended ended = program.runWithPipe("store: {uri: redis://h}", "serve", option);
    assertThat(ended.errors()).isEmpty();
    assertThat(ended.out()).startsWith("run ").endsWith("\nstore: {uri: redis://h}");
    assertThat(ended.out()).doesNotContain("AOTCache");
    assertNotTrained();
  }

  @ParameterizedTest
  @CsvSource({"--config, ''", "--policies=p, /dev/null"})
  void aConfigurationThatIsNotARegularFileIsLeftToTheService(String argument, String variable)
      throws Exception {
    program.java(training("200000"), ASKED_FOR_MEMORY);
    ProgramHome.Ended ended =
        serveAndTrain(Map.of("THROTTLEKIT_CONFIG", variable), "serve", argument, folder.toString());
    assertThat(ended.errors()).isEmpty();
    assertThat(ended.out()).startsWith("run ").doesNotContain("AOTCache");
    assertNotTrained();
  }

  /** Returns the words, with this file for {@code FILE} and {@code REDIS}. */
  private static String[] describe(String text, Path file) {
    return Arrays.stream(text.split(" "))
        .map(word -> word.replaceFirst("(?<![A-Z])(FILE|REDIS)(?![A-Z_])", file.toString()))
        .toArray(String[]::new);
  }
}
