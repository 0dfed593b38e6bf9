package io.throttlekit.service.cli;

import static io.throttlekit.service.cli.CommandResult.run;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.service.RateLimitService;
import io.throttlekit.service.config.load.Options;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.StreamHandler;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CommandLineToolTest {

  private static final String GOOD =
      """
      domain: shop
      descriptors:
        - key: user
          rate_limit: {unit: hour, algorithm: sliding_log, requests_per_unit: 2}
      """;
  private static final String BAD =
      """
      domain: shop
      descriptors:
        - kye: user
        - key: a
          rate_limit: {unit: fortnight, requests_per_unit: -1}
      """;

  @TempDir private Path folder;
  private Path good = Path.of("");
  private Path bad = Path.of("");

  @BeforeEach
  void writePolicies() throws IOException {
    good = Files.writeString(folder.resolve("good.yaml"), GOOD);
    bad = Files.writeString(folder.resolve("bad.yaml"), BAD);
  }

  @Test
  void checkOfValidPoliciesExitsWith0() {
    CommandResult ran = run("check", good.toString());
    assertThat(ran.code()).isZero();
    assertThat(ran.out()).isEqualTo("ok: 0 errors, 0 warnings in 1 file; 1 rule in 1 domain\n");
    assertThat(ran.err()).isEmpty();
  }

  @Test
  void checkOfInvalidPoliciesPrintsEveryProblemAndExitsWith1() {
    CommandResult ran = run("check", bad.toString());
    assertThat(ran.code()).isEqualTo(1);
    assertThat(ran.out().lines().filter(line -> line.startsWith(bad + ":")).count())
        .isGreaterThanOrEqualTo(3);
    assertThat(ran.out()).contains(bad + ":3:").contains(bad + ":5:").endsWith(" in 1 file\n");
  }

  @Test
  void checkForMachinesIsOneJsonObject() {
    CommandResult ran = run("check", "--json", bad.toString());
    assertThat(ran.code()).isEqualTo(1);
    assertThat(ran.out().lines()).hasSize(1);
    assertThat(ran.out())
        .startsWith("{\"ok\":false,\"files\":1,\"errors\":")
        .contains("\"severity\":\"error\",\"file\":\"" + bad + "\",\"line\":3");
    assertThat(run("check", "--json", good.toString()).out())
        .isEqualTo("{\"ok\":true,\"files\":1,\"errors\":0,\"warnings\":0,\"problems\":[]}\n");
  }

  @Test
  void explainShowsTheRuleTheStepsAndNearMisses() {
    CommandResult found =
        run("explain", "--policies", good.toString(), "--domain", "shop", "user=bob");
    assertThat(found.code()).isZero();
    assertThat(found.out())
        .contains("user=bob:")
        .contains(good + ":4:")
        .contains("entry 1 user=bob");
    CommandResult missed =
        run("explain", "--policies", good.toString(), "--domain", "shop", "User=bob");
    assertThat(missed.code()).isZero();
    assertThat(missed.out()).contains("near miss:");
  }

  @Test
  void checkAndExplainAcceptGlobalRules() throws IOException {
    String limit = "{unit: day, requests_per_unit: 5, scope: global, on_outage: regional_only}";
    String text = "domain: shop\ndescriptors: [{key: user, rate_limit: " + limit + "}]\n";
    String global = Files.writeString(folder.resolve("global.yaml"), text).toString();
    assertThat(run("check", global).out()).startsWith("ok: 0 errors, 0 warnings in 1 file");
    assertThat(run("explain", "--policies", global, "--domain", "shop", "user=a").out())
        .contains("leased over all regions in adaptive batches, on outage regional_only");
  }

  @Test
  void checkWarnsOfGuaranteesThatCanBe0AndExplainShowsTheTenant() throws IOException {
    String policy =
        """
        domain: shop
        descriptors:
          - key: api
            rate_limit:
              unit: minute
              requests_per_unit: LIMIT
              fair_share: {tenant: org, weights: {acme: 999, umbrella: 1}}
        """;
    String path = folder.resolve("shared.yaml").toString();
    Files.writeString(Path.of(path), policy.replace("LIMIT", "700"));
    CommandResult checked = run("check", path);
    assertThat(checked.code()).isZero();
    assertThat(checked.out())
        .contains("warning: `umbrella` can be guaranteed 0 of 700: its weight is 1 of 1000")
        .endsWith("ok: 0 errors, 1 warning in 1 file; 1 rule in 1 domain\n");
    Files.writeString(Path.of(path), policy.replace("LIMIT", "70000"));
    assertThat(run("check", path).out()).startsWith("ok: 0 errors, 0 warnings");
    assertThat(run("explain", "--policies", path, "--domain", "shop", "api=v1,org=umbrella").out())
        .contains(
            "tenant umbrella: weight 1 (listed)",
            "guarantee: at least 35 of 70000 per minute",
            "refused: if its guarantee is used and the rest is reserved for other tenants",
            "pool of all tenants: api=v1");
  }

  @Test
  void explainOfInvalidPoliciesPrintsTheProblemsAndExitsWith1() {
    CommandResult ran =
        run("explain", "--policies", bad.toString(), "--domain", "shop", "user=bob");
    assertThat(ran.code()).isEqualTo(1);
    assertThat(ran.err()).contains(bad + ":3:").contains("in the policies");
  }

  @Test
  void callPrintsTheAnswerAndExitsWith0Or3() {
    RateLimitService service = start();
    try {
      String target = service.grpcAddress();
      CommandResult first = run("call", target, "--domain", "shop", "user=a", "other=b");
      assertThat(first.code()).isZero();
      assertThat(first.out())
          .startsWith(
              "OK: the request may pass\n  user=a: OK, 1 left, limit 2 per hour, resets in ")
          .contains("\n  other=b: OK, no limit\n");
      CommandResult look = run("call", target, "--domain", "shop", "--hits", "0", "user=a");
      assertThat(look.out())
          .startsWith("OK: just a look, nothing was charged\n")
          .contains("OK, 1 left, limit 2 per hour");
      CommandResult refused = run("call", target, "--domain", "shop", "--hits", "2", "user=a");
      assertThat(refused.code()).isEqualTo(3);
      assertThat(refused.out())
          .startsWith(
              "OVER_LIMIT: the request is refused\n"
                  + "  user=a: OVER_LIMIT, 1 left for a cost of 2, limit 2 per hour")
          .contains("header Retry-After: ");
      CommandResult json = run("call", target, "--domain", "shop", "--json", "user=a");
      assertThat(json.out()).startsWith("{\"overallCode\":\"OK\",\"statuses\":[{");
      CommandResult invalid = run("call", target, "--domain", "", "user=a");
      assertThat(invalid.code()).isEqualTo(1);
      assertThat(invalid.err())
          .isEqualTo(
              "error: "
                  + target
                  + " answered INVALID_ARGUMENT: rate limit domain must not be empty\n");
      String http = service.readyLine().replaceFirst(".* http=(\\S+) .*", "$1");
      CommandResult otherPort = run("call", http, "--domain", "shop", "user=a");
      assertThat(otherPort.err())
          .isEqualTo(
              "error: no answer from %s: it does not support gRPC; is this the service's gRPC port?\n"
                  .formatted(http));
    } finally {
      service.stop();
    }
  }

  @Test
  void callTakesAnAddressOfIpv6InBrackets() {
    CommandResult ran = run("call", "[::1]:1", "--domain", "shop", "user=a");
    assertThat(ran.code()).isEqualTo(1);
    assertThat(ran.err()).startsWith("error: no answer from [::1]:1: ");
  }

  @Test
  void callOfAClosedPortExitsWith1() {
    CommandResult ran = run("call", "127.0.0.1:1", "--domain", "shop", "user=a");
    assertThat(ran.code()).isEqualTo(1);
    assertThat(ran.err()).isEqualTo("error: no answer from 127.0.0.1:1: Connection refused\n");
    assertThat(ran.out()).isEmpty();
  }

  @Test
  void callOfAnUnknownHostIsOneLineAndNoStack() {
    List<String> logged = new ArrayList<>();
    Logger grpc = Logger.getLogger("io.grpc");
    Handler handler =
        new StreamHandler() {
          @Override
          public synchronized void publish(LogRecord record) {
            logged.add(record.getMessage());
          }
        };
    grpc.addHandler(handler);
    try {
      CommandResult ran = run("call", "nobody.invalid:1", "--domain", "shop", "user=a");
      assertThat(ran.code()).isEqualTo(1);
      assertThat(ran.err()).isEqualTo("error: no answer from nobody.invalid:1: unknown host\n");
    } finally {
      grpc.removeHandler(handler);
    }
    assertThat(logged).isEmpty();
  }

  @Test
  void helpListsTheStoresAndFederation() {
    assertThat(run("serve", "--help").out())
        .contains("Counters are in the memory of this process unless --store is set")
        .contains("--store=URI", "redis-cluster://", "THROTTLEKIT_STORE_PASSWORD")
        .contains("postgresql://HOST:PORT/DATABASE")
        .contains("--region=NAME", "--coordinator=URI", "THROTTLEKIT_FEDERATION_PASSWORD");
  }

  @Test
  void checkOfAFolderWithoutPoliciesNamesTheFolder() throws IOException {
    Path empty = Files.createDirectory(folder.resolve("empty"));
    CommandResult ran = run("check", empty.toString());
    assertThat(ran.code()).isEqualTo(1);
    assertThat(ran.out())
        .isEqualTo(
            empty
                + ": error: there is no *.yaml or *.yml file below this folder\n"
                + "1 error, 0 warnings in 0 files\n");
  }

  @Test
  void anEmptyPathIsAUsageError() {
    assertThat(run("check", "").err()).startsWith("error: '' is not a path");
    assertThat(run("check", "").code()).isEqualTo(2);
  }

  @Test
  void checkReportsUnreadablePathsAndChecksTheRest() throws IOException {
    Path dangling = Files.createSymbolicLink(folder.resolve("gone.yaml"), Path.of("nowhere"));
    Path missing = folder.resolve("missing.yaml");
    CommandResult ran = run("check", missing.toString(), folder.toString());
    assertThat(ran.code()).isEqualTo(1);
    assertThat(ran.out())
        .contains(missing + ":1:1: error: cannot read: no such file or folder\n")
        .contains(dangling + ":1:1: error: cannot read: no such file or folder\n")
        .contains(bad + ":3:")
        .endsWith(" in 4 files\n");
    assertThat(run("check", "--json", missing.toString(), good.toString()).out())
        .startsWith("{\"ok\":false,\"files\":2,\"errors\":1,")
        .contains("\"file\":\"" + missing + "\"");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "''                                          | a command is missing",
        "serv                                        | serv",
        "serve --policies                            | --policies",
        "serve extra                                 | extra",
        "check                                       | PATH",
        "serve --polices x                           | (did you mean --policies?)",
        "chek x                                      | (did you mean check?)",
        "explain --polices x --domain d a=b          | (did you mean --policies?)",
        "call localhost:80 --domian d a=b            | '--domian' (did you mean --domain?)",
        "call --domain d a=b                         | 'a=b' is not HOST:PORT",
        "check /nowhere/at/all                       | no such file",
        "check --jsno x                              | --jsno",
        "call                                        | HOST:PORT",
        "call localhost --domain d a=b               | 'localhost' is not HOST:PORT",
        "call localhost:99999 --domain d a=b         | is not HOST:PORT",
        "call localhost:80 a=b                       | --domain",
        "call localhost:80 --domain d                | key=value",
        "call localhost:80 --domain d ab             | 'ab' is not a descriptor",
        "call localhost:80 --domain d =b             | '=b' is not a descriptor",
        "call localhost:80 --domain d a=b,           | 'a=b,' is not a descriptor",
        "call localhost:80 --domain d --hits x a=b   | --hits",
        "call localhost:80 --domain d --hits -1 a=b  | --hits has to be 0 or more",
        "call localhost:80 --domain d --hits x a=b   | 'x' is not a whole number",
        "serve extra                                 | nothing is expected here: 'extra'",
        "check --jsno x                              | there is no option '--jsno'",
        "explain --policies . --domain d a=b =x      | '=x' is not a descriptor",
        "explain --domain d a=b                      | --policies",
        "explain --policies /nowhere --domain d a=b  | no such file",
      })
  void aUsageErrorIsNamedAndExitsWith2(String line, String mistake) {
    CommandResult ran = run(line.isEmpty() ? new String[0] : line.split(" +", -1));
    assertThat(ran.code()).isEqualTo(2);
    assertThat(ran.err()).startsWith("error: ").contains(mistake).contains("--help");
    assertThat(ran.out()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "serve", "check", "call", "explain"})
  void everyCommandHasHelpAndAVersion(String command) {
    String[] help = command.isEmpty() ? new String[] {"--help"} : new String[] {command, "--help"};
    assertThat(run(help).out()).startsWith("Usage: throttlekit");
    assertThat(run(help).code()).isZero();
    help[help.length - 1] = "--version";
    assertThat(run(help).out()).startsWith("throttlekit ").contains("Java 25");
  }

  @Test
  void malformedCommandLinesAreRejectedWithAMessageSeed21() {
    List<String> words =
        List.of(
            "serve",
            "check",
            "call",
            "explain",
            "--policies",
            "--config",
            "--grpc-port",
            "--json",
            "--domain",
            "--hits",
            "-x",
            "--",
            "=",
            "a=b",
            ",",
            "@f",
            "",
            " ",
            "\\",
            "-1",
            "9".repeat(30),
            "--store",
            "redis://x",
            "--region",
            "--coordinator",
            "memory",
            "127.0.0.1:1",
            "--hlep");
    SplittableRandom random = new SplittableRandom(21);
    for (int i = 0; i < 600; i++) {
      String[] arguments = new String[random.nextInt(1, 6)];
      for (int j = 0; j < arguments.length; j++) {
        arguments[j] = words.get(random.nextInt(words.size()));
      }
      CommandResult ran = run(arguments);
      assertThat(ran.code()).as(String.join(" ", arguments)).isBetween(0, 2);
      assertThat(ran.err()).doesNotContain("Exception").doesNotContain("\tat ");
      if (ran.code() != 0) {
        assertThat(ran.err() + ran.out()).as(String.join(" ", arguments)).contains("error: ");
      }
    }
  }

  private RateLimitService start() {
    Map<String, String> environment =
        Map.of(
            "THROTTLEKIT_POLICIES_PATHS", good.toString(),
            "THROTTLEKIT_GRPC_HOST", "127.0.0.1",
            "THROTTLEKIT_HTTP_HOST", "127.0.0.1",
            "THROTTLEKIT_WARM_UP_REQUESTS", "0");
    Map<String, List<String>> flags =
        Options.of("--grpc-port", "0", "--http-port", "0", "--debug-port", "0");
    return RunningService.with(environment, flags);
  }
}
