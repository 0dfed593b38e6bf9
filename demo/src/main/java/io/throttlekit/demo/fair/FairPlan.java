package io.throttlekit.demo.fair;

import java.util.List;

/**
 * The tenants of the demo, and what they ask for: in a cycle, one floods, and then another one is
 * absent and comes back.
 */
final class FairPlan {
  static final Tenant GOLD = new Tenant("acme", "gold", 45);
  static final Tenant SILVER = new Tenant("globex", "silver", 60);
  static final Tenant BRONZE = new Tenant("initech", "bronze", 8);
  static final List<Tenant> TENANTS = List.of(GOLD, SILVER, BRONZE);

  private static final int FLOOD = 150; // requests per second
  private static final int FLOODS_FROM = 2;
  private static final int ABSENT_FROM = 6;
  private static final int BACK_FROM = 12;
  private static final int CYCLE = 18;

  private FairPlan() {}

  /**
   * A tenant.
   *
   * @param perSecond requests, unless it floods or is absent
   */
  record Tenant(String org, String plan, int perSecond) {}

  /** Returns what a tenant asks for in a second since the start, from 0. */
  static int perSecond(Tenant tenant, int second) {
    int at = second % CYCLE;
    if (tenant.equals(BRONZE)) {
      return at < FLOODS_FROM ? tenant.perSecond() : FLOOD;
    }
    boolean absent = tenant.equals(GOLD) && at >= ABSENT_FROM && at < BACK_FROM;
    return absent ? 0 : tenant.perSecond();
  }

  /** Describes a second for readers. */
  static String words(int second) {
    int at = second % CYCLE;
    if (at < FLOODS_FROM) {
      return BRONZE.org() + " asks for less than its part";
    }
    String flood = BRONZE.org() + " floods";
    if (at < ABSENT_FROM) {
      return flood;
    }
    if (at == ABSENT_FROM) {
      return flood + ", " + GOLD.org() + " is absent: its part is still reserved";
    }
    return at < BACK_FROM
        ? flood + ", " + GOLD.org() + " is absent: its part is lent"
        : flood + ", " + GOLD.org() + " is back";
  }
}
