package io.throttlekit.service.authz;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.envoyproxy.envoy.service.auth.v3.AttributeContext;
import io.envoyproxy.envoy.service.auth.v3.CheckRequest;
import io.throttlekit.service.config.ExtAuthzConfig;
import io.throttlekit.service.config.RequestDescriptor;
import io.throttlekit.service.config.RequestDescriptor.Attribute;
import io.throttlekit.service.config.RequestDescriptor.Constant;
import io.throttlekit.service.config.RequestDescriptor.Context;
import io.throttlekit.service.config.RequestDescriptor.Entry;
import io.throttlekit.service.config.RequestDescriptor.Header;
import io.throttlekit.service.config.RequestDescriptor.Source;
import io.throttlekit.service.rls.InvalidRequestException;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class CheckReaderTest {
  private static final CheckRequest NOTHING = CheckRequest.getDefaultInstance();

  @ParameterizedTest
  @CsvSource({
    "METHOD, POST",
    "PATH, /pay/1?to=anna&x=?",
    "PATH_WITHOUT_QUERY, /pay/1",
    "HOST, shop.test:8080",
    "SCHEME, https",
    "SOURCE_ADDRESS, 192.0.2.7",
    "PRINCIPAL, spiffe://shop/anna"
  })
  void everyAttributeHasEnvoysValue(Attribute attribute, String value) {
    assertThat(described(request(), entry(attribute, null))).containsExactly("[k, " + value + "]");
  }

  @ParameterizedTest
  @EnumSource
  void anAttributeThatEnvoyOmitsIsAbsent(Attribute attribute) {
    assertThat(described(NOTHING, entry(attribute, null))).isEmpty();
    assertThat(described(NOTHING, entry(attribute, "other"))).containsExactly("[k, other]");
  }

  @Test
  void headersContextAndConstantsAreCopied() {
    assertThat(described(request(), entry(new Header("x-user"), null)))
        .containsExactly("[k, anna,bert]");
    assertThat(described(request(), entry(new Header(":path"), null)))
        .containsExactly("[k, /of-the-header]");
    assertThat(described(request(), entry(new Context("upstream"), "none")))
        .containsExactly("[k, payments]");
    assertThat(described(NOTHING, entry(new Constant("all"), null))).containsExactly("[k, all]");
  }

  @Test
  void rejectsATooLongValueAndNamesItsEntry() {
    RequestDescriptor described = entry(new Constant("ü".repeat(250)), null);
    assertThat(described(NOTHING, described)).hasSize(1);
    assertThatThrownBy(() -> described(NOTHING, entry(new Constant("ü".repeat(251)), null)))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessage("the value of entry \"k\" has 502 bytes, more than grpc.max_entry_bytes (500)");
  }

  @Test
  void anEmptyHeaderIsAValue() {
    assertThat(described(request(), entry(new Header("x-empty"), "default")))
        .containsExactly("[k, ]");
  }

  @Test
  void rawHeadersAreReadInTheAbsenceOfOthers() {
    CheckRequest raw =
        CheckRequest.newBuilder()
            .setAttributes(
                AttributeContext.newBuilder()
                    .setRequest(
                        AttributeContext.Request.newBuilder()
                            .setHttp(rawHeaders("x-user", "anna", "x-other", "o", "x-user", "b"))))
            .build();
    assertThat(described(raw, entry(new Header("x-user"), null))).containsExactly("[k, anna,b]");
    assertThat(described(raw, entry(new Header("x-no"), null))).isEmpty();
  }

  @Test
  void aDescriptorWithAMissingEntryIsSkipped() {
    RequestDescriptor both =
        new RequestDescriptor(
            List.of(
                new Entry("user", new Header("x-user"), null),
                new Entry("team", new Header("x-team"), null)));
    assertThat(described(request(), both, entry(new Constant("all"), null)))
        .containsExactly("[k, all]");
    RequestDescriptor complete =
        new RequestDescriptor(
            List.of(
                new Entry("user", new Header("x-user"), null),
                new Entry("team", new Header("x-team"), "none")));
    assertThat(described(request(), complete)).containsExactly("[user, anna,bert, team, none]");
  }

  @Test
  void bytesThatAreNotUtf8AreReplaced() {
    CheckRequest request =
        CheckRequest.newBuilder()
            .setAttributes(
                AttributeContext.newBuilder()
                    .setRequest(
                        AttributeContext.Request.newBuilder()
                            .setHttp(
                                AttributeContext.HttpRequest.newBuilder()
                                    .setPath("/m?ller")
                                    .putHeaders("x-?", "?")
                                    .putHeaders("x-user", "m?ller"))))
            .build();
    byte[] sent = request.toByteArray();
    for (int i = 0; i < sent.length; i++) {
      sent[i] = sent[i] == '?' ? (byte) 0xfc : sent[i];
    }
    CheckReader reader =
        reader(entry(Attribute.PATH, null), entry(new Header("x-user"), "not found"));
    assertThat(reader.read(sent).descriptors())
        .extracting(descriptor -> descriptor.entries()[1])
        .containsExactly("/m\uFFFDller", "m\uFFFDller");
  }

  private static AttributeContext.HttpRequest rawHeaders(String... headers) {
    AttributeContext.HttpRequest.Builder http = AttributeContext.HttpRequest.newBuilder();
    for (int i = 0; i < headers.length; i += 2) {
      http.getHeaderMapBuilder()
          .addHeadersBuilder()
          .setKey(headers[i])
          .setRawValue(ByteString.copyFromUtf8(headers[i + 1]));
    }
    return http.build();
  }

  private static CheckRequest request() {
    AttributeContext.Builder written = AttributeContext.newBuilder();
    written
        .getRequestBuilder()
        .getHttpBuilder()
        .setMethod("POST")
        .setPath("/pay/1?to=anna&x=?")
        .setHost("shop.test:8080")
        .setScheme("https")
        .putHeaders("x-user", "anna,bert")
        .putHeaders(":path", "/of-the-header")
        .putHeaders("x-empty", "");
    written.getSourceBuilder().setPrincipal("spiffe://shop/anna");
    written
        .getSourceBuilder()
        .getAddressBuilder()
        .getSocketAddressBuilder()
        .setAddress("192.0.2.7")
        .setPortValue(4711);
    written.putContextExtensions("upstream", "payments");
    return CheckRequest.newBuilder().setAttributes(written).build();
  }

  private static RequestDescriptor entry(Source source, @Nullable String otherwise) {
    return new RequestDescriptor(List.of(new Entry("k", source, otherwise)));
  }

  private static List<String> described(CheckRequest request, RequestDescriptor... configured) {
    return reader(configured).read(request.toByteArray()).descriptors().stream()
        .map(descriptor -> Arrays.toString(descriptor.entries()))
        .toList();
  }

  private static CheckReader reader(RequestDescriptor... configured) {
    return new CheckReader(new ExtAuthzConfig("d", List.of(configured), false), 500);
  }
}
