package io.throttlekit.fairness;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Cost;
import java.math.BigInteger;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class ProductsTest {
  private static final long MAX_DIVISOR = TenantWeight.MAX * FairTerms.MAX_TENANTS;
  private static final int INSTANCES = 200_000;

  private final SplittableRandom random = new SplittableRandom(1);

  @Test
  void quotientsAreExactUpToTheLargestNumbers() {
    assertThat(Products.quotient(6, 99, 11)).isEqualTo(54);
    assertThat(Products.quotient(TenantWeight.MAX, Cost.MAX, MAX_DIVISOR))
        .isEqualTo(Cost.MAX / FairTerms.MAX_TENANTS);
    int large = 0;
    for (int i = 0; i < INSTANCES; i++) {
      long c = random.nextLong(1, (MAX_DIVISOR >> random.nextInt(60)) + 1);
      long a = random.nextBoolean() ? Math.min(c, 1L << 53) : number(Math.min(c, 1L << 53) + 1);
      long b = number(1L << 53);
      BigInteger exact = big(a).multiply(big(b)).divide(big(c));
      large += big(a).multiply(big(b)).bitLength() > 63 ? 1 : 0;
      assertThat(Products.quotient(a, b, c))
          .as("%d * %d / %d", a, b, c)
          .isEqualTo(exact.longValueExact());
    }
    assertThat(large).isGreaterThan(INSTANCES / 10);
  }

  @Test
  void quotientsNextToAWholeNumberAreExact() {
    for (int i = 0; i < INSTANCES; i++) {
      long c = random.nextLong(1, 1L << 40);
      long a = random.nextLong(0, c + 1);
      long whole = c * random.nextLong(0, 1 << 13); // a · whole / c is whole
      long b = Math.clamp(whole + random.nextInt(-1, 2), 0, 1L << 53);
      BigInteger exact = big(a).multiply(big(b)).divide(big(c));
      assertThat(Products.quotient(a, b, c)).isEqualTo(exact.longValueExact());
    }
  }

  @Test
  void comparesProductsBeyond64Bits() {
    int equal = 0;
    for (int i = 0; i < INSTANCES; i++) {
      long a = number(1L << 62);
      long b = number(1L << 62);
      boolean swapped = random.nextInt(10) == 0;
      long c = swapped ? b : number(1L << 62);
      long d = swapped ? a : number(1L << 62);
      int exact = big(a).multiply(big(b)).compareTo(big(c).multiply(big(d)));
      equal += exact == 0 ? 1 : 0;
      assertThat(Integer.signum(Products.compare(a, b, c, d))).isEqualTo(exact);
    }
    assertThat(equal).isGreaterThan(INSTANCES / 20);
  }

  private long number(long bound) {
    return random.nextLong(0, (bound >> random.nextInt(40)) + 1) % bound;
  }

  private static BigInteger big(long number) {
    return BigInteger.valueOf(number);
  }
}
