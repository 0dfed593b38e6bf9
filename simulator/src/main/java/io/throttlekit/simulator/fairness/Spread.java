package io.throttlekit.simulator.fairness;

import java.util.random.RandomGenerator;

/** The way in which the requests of a tenant are spread over processes or regions. */
enum Spread {
  /** Each request goes to any of them. */
  EVEN("even"),

  /** Each tenant has one of its own, which receives ten of its requests for one at each other. */
  SKEWED("10:1"),

  /** All requests of a tenant go to one of them, and to the next one in each half of a window. */
  MOVING("moving");

  private static final int SKEW = 10;

  private final String word;

  Spread(String word) {
    this.word = word;
  }

  /** Returns the name in tables. */
  String word() {
    return word;
  }

  /** Returns the place of a request, from 0. */
  int place(int tenant, double nowMillis, long windowMillis, int places, RandomGenerator random) {
    return switch (this) {
      case EVEN -> random.nextInt(places);
      case SKEWED -> {
        int ticket = random.nextInt(SKEW + places - 1);
        yield (tenant + Math.max(0, ticket - SKEW + 1)) % places;
      }
      case MOVING -> (tenant + (int) (2 * nowMillis / windowMillis)) % places;
    };
  }
}
