package io.throttlekit.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.bench.command.ProgramHome;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the sizes that {@code bin/lib/sizing.sh} chooses, by files like those of the kernel. */
@Tag("process")
class SizingScriptTest {
  private static final String CHOOSE =
      """
      set -euo pipefail
      . "$0"
      sys=$1 proc=$2 online=$3
      shift 3
      read_memory "$sys" "$proc"
      read_processors "$sys" "$proc" "$online"
      size_jvm "$memory_mib" "$processor_millis" "$memory_limited" "$@"
      printf '%s %s, %s %s: ' "$memory_mib" "$memory_why" "$processor_millis" "$processor_why"
      printf '%s %s %s: %s\\n' "$heap_mib" "$direct_mib" "$collector" "${sized[*]}"
      """;
  private static final String V2 = "0::/\n";
  private static final String V1 = "4:memory:/docker/a\n2:cpu,cpuacct:/docker/a\n";

  @TempDir private Path folder;
  private Path sys = Path.of("");
  private Path proc = Path.of("");

  @BeforeEach
  void makeAMachine() throws IOException {
    sys = Files.createDirectory(folder.resolve("sys"));
    proc = Files.createDirectory(folder.resolve("proc"));
    write(proc, "meminfo", "MemTotal: 16777216 kB\nMemFree: 1 kB\n"); // 16 GiB
    write(sys, "cgroup.controllers", "cpu memory\n");
    write(proc, "self/cgroup", V2);
  }

  @ParameterizedTest
  @CsvSource({
    "  128,   48,   32",
    "  256,   96,   32",
    "  512,  277,   32",
    " 1024,  640,   64",
    " 2048, 1536,  128",
    " 4096, 3072,  256",
    "12288, 9216,  256"
  })
  void theHeapLeavesRoomForEverythingElse(int memory, int heap, int direct) throws Exception {
    write(sys, "memory.max", ((long) memory << 20) + "\n");
    assertThat(choose())
        .startsWith(memory + " memory.max, ")
        .contains(": %d %d ".formatted(heap, direct))
        .contains(
            "-Xms26m -Xmx%dm -Dio.netty.maxDirectMemory=%d".formatted(heap, (long) direct << 20));
    assertThat(heap + direct).isLessThan(memory);
  }

  @ParameterizedTest
  @CsvSource({
    "1024, 200000 100000, 2000 cpu.max, G1",
    "1023, 200000 100000, 2000 cpu.max, Serial",
    "1024, 150000 100000, 1500 cpu.max, Serial",
    "1024, 50000 20000,   2500 cpu.max, G1",
    "1024, 900000 100000, 8000 no limit, G1", // more than the machine has
    "1024, max 100000,    8000 no limit, G1",
    "4096, 50000 100000,  500 cpu.max, Serial"
  })
  void aCollectorWithSeveralThreadsNeedsTwoProcessorsAndAGiB(
      int memory, String quota, String processors, String collector) throws Exception {
    write(sys, "memory.max", ((long) memory << 20) + "\n");
    write(sys, "cpu.max", quota + "\n");
    assertThat(choose())
        .contains(", " + processors + ": ")
        .contains(" " + collector + ": ")
        .contains("-XX:+Use" + collector + "GC");
  }

  @Test
  void aLimitOfAGroupAboveCounts() throws Exception {
    write(proc, "self/cgroup", "0::/pods/one\n");
    write(sys, "memory.max", "max\n");
    write(sys, "pods/memory.max", (512L << 20) + "\n");
    write(sys, "pods/cpu.max", "100000 100000\n");
    write(sys, "pods/one/memory.max", (2048L << 20) + "\n");
    write(sys, "pods/one/cpu.max", "max 100000\n");
    assertThat(choose()).startsWith("512 memory.max, 1000 cpu.max: 277 ");
  }

