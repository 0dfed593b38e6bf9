package io.throttlekit.bench;

import io.throttlekit.bench.command.Arguments;
import io.throttlekit.bench.command.Program;
import io.throttlekit.demo.overload.Overload;
import io.throttlekit.demo.overload.OverloadPlan;
import io.throttlekit.demo.overload.OverloadSummary;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Runs real Envoys in front of an overloaded upstream, as {@code bin/demo --overload} does. */
public final class OverloadBenchmark {
  public static final Set<String> OPTIONS = Set.of("phase", "arms", "seconds", "seed");

  private OverloadBenchmark() {}

  /** Prints a table, then one line of JSON. */
  public static void main(String[] args) throws InterruptedException {
    System.exit(Program.start(OverloadBenchmark::read, OPTIONS, System.err, args));
  }

  public static Program read(Arguments arguments) {
    arguments.noWords();
    OverloadPlan plan =
        OverloadPlan.of(
            optional(arguments, "phase"),
            optional(arguments, "arms"),
            optional(arguments, "seconds"),
            arguments.number("seed", 0, 1));
    return () -> {
      OverloadSummary summary =
          Overload.ofThisMachine(System.err::println).run(plan, System.out, false);
      System.out.println(summary.words());
      System.out.println(summary.json());
    };
  }

  private static @Nullable String optional(Arguments arguments, String name) {
    return arguments.options().get(name);
  }
}
