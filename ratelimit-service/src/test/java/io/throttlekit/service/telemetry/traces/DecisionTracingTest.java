package io.throttlekit.service.telemetry.traces;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Metadata;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.sdk.common.Clock;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.testing.time.TestClock;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.throttlekit.Decision;
import io.throttlekit.descriptors.policy.Descriptor;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.service.admission.Answer;
import io.throttlekit.service.admission.RateLimitRequest;
import io.throttlekit.service.admission.Verdict;
import io.throttlekit.service.server.Book;
import io.throttlekit.service.server.CallTracing.CallSpan;
import io.throttlekit.share.FleetFigures;
import io.throttlekit.store.Claim.Role;
import io.throttlekit.tier.DecidedBy;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class DecisionTracingTest {
  private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
  private static final String SPAN = "00f067aa0ba902b7";

  private final InMemorySpanExporter spans = InMemorySpanExporter.create();
  private final SdkTracerProvider tracers =
      SdkTracerProvider.builder().addSpanProcessor(SimpleSpanProcessor.create(spans)).build();
  private double drawn = 0.5;
  private final DecisionTracing never =
      new DecisionTracing(tracers.get("test"), 0, () -> drawn, Clock.getDefault());
  private final DecisionTracing half =
      new DecisionTracing(tracers.get("test"), 0.5, () -> drawn, Clock.getDefault());

  @AfterEach
  void close() {
    tracers.close();
  }

  @Test
  void continuesASampledTraceAndRecordsTheDecision() {
    CallSpan span =
        started(never.start(headers("traceparent", "00-" + TRACE + "-" + SPAN + "-01")));
    span.decided("shop", "user", false, 3, "memory");
    span.end();

    SpanData data = onlySpan();
    assertThat(data.getName()).isEqualTo("ratelimit.decide");
    assertThat(data.getKind()).isEqualTo(SpanKind.SERVER);
    assertThat(data.getTraceId()).isEqualTo(TRACE);
    assertThat(data.getParentSpanId()).isEqualTo(SPAN);
    assertThat(text(data, "ratelimit.domain")).isEqualTo("shop");
    assertThat(text(data, "ratelimit.rule")).isEqualTo("user");
    assertThat(text(data, "ratelimit.decision")).isEqualTo("over_limit");
    assertThat(text(data, "ratelimit.decided_in")).isEqualTo("memory");
    assertThat(data.getAttributes().get(AttributeKey.longKey("ratelimit.remaining"))).isEqualTo(3);
  }

  @Test
  void recordsTheStateOfAConcurrencyLimitThatReplicasShare() {
    Rule rule = Book.of("domain: d\ndescriptors: [{key: k, concurrency: {}}]\n").rules().getFirst();
    String[] entries = {"k", "v"};
    Decision decision = Decision.refuse(3, 0, 0, 1_000);
    Verdict verdict = new Verdict(true, Role.ENFORCED, rule, null, decision, DecidedBy.NONE);
    CallSpan span =
        started(
            never
                .with(
                    new SpanContents(
                        TracedValues.PLAIN,
                        (reached, reachedBy) ->
                            reached.equals(rule) && Arrays.equals(reachedBy, entries)
                                ? new FleetFigures(3, 10, 2, false, "pod-1", 0, false)
                                : null,
                        false))
                .start(headers("b3", "1")));
    span.decided(
        new RateLimitRequest(
            "d",
            List.of(
                new Descriptor(new String[] {"a", "b"}, null, Descriptor.HITS_UNSET, false),
                new Descriptor(entries, null, Descriptor.HITS_UNSET, false)),
            1),
        new Answer(false, List.of(Verdict.UNTOUCHED, verdict)));
    span.end();
    SpanData data = onlySpan();
    assertThat(data.getAttributes().get(AttributeKey.longKey("ratelimit.share"))).isEqualTo(3);
    assertThat(data.getAttributes().get(AttributeKey.longKey("ratelimit.fleet_limit")))
        .isEqualTo(10);
    assertThat(text(data, "ratelimit.steering_node")).isEqualTo("pod-1");
  }

  @Test
  void recordsTheTenantOfASharedLimitItsWeightAndItsLimit() {
    Rule rule =
        Book.of(
                "domain: d\ndescriptors: [{key: k, rate_limit: {unit: day, requests_per_unit: 100,"
                    + " fair_share: {tenant: org, weights: {acme: 2.5}}}}]\n")
            .rules()
            .getFirst();
    Decision decision = Decision.admit(40, 38, 1_000);
    RateLimitRequest request =
        new RateLimitRequest("d", List.of(ofTenant("umbrella"), ofTenant("acme")), 1);
    Verdict first =
        new Verdict(
            false,
            Role.ENFORCED,
            rule,
            rule.limits().getFirst(),
            Decision.admit(40, 39, 1_000),
            DecidedBy.MEMORY);
    Verdict second =
        new Verdict(
            false, Role.ENFORCED, rule, rule.limits().getFirst(), decision, DecidedBy.MEMORY);
    CallSpan span = started(never.start(headers("b3", "1")));
    span.decided(request, new Answer(true, List.of(first, second)));
    span.end();
    SpanData data = onlySpan();
    assertThat(text(data, "ratelimit.tenant")).isEqualTo("acme");
    assertThat(data.getAttributes().get(AttributeKey.doubleKey("ratelimit.tenant_weight")))
        .isEqualTo(2.5);
    assertThat(data.getAttributes().get(AttributeKey.longKey("ratelimit.limit"))).isEqualTo(40);
    assertThat(data.getAttributes().get(AttributeKey.longKey("ratelimit.remaining"))).isEqualTo(38);
  }

  @Test
  void recordsEveryRuleOfARequestWithItsTierAndItsDecision() {
    List<Rule> rules =
        Book.of(
                """
                domain: d
                descriptors:
                  - {key: a, rate_limit: {unit: day, requests_per_unit: 9, tier: leased}}
                  - {key: b, rate_limit: {unit: day, requests_per_unit: 9, tier: cached_deny}}
                  - {key: c, shadow_mode: true, rate_limit: {unit: day, requests_per_unit: 9}}
                  - {key: e, rate_limit: {unlimited: true}}
                """)
            .rules();
    Decision refused = Decision.refuse(9, 0, 1_000, 1_000);
    List<Verdict> verdicts =
        List.of(
            verdict(rules.get(0), Decision.admit(9, 3, 1_000), Role.ENFORCED, DecidedBy.LEASE),
            Verdict.UNTOUCHED,
            verdict(rules.get(1), refused, Role.ENFORCED, DecidedBy.CACHED_DENIAL),
            verdict(rules.get(2), refused, Role.SHADOW, DecidedBy.STORE),
            new Verdict(false, Role.ENFORCED, rules.get(3), null, null, DecidedBy.NONE));
    RateLimitRequest request =
        new RateLimitRequest("d", Collections.nCopies(5, ofTenant("acme")), 1);
    CallSpan span = started(never.start(headers("b3", "1")));
    span.decided(request, new Answer(false, verdicts));
    span.end();
    SpanData data = onlySpan();
    assertThat(text(data, "ratelimit.rule")).isEqualTo("b");
    assertThat(text(data, "ratelimit.tier")).isEqualTo("cached_deny");
    assertThat(data.getEvents())
        .allMatch(event -> event.getName().equals("ratelimit.rule"))
        .extracting(event -> event.getAttributes().asMap().values().stream().toList().toString())
        .containsExactly(
            "[1, lease, ok, k=v,org=acme, 9, 3, 1000, a, leased]",
            "[1, cached_denial, over_limit, k=v,org=acme, 9, 0, 1000, b, cached_deny]",
            "[1, store, shadow_over_limit, k=v,org=acme, 9, 0, 1000, c, strict]",
            "[none, ok, k=v,org=acme, e]");
  }

  @ParameterizedTest
  @EnumSource(
      value = DecidedBy.class,
      names = {"MEMORY", "LEASE", "CACHED_DENIAL", "STORE", "OUTAGE"})
  void aRefusalSaysWhoWasRefusedAndByWhat(DecidedBy by) {
    Rule rule = perUser("");
    Verdict verdict = verdict(rule, Decision.refuse(9, 0, 30_000, 30_000), Role.ENFORCED, by);
    record(never, new RateLimitRequest("d", List.of(user("bob,\n1")), 4), verdict);
    SpanData data = onlySpan();
    assertThat(text(data, "ratelimit.descriptor")).isEqualTo("user=bob\\,\ufffd1");
    assertThat(texts(data, "ratelimit.descriptors")).containsExactly("user=bob\\,\ufffd1");
    assertThat(number(data, "ratelimit.limit")).isEqualTo(9);
    assertThat(number(data, "ratelimit.remaining")).isZero();
    assertThat(number(data, "ratelimit.reset_after_ms")).isEqualTo(30_000);
    assertThat(number(data, "ratelimit.cost")).isEqualTo(4);
    assertThat(text(data, "ratelimit.counter")).isNull();
  }

  @Test
  void aRequestWithoutARuleShowsItsDescriptors() {
    record(
        never,
        new RateLimitRequest("d", List.of(user("a"), user("b")), 1),
        Verdict.UNTOUCHED,
        Verdict.UNTOUCHED);
    assertThat(texts(onlySpan(), "ratelimit.descriptors")).containsExactly("user=a", "user=b");
    assertThat(text(onlySpan(), "ratelimit.descriptor")).isNull();
  }

  @Test
  void valuesAndTheNumberOfDescriptorsAreBounded() {
    String[] many = new String[400];
    Arrays.fill(many, "x".repeat(70_000));
    Descriptor descriptor = new Descriptor(many, null, Descriptor.HITS_UNSET, false);
    Verdict[] verdicts = new Verdict[1_000];
    Arrays.fill(verdicts, Verdict.UNTOUCHED);
    record(never, new RateLimitRequest("d", Collections.nCopies(1_000, descriptor), 1), verdicts);
    assertThat(texts(onlySpan(), "ratelimit.descriptors"))
        .hasSize(32)
        .allMatch(text -> text.length() < 1_000);
  }

  @Test
  void withoutDescriptorsASpanHasAHashOfTheCounterWhichIsTheSameInEveryProcess() {
    DecisionTracing hashing =
        never.with(new SpanContents(new TracedValues(false), (_, _) -> null, false));
    Rule rule = perUser("");
    Rule divided =
        Book.of(
                "domain: d\ndescriptors: [{key: k, rate_limit: {unit: day, requests_per_unit: 100,"
                    + " fair_share: {tenant: org}}}]\n")
            .rules()
            .getFirst();
    Rule concurrent =
        Book.of("domain: d\ndescriptors: [{key: user, concurrency: {}}]\n").rules().getFirst();
    Decision refused = Decision.refuse(9, 0, 1_000, 1_000);
    record(
        hashing,
        new RateLimitRequest(
            "d", List.of(user("secret"), user("other"), ofTenant("secret"), user("secret")), 1),
        verdict(rule, refused, Role.ENFORCED, DecidedBy.LEASE),
        verdict(rule, refused, Role.ENFORCED, DecidedBy.MEMORY),
        verdict(divided, refused, Role.ENFORCED, DecidedBy.MEMORY),
        new Verdict(true, Role.ENFORCED, concurrent, null, refused, DecidedBy.MEMORY));
    SpanData data = onlySpan();
    assertThat(data.toString()).doesNotContain("secret").doesNotContain("other");
    assertThat(texts(data, "ratelimit.descriptors")).isNull();
    String expected = "e02e8a2e83bfd6ac";
    assertThat(text(data, "ratelimit.counter")).isEqualTo(expected);
    assertThat(data.getEvents())
        .extracting(event -> event.getAttributes().get(AttributeKey.stringKey("ratelimit.counter")))
        .startsWith(expected)
        .doesNotHaveDuplicates()
        .hasSize(4);
  }

  @Test
  void theTierOfARuleThatNamesNoneIsTheOneThatApplies() {
    DecisionTracing caching =
        never.with(new SpanContents(TracedValues.PLAIN, (_, _) -> null, true));
    Decision refused = Decision.refuse(9, 0, 1_000, 1_000);
    for (String terms : List.of("", ", tier: strict", ", overdraft: true")) {
      Verdict verdict = verdict(perUser(terms), refused, Role.ENFORCED, DecidedBy.STORE);
      record(caching, new RateLimitRequest("d", List.of(user("a")), 1), verdict);
    }
    assertThat(spans.getFinishedSpanItems())
        .extracting(span -> text(span, "ratelimit.tier"))
        .containsExactly("cached_deny", "strict", "strict");
  }

  /** The caller's span ends when the answer arrives, before the server knows that it has left. */
  @Test
  void aSpanEndsWhenTheAnswerIsReady() {
    TestClock clock = TestClock.create();
    try (SdkTracerProvider provider =
        SdkTracerProvider.builder()
            .setClock(clock)
            .addSpanProcessor(SimpleSpanProcessor.create(spans))
            .build()) {
      DecisionTracing tracing = new DecisionTracing(provider.get("test"), 0, () -> 1, clock);
      CallSpan span = started(tracing.start(headers("b3", "1")));
      clock.advance(Duration.ofMillis(3));
      span.decided(
          new RateLimitRequest("d", List.of(user("a")), 1),
          new Answer(true, List.of(Verdict.UNTOUCHED)));
      long answered = clock.now();
      clock.advance(Duration.ofMillis(50));
      span.failed("deadline exceeded after 53 ms");
      span.end();
      assertThat(onlySpan().getEndEpochNanos()).isEqualTo(answered);
      assertThat(onlySpan().getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);

      started(tracing.start(headers("b3", "1"))).end();
      assertThat(spans.getFinishedSpanItems().getLast().getEndEpochNanos()).isEqualTo(clock.now());
    }
  }

  private void record(DecisionTracing tracing, RateLimitRequest request, Verdict... verdicts) {
    CallSpan span = started(tracing.start(headers("b3", "1")));
    span.decided(request, new Answer(false, List.of(verdicts)));
    span.end();
  }

  private static Rule perUser(String terms) {
    return Book.of(
            "domain: d\ndescriptors: [{key: user, rate_limit: {unit: day, requests_per_unit: 9"
                + terms
                + "}}]\n")
        .rules()
        .getFirst();
  }

  private static Descriptor user(String name) {
    return new Descriptor(new String[] {"user", name}, null, Descriptor.HITS_UNSET, false);
  }

  private static @Nullable Long number(SpanData span, String name) {
    return span.getAttributes().get(AttributeKey.longKey(name));
  }

  private static @Nullable List<String> texts(SpanData span, String name) {
    return span.getAttributes().get(AttributeKey.stringArrayKey(name));
  }

  @Test
  void theEventsOfASpanAreBoundedAndOneRuleHasNone() {
    Rule rule =
        Book.of("domain: d\ndescriptors: [{key: k, rate_limit: {unlimited: true}}]\n")
            .rules()
            .getFirst();
    Verdict verdict = new Verdict(false, Role.ENFORCED, rule, null, null, DecidedBy.NONE);
    for (int rules : new int[] {1, 2, 1_000}) {
      CallSpan span = started(never.start(headers("b3", "1")));
      span.decided(
          new RateLimitRequest("d", Collections.nCopies(rules, ofTenant("acme")), 1),
          new Answer(true, Collections.nCopies(rules, verdict)));
      span.end();
    }
    assertThat(spans.getFinishedSpanItems())
        .extracting(data -> data.getEvents().size())
        .containsExactly(0, 2, 32);
  }

  private static Verdict verdict(Rule rule, Decision decision, Role role, DecidedBy by) {
    boolean refused = !decision.admitted() && role != Role.SHADOW;
    return new Verdict(refused, role, rule, rule.limits().getFirst(), decision, by);
  }

  private static Descriptor ofTenant(String org) {
    String[] entries = {"k", "v", "org", org};
    return new Descriptor(entries, null, Descriptor.HITS_UNSET, false);
  }

  @Test
  void recordsWhyNoDecisionWasMade() {
    CallSpan span = started(never.start(headers("b3", "1")));
    span.failed("no policies");
    span.end();

    assertThat(onlySpan().getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
    assertThat(onlySpan().getStatus().getDescription()).isEqualTo("no policies");
  }

  @Test
  void leavesOutTheRuleWhenNoneMatched() {
    CallSpan span = started(never.start(headers("b3", "1")));
    span.decided("shop", "", true, 0, "memory");
    span.end();

    assertThat(onlySpan().getAttributes().asMap()).hasSize(3);
    assertThat(text(onlySpan(), "ratelimit.decision")).isEqualTo("ok");
  }

  @Test
  void keepsTheOrderOfTheTraceState() {
    started(
            never.start(
                headers(
                    "traceparent",
                    "00-" + TRACE + "-" + SPAN + "-01",
                    "tracestate",
                    "a=1, b=2,broken")))
        .end();

    assertThat(onlySpan().getSpanContext().getTraceState().asMap())
        .containsExactly(Map.entry("a", "1"), Map.entry("b", "2"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "b3=4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1",
        "b3=4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-d",
        "b3=4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1-05e3ac9a4f6e3b90",
        "x-b3-traceid=4bf92f3577b34da6a3ce929d0e0e4736;x-b3-spanid=00f067aa0ba902b7;x-b3-sampled=1",
        "x-b3-traceid=4BF92F3577B34DA6A3CE929D0E0E4736;x-b3-spanid=00f067aa0ba902b7;x-b3-flags=1",
        "traceparent=cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what-comes-later",
      })
  void continuesOtherFormatsOfASampledParent(String headers) {
    started(never.start(parsed(headers))).end();

    assertThat(onlySpan().getTraceId()).isEqualTo(TRACE);
    assertThat(onlySpan().getParentSpanId()).isEqualTo(SPAN);
  }

  @Test
  void padsAShortB3TraceId() {
    started(never.start(headers("b3", "a3ce929d0e0e4736-" + SPAN + "-1"))).end();

    assertThat(onlySpan().getTraceId()).isEqualTo("0000000000000000a3ce929d0e0e4736");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "traceparent=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00",
        "b3=0",
        "b3=4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0",
        "x-b3-sampled=0",
        "x-b3-traceid=4bf92f3577b34da6a3ce929d0e0e4736;x-b3-spanid=00f067aa0ba902b7;x-b3-sampled=0",
      })
  void respectsAnUnsampledParentAtAnyRatio(String headers) {
    drawn = 0;

    assertThat(half.start(parsed(headers))).isNull();
  }

  @Test
  void samplesRequestsWithoutATraceByTheRatio() {
    drawn = 0.499;
    started(half.start(new Metadata())).end();
    drawn = 0.5;

    assertThat(half.start(new Metadata())).isNull();
    assertThat(onlySpan().getParentSpanContext().isValid()).isFalse();
  }

  @Test
  void samplesAnUndecidedB3ParentByTheRatio() {
    drawn = 0.1;
    started(half.start(headers("b3", TRACE + "-" + SPAN))).end();
    drawn = 0.9;

    assertThat(half.start(headers("b3", TRACE + "-" + SPAN))).isNull();
    assertThat(onlySpan().getTraceId()).isEqualTo(TRACE);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "00",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-zz",
        "00_4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7_01",
      })
  void aMalformedParentIsIgnored(String traceparent) {
    assertThat(never.start(headers("traceparent", traceparent))).isNull();
  }

  @Test
  void noHeaderOf100000RandomOnesThrowsSeed20261121() {
    RandomGenerator random = new SplittableRandom(20261121);
    String[] names = {
      "traceparent", "tracestate", "b3", "x-b3-traceid", "x-b3-spanid", "x-b3-sampled", "x-b3-flags"
    };
    String[] seeds = {
      "00-" + TRACE + "-" + SPAN + "-01", "a=1,b=2", TRACE + "-" + SPAN + "-1", TRACE, SPAN, "1"
    };
    int begun = 0;
    for (int i = 0; i < 100_000; i++) {
      Metadata headers = new Metadata();
      for (String name : names) {
        if (random.nextInt(3) == 0) {
          put(headers, name, mutated(seeds[random.nextInt(seeds.length)], random));
        }
      }
      CallSpan span = half.start(headers);
      if (span != null) {
        begun++;
      }
    }
    assertThat(begun).isPositive();
  }

  private static String mutated(String seed, RandomGenerator random) {
    StringBuilder text = new StringBuilder(seed);
    for (int i = random.nextInt(4); i > 0 && !text.isEmpty(); i--) {
      int at = random.nextInt(text.length());
      switch (random.nextInt(3)) {
        case 0 -> text.setCharAt(at, (char) random.nextInt(32, 127));
        case 1 -> text.deleteCharAt(at);
        default -> text.insert(at, "-");
      }
    }
    return text.toString();
  }

  private static CallSpan started(@Nullable CallSpan span) {
    return Objects.requireNonNull(span, "not traced");
  }

  private SpanData onlySpan() {
    assertThat(spans.getFinishedSpanItems()).hasSize(1);
    return spans.getFinishedSpanItems().getFirst();
  }

  private static @Nullable String text(SpanData span, String name) {
    return span.getAttributes().get(AttributeKey.stringKey(name));
  }

  private static Metadata parsed(String headers) {
    Metadata metadata = new Metadata();
    for (String header : headers.split(";", -1)) {
      int equals = header.indexOf('=');
      put(metadata, header.substring(0, equals), header.substring(equals + 1));
    }
    return metadata;
  }

  private static Metadata headers(String... namesAndValues) {
    Metadata metadata = new Metadata();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      put(metadata, namesAndValues[i], namesAndValues[i + 1]);
    }
    return metadata;
  }

  private static void put(Metadata headers, String name, String value) {
    headers.put(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER), value);
  }
}
