package io.throttlekit.service.xds;

import com.google.protobuf.Any;
import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.UnknownFieldSet;
import io.throttlekit.descriptors.source.Problem;
import io.throttlekit.descriptors.source.Severity;
import io.throttlekit.descriptors.source.SourceLocation;
import io.throttlekit.descriptors.source.Wording;
import io.throttlekit.envoy.ratelimit.RateLimitConfig;
import io.throttlekit.envoy.ratelimit.RateLimitDescriptor;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Configurations of one response of a control plane. Equal for responses that differ only in the
 * order of their resources, in their names, or in the version.
 *
 * @param domains the descriptors of each domain. Those of several resources with one domain stand
 *     in the order of the names of the resources
 * @param problems errors of resources that are no configuration of a domain
 * @param unreadable domains of resources that cannot be read
 * @param incomplete whether there is such a resource whose domain is not known either
 */
record SentConfigs(
    SortedMap<String, List<RateLimitDescriptor>> domains,
    List<Problem> problems,
    Set<String> unreadable,
    boolean incomplete) {

  /** Number of the field with the domain in a RateLimitConfig. */
  private static final int DOMAIN = RateLimitConfig.DOMAIN_FIELD_NUMBER;

  /** Characters of a domain, which the name of each of its counters contains. */
  private static final int MAX_DOMAIN = 1_024;

  private static final Comparator<RateLimitConfig> IN_ORDER =
      Comparator.comparing(RateLimitConfig::getName)
          .thenComparing( // a total order, although names should be unique
              RateLimitConfig::toByteString, ByteString.unsignedLexicographicalComparator());

  SentConfigs {
    domains = Collections.unmodifiableSortedMap(domains);
    problems = List.copyOf(problems);
    unreadable = Set.copyOf(unreadable);
  }

  /** Returns the configurations of domains that were accepted before. */
  static SentConfigs ofDomains(SortedMap<String, List<RateLimitDescriptor>> domains) {
    return new SentConfigs(domains, List.of(), Set.of(), false);
  }

  /** Reads the resources of a response. */
  static SentConfigs of(List<Any> resources) {
    List<RateLimitConfig> configs = new ArrayList<>();
    List<Problem> problems = new ArrayList<>();
    Set<String> unreadable = new HashSet<>();
    boolean incomplete = false;
    for (int i = 0; i < resources.size(); i++) {
      SourceLocation at = new SourceLocation("xds resource " + (i + 1), 0, 0);
      Any resource = resources.get(i);
      if (!resource.is(RateLimitConfig.class)) {
        problems.add(
            error(at, "is no RateLimitConfig, but " + Wording.quote(resource.getTypeUrl())));
        continue;
      }
      try {
        configs.add(resource.unpack(RateLimitConfig.class));
      } catch (InvalidProtocolBufferException e) {
        String domain = domainOf(resource.getValue());
        incomplete |= domain.isEmpty();
        unreadable.add(domain);
        SourceLocation known = domain.isEmpty() ? at : Place.of(domain);
        problems.add(
            error(known, "cannot be read: " + Wording.quote(String.valueOf(e.getMessage()))));
      }
    }
    configs.sort(IN_ORDER);
    return of(configs, problems, unreadable, incomplete);
  }

  private static SentConfigs of(
      List<RateLimitConfig> configs,
      List<Problem> problems,
      Set<String> unreadable,
      boolean incomplete) {
    SortedMap<String, List<RateLimitDescriptor>> domains = new TreeMap<>();
    for (RateLimitConfig config : configs) {
      if (config.getDomain().isEmpty()) {
        SourceLocation at =
            new SourceLocation("xds resource " + Wording.quote(config.getName()), 0, 0);
        problems.add(error(at, "names no domain"));
      } else if (config.getDomain().length() > MAX_DOMAIN) {
        problems.add(
            error(
                Place.of(config.getDomain()),
                "has a domain of more than " + MAX_DOMAIN + " characters"));
      } else {
        domains
            .computeIfAbsent(config.getDomain(), _ -> new ArrayList<>())
            .addAll(config.getDescriptorsList());
      }
    }
    return new SentConfigs(domains, problems, unreadable, incomplete);
  }

  /** Returns the domain of a resource that has a mistake further inside; "" if it is not known. */
  private static String domainOf(ByteString resource) {
    try {
      UnknownFieldSet fields = UnknownFieldSet.parseFrom(resource);
      List<ByteString> values = fields.getField(DOMAIN).getLengthDelimitedList();
      return values.isEmpty() || !values.getLast().isValidUtf8()
          ? ""
          : values.getLast().toStringUtf8();
    } catch (InvalidProtocolBufferException e) {
      return "";
    }
  }

  private static Problem error(SourceLocation at, String message) {
    return new Problem(Severity.ERROR, at, "the resource " + message, "");
  }
}
