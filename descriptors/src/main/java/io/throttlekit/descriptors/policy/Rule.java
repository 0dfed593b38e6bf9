package io.throttlekit.descriptors.policy;

import io.throttlekit.DataLoss;
import io.throttlekit.descriptors.policy.Explanation.MatchedBy;
import io.throttlekit.descriptors.source.SourceLocation;
import io.throttlekit.lease.Tier;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.Terms;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Rule that limits the requests reaching one descriptor of a policy, or the limit that a request
 * brought itself. Immutable and thread-safe.
 *
 * <p>A rule is not the identity of a counter: that is the {@link Limit#counterScope()} of its limit
 * and the {@link #chargedEntries} of the request.
 */
public final class Rule {
  /** Key of an entry that returns a permit, whatever rule the other entries reach. */
  public static final String LEASE_ENTRY = "throttlekit_lease";

  private static final SourceLocation IN_REQUEST = new SourceLocation("(request)", 0, 0);
  private static final Tier STRICT = new Tier.Strict();
  private static final Tier CACHED_DENY = new Tier.CachedDeny();

  private final String domain;
  private final RuleSpec spec;
  private final List<EntryPattern> path; // the descriptors from the root of the domain to it
  private final List<Limit> limits;
  private final boolean unlimited;
  private final Tier tier;
  private final String limiterScope;
  private final List<String> replaces;
  private final List<String> staticMetricKeys;
  private final boolean dynamicMetricKeys;

  /** The key of the pool; null where no tenants share one. */
  final @Nullable RecentKey pool;

  /**
   * Joined on first use: the rule of a request's own limit is created per request and seldom needs
   * it.
   */
  private @Nullable String pathText;

  private Rule(
      String domain,
      List<EntryPattern> path,
      RuleSpec spec,
      List<String> staticMetricKeys,
      boolean dynamicMetricKeys) {
    this.domain = domain;
    this.spec = spec;
    this.path = List.copyOf(path);
    this.pool = spec.fairShare() == null ? null : new RecentKey();
    this.limits =
        spec.limits().stream().map(limit -> Limit.of(domain, limit, spec.fairShare())).toList();
    this.unlimited = spec.unlimited();
    this.tier = tier(domain, spec);
    this.limiterScope = spec.concurrency() == null ? "" : Limit.scope(domain, "concurrency");
    this.replaces = spec.replaces().stream().map(RuleSpec.Replacement::name).toList();
    this.staticMetricKeys = staticMetricKeys;
    this.dynamicMetricKeys = dynamicMetricKeys;
  }

  private static Tier tier(String domain, RuleSpec spec) {
    Tier named = spec.sharing().tier();
    if (spec.sharing().scope() == Scope.GLOBAL && named instanceof Tier.Leased leased) {
      List<FixedWindow> budgets =
          spec.limits().stream().map(limit -> (FixedWindow) limit.algorithm()).toList();
      return new Tier.Global(
          leased.size(),
          leased.lowWater(),
          leased.returnIdleAfterMillis(),
          new Terms(domain, budgets),
          spec.sharing().onDataLoss(),
          spec.sharing().onOutage() == OnOutage.REGIONAL_ONLY);
    }
    return named == null ? STRICT : named;
  }

  static Rule of(String domain, List<EntryPattern> path, RuleSpec spec) {
    List<String> texts = path.stream().map(EntryPattern::composite).toList();
    boolean valueInMetricKeys =
        path.getLast().source().detailedMetric()
            || path.stream().anyMatch(step -> step.source().valueToMetric());
    return new Rule(domain, path, spec, texts, valueInMetricKeys);
  }

  /**
   * Creates the rule of a limit that a request brings. It charges the same counter as a fixed
   * window of the same unit for the same entries in the policies, and has none of their other
   * properties: it is strict and regional, an outage is an error, and lost counters start again.
   *
   * @param entries key, value, key, value …
   */
  public static Rule override(String domain, String[] entries, LimitOverride override) {
    LimitUnit unit = override.unit();
    FixedWindow window = new FixedWindow(override.requestsPerUnit(), unit.millis());
    LimitSpec limit = new LimitSpec(window, override.requestsPerUnit(), unit, unit.millis());
    RuleSpec spec =
        new RuleSpec(
            IN_REQUEST,
            List.of(limit),
            "",
            List.of(),
            false,
            false,
            Sharing.DEFAULT,
            null,
            null,
            null,
            null);
    return new Rule(domain, List.of(), spec, metricKeysOfOverride(entries), true);
  }

  /** Returns whether the limit was brought by a request instead of a policy. */
  public boolean ofRequest() {
    return path.isEmpty();
  }

  /** Returns the domain it belongs to. */
  public String domain() {
    return domain;
  }

  /** Returns the name that responses show and that other rules replace; empty when it has none. */
  public String name() {
    return spec.name();
  }

  /** Returns the texts of the descriptors that lead to it: {@code key1_value1.subkey1}. */
  public String path() {
    String text = pathText; // threads may race to set it, to equal and immutable texts
    if (text == null) {
      text = String.join(".", staticMetricKeys);
      pathText = text;
    }
    return text;
  }

  /** Returns its place in the policy. */
  public SourceLocation location() {
    return spec.location();
  }

  /** Returns its concurrency limit, which it has instead of limits; null for a rule with limits. */
  public @Nullable ConcurrencyRule concurrency() {
    return spec.concurrency();
  }

  /**
   * Returns the scope of its limiter, which no limit's counter has; empty without a concurrency
   * limit.
   */
  public String limiterScope() {
    return limiterScope;
  }

  /**
   * Returns how each of its limits, or its concurrency limit, is divided among tenants; null where
   * it is not. Requests that reach it then name their {@link #tenant}.
   */
  public @Nullable FairShare fairShare() {
    return spec.fairShare();
  }

  /** Returns whether it admits everything and counts nothing; it then has no limits. */
  public boolean unlimited() {
    return unlimited;
  }

  /** Returns whether it counts but never refuses. */
  public boolean shadow() {
    return spec.shadow();
  }

  /** Returns whether it refuses only together with every other quota of the request. */
  public boolean quota() {
    return spec.quota();
  }

  /**
   * Returns whether a cost beyond the remaining units is charged in full, and still answered over
   * limit.
   */
  public boolean overdraft() {
    return spec.sharing().overdraft();
  }

  /** Returns the scope in which its limits are shared. */
  public Scope scope() {
    return spec.sharing().scope();
  }

  /**
   * Returns how the processes of a fleet share its limits. All limits are fixed windows if it is
   * leased or global; the tier is strict if there is an {@link #overdraft()}, and if {@link
   * #unlimited()}.
   */
  public Tier tier() {
    return tier;
  }

  /**
   * Returns whether the policy sets its {@link #tier}, directly or by the scope, so that the
   * service's default does not apply.
   */
  public boolean namesTier() {
    return spec.sharing().tier() != null;
  }

  /**
   * Returns the {@link #tier} that applies where rules that name none cache refusals: an {@link
   * #overdraft()} is never cached.
   */
  public Tier tierWithCachedDenyDefault() {
    return namesTier() || overdraft() ? tier : CACHED_DENY;
  }

  /** Returns its answer when its counters cannot be reached. */
  public OnOutage onOutage() {
    return spec.sharing().onOutage();
  }

  /** Returns the treatment of its limits when the store has lost their counters. */
  public DataLoss onDataLoss() {
    return spec.sharing().onDataLoss();
  }

  /** Returns the names of rules that do not count in a request which this one matches too. */
  public List<String> replaces() {
    return replaces;
  }

  /**
   * Returns the limits that must all admit; empty iff {@link #unlimited()} or there is a {@link
   * #concurrency()}.
   */
  public List<Limit> limits() {
    return limits;
  }

  /**
   * Returns the metadata of responses that admit: texts, numbers, booleans, lists and maps;
   * unmodifiable.
   */
  public @Nullable Map<String, Object> metadata() {
    return spec.metadata();
  }

  /** Returns the response to clients when it refuses; null where it leaves that to the service. */
  public @Nullable Denial denial() {
    return spec.denial();
  }

  /**
   * Returns the entries to count under: those of the request, with the pattern in place of each
   * value whose descriptor lets all values share one counter, and without those that only name
   * something for the rule. All tenants of a {@link #fairShare()} have these in common.
   *
   * <p>Texts that equal the policy's are replaced by the policy's strings. The counters of a rule
   * then refer to the same few strings, which are in the processor's cache during lookups.
   *
   * @param entries of a request that this rule matched; strings in it may be replaced by equal ones
   * @return {@code entries} itself when nothing is shared
   */
  public String[] chargedEntries(String[] entries) {
    return charged(entries, 2 * path.size());
  }

  /** Returns the {@link #chargedEntries} and the tenant's entry; throws as {@link #tenant} does. */
  public String[] tenantEntries(String[] entries) {
    return tenantEntries(entries, tenantAt(entries));
  }

  /** As the other one, which knows where the tenant's entry is; maybe {@code entries} itself. */
  String[] tenantEntries(String[] entries, int at) {
    int own = 2 * path.size();
    entries[at] = shared().tenantEntry(); // the policy's string, as those before it
    String[] charged = charged(entries, own + 2);
    if (at != own) { // more entries than one follow, so it is a copy
      charged[own] = entries[at];
      charged[own + 1] = entries[at + 1];
    }
    return charged;
  }

  /**
   * Returns the tenant of a request.
   *
   * @param entries of a request that this rule matched
   * @throws IllegalArgumentException if the rule has no {@link #fairShare()}
   */
  public String tenant(String[] entries) {
    return entries[tenantAt(entries) + 1];
  }

  /** Returns the weight of a request's tenant; parameter and exception as of {@link #tenant}. */
  public FairShare.Weight tenantWeight(String[] entries) {
    return tenantWeight(entries, tenantAt(entries));
  }

  FairShare.Weight tenantWeight(String[] entries, int at) {
    return shared().weight(entries, 2 * path.size(), at);
  }

  /** Returns the index of the tenant's key among the entries. */
  int tenantAt(String[] entries) {
    return shared().tenantAt(entries, 2 * path.size());
  }

  private FairShare shared() {
    FairShare share = spec.fairShare();
    if (share == null) {
      throw new IllegalArgumentException("no fair shares: " + this);
    }
    return share;
  }

  private String[] charged(String[] entries, int length) {
    // The rule of a request's own limit has no steps, and is charged under all entries.
    boolean whole = path.isEmpty() || length == entries.length;
    String[] charged = whole ? null : Arrays.copyOf(entries, length);
    for (int i = 0; i < path.size(); i++) {
      EntryPattern step = path.get(i);
      String key = ofPolicy(step.source().key(), entries[2 * i]);
      String value = ofPolicy(step.source().value(), entries[2 * i + 1]);
      entries[2 * i] = key;
      entries[2 * i + 1] = value;
      boolean shared = shares(step, key, value);
      if (shared && charged == null) {
        charged = entries.clone();
      }
      if (charged != null) {
        charged[2 * i] = key;
        charged[2 * i + 1] = shared ? step.sharedValue(key) : value;
      }
    }
    return charged == null ? entries : charged;
  }

  /** Returns the policy's string if the received one is equal. */
  private static String ofPolicy(String text, String received) {
    return text.equals(received) ? text : received;
  }

  /**
   * Returns whether an entry that found this descriptor is charged under the pattern instead of its
   * value.
   */
  private static boolean shares(EntryPattern step, String key, String value) {
    return step.source().shareThreshold() && step.matchedBy(key, value) == MatchedBy.WILDCARD;
  }

  /**
   * Returns one key per entry, {@code k} or {@code k_v}, as statistics name this rule for such a
   * request.
   *
   * @param entries of a request that this rule matched
   * @return always the same list unless {@link #dynamicMetricKeys()}
   */
  public List<String> metricKeys(String[] entries) {
    if (!dynamicMetricKeys || ofRequest()) {
      return staticMetricKeys;
    }
    boolean detailed = path.getLast().source().detailedMetric();
    List<String> keys = new ArrayList<>(path.size());
    for (int i = 0; i < path.size(); i++) {
      EntryPattern step = path.get(i);
      String key = entries[2 * i];
      String value = entries[2 * i + 1];
      boolean named = detailed || (step.source().valueToMetric() && !value.isEmpty());
      keys.add(named && !shares(step, key, value) ? key + '_' + value : step.composite());
    }
    return keys;
  }

  /**
   * Returns whether values of requests appear in the metric keys, so that their number is
   * unbounded.
   */
  public boolean dynamicMetricKeys() {
    return dynamicMetricKeys;
  }

  /** Describes for people how much it admits and how, without its name and place. */
  public String inWords() {
    return RuleWords.of(this);
  }

  /** Returns domain, path and place. */
  @Override
  public String toString() {
    return domain + ' ' + path() + " (" + location() + ')';
  }

  private static List<String> metricKeysOfOverride(String[] entries) {
    List<String> keys = new ArrayList<>(entries.length / 2);
    for (int i = 0; i + 1 < entries.length; i += 2) {
      keys.add(entries[i + 1].isEmpty() ? entries[i] : entries[i] + '_' + entries[i + 1]);
    }
    return List.copyOf(keys);
  }
}
