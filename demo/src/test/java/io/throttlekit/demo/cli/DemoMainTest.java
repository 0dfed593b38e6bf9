package io.throttlekit.demo.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class DemoMainTest {

  @ParameterizedTest
  @CsvSource({
    "--seconds 0,     --seconds is a whole number from 1 to 86400",
    "--seconds -1,    --seconds is a whole number from 1 to 86400",
    "--seconds 86401, --seconds is a whole number from 1 to 86400",
    "--seconds abc,   not 'abc'",
    "--mesh --seconds 17, --seconds is a whole number from 18 to 86400 with --mesh",
    "--overload --mesh, '--mesh, --overload and --fair are demos of their own'",
    "--fair --mesh, '--mesh, --overload and --fair are demos of their own'",
    "--fair --seconds 0, --seconds is a whole number from 1 to 86400",
    "--arms none, --phase and --arms choose from --overload",
    "'--overload --phase 2,7', there is no phase '7'",
    "--overload --arms theirs, there is no arm 'theirs'",
    "--overload --seconds 79, --seconds is a whole number from 80 to 3600 for 8 phases",
    "--overload --phase 2 --seconds abc, from 10 to 3600 for one phase",
    "--replicas 3, --replicas goes with --overload",
    "--overload --replicas 3 --arms ours, 'goes with --overload, and without --arms'",
    "--overload --gate envoy, '--gate, --store and --fault go with --replicas'",
    "--overload --fault cut, '--gate, --store and --fault go with --replicas'",
    "--overload --replicas 1, --replicas is a whole number from 2 to 8",
    "--overload --replicas 3 --gate both, 'there is no gate ''both'', but service, envoy'",
    "--overload --replicas 3 --store none, 'there is no store ''none'', but redis, postgresql'",
    "--overload --replicas 3 --fault no, 'there is no fault ''no'', but kill, suspend, cut'",
    "--overload --replicas 3 --phase 0.8, '--phase has 2 and 5, not ''0.8'''",
    "--overload --replicas 3 --seconds 79, --seconds is a whole number from 80 to 3600",
    "foo,             there is no 'foo' here",
    "--overlod,       there is no '--overlod' here (did you mean --overload?)",
    "--seed x,        'x' is not a whole number"
  })
  void aUsageErrorIsReportedAndNothingStarts(String line, String mistake) {
    StringWriter err = new StringWriter();
    CommandLine command = DemoMain.commandLine().setErr(new PrintWriter(err));
    assertThat(command.execute(line.split(" ", -1))).isEqualTo(2);
    assertThat(err.toString()).startsWith("bin/demo: ").contains(mistake);
  }
}