  @Test
  void readsVersion1AlsoWhereAContainerLacksTheFoldersOfItsHost() throws Exception {
    Files.delete(sys.resolve("cgroup.controllers"));
    write(proc, "self/cgroup", V1);
    write(sys, "memory/memory.limit_in_bytes", (256L << 20) + "\n");
    write(sys, "cpu/cpu.cfs_quota_us", "-1\n");
    write(sys, "cpu/cpu.cfs_period_us", "100000\n");
    assertThat(choose()).startsWith("256 memory.limit_in_bytes, 8000 no limit: 96 ");
    write(sys, "memory/docker/a/memory.limit_in_bytes", "9223372036854771712\n"); // none
    write(sys, "cpu/docker/a/cpu.cfs_quota_us", "150000\n");
    write(sys, "cpu/docker/a/cpu.cfs_period_us", "100000\n");
    assertThat(choose()).startsWith("256 memory.limit_in_bytes, 1500 cpu.cfs_quota_us: 96 ");
    write(sys, "memory/memory.limit_in_bytes", "9223372036854771712\n");
    assertThat(choose()).startsWith("1024 no limit, ");
  }

  @Test
  void withoutALimitTheSizesAreThoseForOneGiBOrOfASmallerMachine() throws Exception {
    assertThat(choose()).startsWith("1024 no limit, 8000 no limit: 640 64 Serial: ");
    write(proc, "meminfo", "MemTotal: 524288 kB\n");
    assertThat(choose()).startsWith("512 the machine's, 8000 no limit: 277 32 Serial: ");
  }

  @ParameterizedTest
  @CsvSource({"'max'", "''", "'-1'", "'x; rm -rf /'", "'99999999999999999999999'"})
  void aFileThatHasNoNumberIsNoLimit(String content) throws Exception {
    write(sys, "memory.max", content);
    write(sys, "cpu.max", content);
    assertThat(choose()).startsWith("1024 no limit, 8000 no limit: ");
  }

  @Test
  void aMachineWithoutCgroupsIsOfOneGiB() throws Exception {
    Files.delete(proc.resolve("self/cgroup"));
    Files.delete(proc.resolve("meminfo"));
    assertThat(choose()).startsWith("1024 no limit, 8000 no limit: 640 64 Serial: ");
  }

  @Test
  void aCollectorOfTheUserReplacesOurs() throws Exception {
    assertThat(choose("-Xmx1g", "-XX:+UseZGC")).doesNotContain("UseG1GC", "UseSerialGC", "-Xmn");
  }

  @Test
  void theProgramPassesTheSizesTheUsersOptionsAndWhyWhereItPrintsTheConfiguration()
      throws Exception {
    ProgramHome program = ProgramHome.in(folder);
    program.jar();
    String plain = program.run("check", "p").out();
    assertThat(plain).containsPattern(" -Xmx\\d+m ").doesNotContain("-Dthrottlekit.sizing");
    String printed =
        program
            .run(
                Map.of("THROTTLEKIT_JAVA_OPTIONS", "-Xmx99m -XX:+UseParallelGC"),
                "serve",
                "--print-config")
            .out();
    assertThat(printed)
        .containsPattern(" -Xmx\\d+m .*-Dthrottlekit.sizing=memory: .* -Xmx99m -XX:\\+UseParallel")
        .contains("collector: that of THROTTLEKIT_JAVA_OPTIONS")
        .doesNotContain("UseSerialGC", "UseG1GC");
  }

  private String choose(String... options) throws Exception {
    List<String> command = new ArrayList<>();
    command.addAll(List.of("bash", "-c", CHOOSE, Path.of("../bin/lib/sizing.sh").toString()));
    command.addAll(List.of(sys.toString(), proc.toString(), "8"));
    command.addAll(List.of(options));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(5, TimeUnit.MINUTES)).isTrue();
    assertThat(process.exitValue()).as(out).isZero();
    return out;
  }

  private static void write(Path in, String file, String content) throws IOException {
    Path path = in.resolve(file);
    Files.createDirectories(path.getParent());
    Files.writeString(path, content);
  }
}
