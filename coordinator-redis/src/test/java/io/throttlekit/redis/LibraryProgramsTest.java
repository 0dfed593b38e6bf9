package io.throttlekit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.testkit.redis.RealRedis;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Compiles and runs the programs of docs/LIBRARY.md. */
@RealRedis
class LibraryProgramsTest {
  private static final Pattern PROGRAM =
      Pattern.compile("```java\n(.*?public class (\\w+) .*?)```", Pattern.DOTALL);
  private static final long TIMEOUT_MINUTES = 5;

  /** The deadlines of a program, and those that are long enough for a busy machine. */
  private static final String DEADLINES = "Duration.ofSeconds(10)";

  private static final String LONG_DEADLINES = "Duration.ofMinutes(4)";

  private static final String WAIT = "get(10, TimeUnit.SECONDS)";
  private static final String LONG_WAIT = "get(4, TimeUnit.MINUTES)";

  @RegisterExtension private static final OneRedis REDIS = new OneRedis();

  @TempDir private Path folder;

  @Test
  void theLeasedLimitAdmitsExactlyTheLimit() throws Exception {
    String program = program("LeasedLimit");
    assertThat(program).contains(DEADLINES);
    assertThat(program).contains(WAIT);
    program = program.replace(DEADLINES, LONG_DEADLINES).replace(WAIT, LONG_WAIT);
    assertThat(run("LeasedLimit", program, REDIS.url())).isEqualTo("100 of 150 admitted\n");
    assertThat(run("LeasedLimit", program, REDIS.url())).isEqualTo("0 of 150 admitted\n");
  }

  @Test
  void theConcurrencyLimitServesOrRefusesEachCall() throws Exception {
    Matcher printed =
        Pattern.compile("(\\d+) served, (\\d+) refused\n")
            .matcher(run("LimitedCalls", program("LimitedCalls")));
    assertThat(printed.matches()).isTrue();
    int served = Integer.parseInt(printed.group(1));
    assertThat(served).isPositive();
    assertThat(served + Integer.parseInt(printed.group(2))).isEqualTo(1_000);
  }

  @Test
  void everyProgramOfThePageIsRun() throws IOException {
    assertThat(PROGRAM.matcher(page()).results().map(each -> each.group(2)))
        .containsExactly("LeasedLimit", "LimitedCalls");
  }

  private static String program(String name) throws IOException {
    return PROGRAM
        .matcher(page())
        .results()
        .filter(each -> each.group(2).equals(name))
        .map(each -> each.group(1))
        .findFirst()
        .orElseThrow();
  }

  /** Returns what a program prints; its errors are shown if the test fails. */
  private String run(String program, String text, String... arguments) throws Exception {
    Path source = Files.writeString(folder.resolve(program + ".java"), text);
    String classPath = System.getProperty("java.class.path");
    int failures =
        ToolProvider.getSystemJavaCompiler()
            .run(
                null,
                null,
                null,
                "-classpath",
                classPath,
                "-Xlint:all,-processing",
                "-Werror",
                "-proc:none",
                "-d",
                folder.toString(),
                source.toString());
    assertThat(failures).isZero();
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-classpath", folder + ":" + classPath));
    command.addAll(List.of("--enable-native-access=ALL-UNNAMED", program));
    command.addAll(List.of(arguments));
    Path errors = folder.resolve("errors");
    Process process = new ProcessBuilder(command).redirectError(errors.toFile()).start();
    try {
      // Read beside the wait: a program that hangs must not hang the test.
      CompletableFuture<String> printed = CompletableFuture.supplyAsync(() -> read(process));
      String output = printed.get(TIMEOUT_MINUTES, TimeUnit.MINUTES);
      assertThat(process.waitFor()).as(() -> readErrors(errors)).isZero();
      return output;
    } finally {
      process.destroyForcibly();
    }
  }

  private static String readErrors(Path errors) {
    try {
      return Files.readString(errors);
    } catch (IOException e) {
      return e.toString();
    }
  }

  private static String read(Process process) {
    try {
      return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      return e.toString();
    }
  }

  private static String page() throws IOException {
    String root = Objects.requireNonNull(System.getProperty("throttlekit.root"));
    return Files.readString(Path.of(root, "docs/LIBRARY.md"));
  }
}
