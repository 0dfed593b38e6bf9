package io.throttlekit.demo.fleet;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The options of a run with several replicas.
 *
 * @param replicas number of them
 * @param fault fault of the replica that steers, halfway through each load
 * @param loads offered loads, one after another, as multiples of the upstream's capacity
 * @param length of each load, in s
 * @param seed of arrivals and service times
 */
public record FleetPlan(
    int replicas,
    Gate gate,
    StoreKind store,
    Fault fault,
    List<Integer> loads,
    int length,
    long seed) {
  static final int MAX_REPLICAS = 8;

  /** Time to adapt, time without a fault, and time for the fault. */
  static final int SHORTEST = 40;

  private static final List<Integer> LOADS = List.of(2, 5);
  private static final int USUAL = 120; // seconds
  private static final int MAX_SECONDS = 3600; // of all loads

  /** Copies the loads. */
  public FleetPlan {
    loads = List.copyOf(loads);
  }

  /**
   * Parses command line options.
   *
   * @param replicas a number from 2 to 8
   * @param gate a word; null for {@link Gate#ENVOY}
   * @param store a word; null for {@link StoreKind#REDIS}
   * @param fault a word; null for {@link Fault#KILL}
   * @param loads numbers separated by commas; null for 2 and 5
   * @param seconds of all loads together; null for 120 each
   * @throws IllegalArgumentException with a one-line message for users, if an option is not valid
   */
  public static FleetPlan of(
      String replicas,
      @Nullable String gate,
      @Nullable String store,
      @Nullable String fault,
      @Nullable String loads,
      @Nullable String seconds,
      long seed) {
    List<Integer> chosen = loads == null ? LOADS : loads(loads);
    return new FleetPlan(
        number("--replicas", replicas, 2, MAX_REPLICAS),
        gate == null ? Gate.ENVOY : one("gate", gate, Gate.values(), Gate::word),
        store == null ? StoreKind.REDIS : one("store", store, StoreKind.values(), StoreKind::word),
        fault == null ? Fault.KILL : one("fault", fault, Fault.values(), Fault::word),
        chosen,
        seconds == null
            ? USUAL
            : number("--seconds", seconds, SHORTEST * chosen.size(), MAX_SECONDS) / chosen.size(),
        seed);
  }

  private static List<Integer> loads(String words) {
    List<Integer> loads = new ArrayList<>();
    for (String word : words.split(",", -1)) {
      String load = word.strip();
      if (!load.equals("2") && !load.equals("5")) {
        throw new IllegalArgumentException(
            "with --replicas, --phase has 2 and 5, not '%s'".formatted(load));
      }
      loads.add(Integer.parseInt(load));
    }
    return loads;
  }

  private static int number(String option, String text, int fewest, int most) {
    if (text.matches("\\d{1,6}")) {
      int number = Integer.parseInt(text);
      if (number >= fewest && number <= most) {
        return number;
      }
    }
    throw new IllegalArgumentException(
        "%s is a whole number from %d to %d, not '%s'".formatted(option, fewest, most, text));
  }

  private static <T> T one(String what, String word, T[] values, Function<T, String> words) {
    return Arrays.stream(values)
        .filter(value -> words.apply(value).equals(word.toLowerCase(Locale.ROOT)))
        .findFirst()
        .orElseThrow(() ->
            new IllegalArgumentException(
                "there is no %s '%s', but %s"
                    .formatted(
                        what,
                        word,
                        Arrays.stream(values).map(words).collect(Collectors.joining(", ")))));
  }

  /** Returns the duration of all loads in s. */
  int seconds() {
    return loads.size() * length;
  }

  /** Returns the load of a second before the end. */
  int load(int second) {
    return loads.get(Math.min(second / length, loads.size() - 1));
  }
}
