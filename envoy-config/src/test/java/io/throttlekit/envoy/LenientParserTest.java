package io.throttlekit.envoy;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.ListValue;
import com.google.protobuf.Message;
import com.google.protobuf.Struct;
import com.google.protobuf.UnknownFieldSet;
import com.google.protobuf.Value;
import io.envoyproxy.envoy.config.core.v3.Metadata;
import io.envoyproxy.envoy.data.accesslog.v3.AccessLogCommon;
import io.envoyproxy.envoy.data.accesslog.v3.HTTPAccessLogEntry;
import io.envoyproxy.envoy.data.accesslog.v3.HTTPRequestProperties;
import io.envoyproxy.envoy.service.accesslog.v3.StreamAccessLogsMessage;
import io.envoyproxy.envoy.service.accesslog.v3.StreamAccessLogsMessage.HTTPAccessLogEntries;
import io.envoyproxy.envoy.service.auth.v3.CheckRequest;
import io.envoyproxy.envoy.service.discovery.v3.DeltaDiscoveryRequest;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryRequest;
import io.envoyproxy.envoy.service.load_stats.v3.LoadStatsRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class LenientParserTest {
  private static final int SEED = 20_261_128;
  private static final int MESSAGES = 300;

  /** Nested messages of a generated one: deep enough for a Struct in the metadata of an entry. */
  private static final int DEPTH = 9;

  static List<Message> kinds() {
    return List.of(
        StreamAccessLogsMessage.getDefaultInstance(),
        LoadStatsRequest.getDefaultInstance(),
        DiscoveryRequest.getDefaultInstance(),
        DeltaDiscoveryRequest.getDefaultInstance(),
        CheckRequest.getDefaultInstance(),
        RateLimitRequest.getDefaultInstance());
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void everyStringMayContainAnyBytesAndNothingElseIsLost(Message kind) throws Exception {
    RandomGenerator random = new SplittableRandom(SEED);
    int rejected = 0;
    for (int i = 0; i < MESSAGES; i++) {
      ClientBytes bytes = ClientBytes.in(random(kind, random, DEPTH), random);
      rejected += isRejected(kind, bytes.sent()) ? 1 : 0;
      assertThat(LenientParser.parse(kind, bytes.sent()))
          .as("seed %d, message %d", SEED, i)
          .isEqualTo(bytes.read());
    }
    assertThat(rejected).as("rejected by the generated class").isGreaterThan(MESSAGES / 3);
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void damagedBytesAreReadOrMalformedAndCauseNoOtherFailure(Message kind) {
    Random random = new Random(SEED);
    int malformed = 0;
    for (int i = 0; i < MESSAGES; i++) {
      byte[] damaged = ClientBytes.in(random(kind, random, DEPTH), random).sent();
      for (int left = 3; left > 0 && damaged.length > 0; left--) {
        damaged[random.nextInt(damaged.length)] = (byte) random.nextInt(256);
      }
      try {
        assertThat(LenientParser.parse(kind, damaged)).isNotNull();
      } catch (InvalidProtocolBufferException e) {
        malformed++;
      }
    }
    assertThat(malformed).as("seed %d", SEED).isBetween(1, MESSAGES - 1);
  }

  @Test
  void aMalformedSequenceBecomesOneReplacementAsInOtherReaders() throws Exception {
    byte[] sent = DiscoveryRequest.newBuilder().setTypeUrl("a??b?").build().toByteArray();
    assertThat(replaced(sent, "??", "\u00e2\u0082")).isEqualTo("a\uFFFDb?");
    assertThat(replaced(sent, "??", "\u00ff\u00fe")).isEqualTo("a\uFFFD\uFFFDb?");
    assertThat(replaced(sent, "b?", "\u00c3\u00bc")).isEqualTo("a??ü");
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 45, 46, 47, 48, 49, 50, 51, 1_000})
  void aMessageThatIsNestedTooDeeplyLosesOnlyWhatIsTooDeep(int lists) throws Exception {
    Value nested = Value.newBuilder().setStringValue("deep").build();
    for (int i = 0; i < lists; i++) {
      nested = Value.newBuilder().setListValue(ListValue.newBuilder().addValues(nested)).build();
    }
    Struct claims = Struct.newBuilder().putFields("claims", nested).build();
    HTTPAccessLogEntry deep =
        entry("first")
            .setCommonProperties(
                AccessLogCommon.newBuilder()
                    .setUpstreamCluster("payments")
                    .setMetadata(Metadata.newBuilder().putFilterMetadata("jwt", claims)))
            .build();
    StreamAccessLogsMessage sent =
        StreamAccessLogsMessage.newBuilder()
            .setHttpLogs(
                HTTPAccessLogEntries.newBuilder().addLogEntry(deep).addLogEntry(entry("2")))
            .build();
    StreamAccessLogsMessage read =
        LenientParser.parse(StreamAccessLogsMessage.getDefaultInstance(), sent.toByteArray());
    assertThat(read.getHttpLogs().getLogEntryList())
        .extracting(each -> each.getRequest().getRequestId())
        .containsExactly("first", "2");
    AccessLogCommon common = read.getHttpLogs().getLogEntry(0).getCommonProperties();
    assertThat(common.getUpstreamCluster()).isEqualTo("payments");
    assertThat(common.getMetadata().getFilterMetadataOrThrow("jwt").getFieldsMap())
        .containsKey("claims");
    if (!isRejected(StreamAccessLogsMessage.getDefaultInstance(), sent.toByteArray())) {
      assertThat(read).isEqualTo(sent);
    }
  }

  private static HTTPAccessLogEntry.Builder entry(String request) {
    return HTTPAccessLogEntry.newBuilder()
        .setRequest(HTTPRequestProperties.newBuilder().setRequestId(request));
  }

  @Test
  void keepsFieldsThatTheTypeDoesNotHave() throws Exception {
    UnknownFieldSet unknown =
        UnknownFieldSet.newBuilder()
            .addField(
                90,
                UnknownFieldSet.Field.newBuilder()
                    .addFixed64(7)
                    .addGroup(UnknownFieldSet.getDefaultInstance())
                    .addLengthDelimited(com.google.protobuf.ByteString.fromHex("ff00"))
                    .build())
            .build();
    DiscoveryRequest sent =
        DiscoveryRequest.newBuilder()
            .setUnknownFields(unknown)
            .setVersionInfo("?")
            .setTypeUrl("u")
            .build();
    byte[] bytes = sent.toByteArray();
    bytes[2] = (byte) 0xff; // the version, which is the first field
    assertThat(LenientParser.parse(sent, bytes))
        .isEqualTo(sent.toBuilder().setVersionInfo("\uFFFD").build());
  }

  @ParameterizedTest
  @ValueSource(strings = {"ff", "0a05", "0a02ff", "4c", "0a01ff4c"})
  void bytesThatAreNoMessageAreMalformed(String hex) {
    byte[] bytes = java.util.HexFormat.of().parseHex(hex);
    assertThatThrownBy(() -> LenientParser.parse(DiscoveryRequest.getDefaultInstance(), bytes))
        .isInstanceOf(InvalidProtocolBufferException.class);
  }

  private static String replaced(byte[] sent, String from, String to) throws Exception {
    String bytes = new String(sent, ISO_8859_1).replace(from, to);
    return LenientParser.parse(DiscoveryRequest.getDefaultInstance(), bytes.getBytes(ISO_8859_1))
        .getTypeUrl();
  }

  private static boolean isRejected(Message kind, byte[] bytes) {
    try {
      kind.getParserForType().parseFrom(bytes);
      return false;
    } catch (InvalidProtocolBufferException e) {
      return true;
    }
  }

  private static Message random(Message kind, RandomGenerator random, int depth) {
    Message.Builder builder = kind.newBuilderForType();
    Descriptor type = kind.getDescriptorForType();
    List<FieldDescriptor> fields = new ArrayList<>(type.getFields());
    for (FieldDescriptor field : fields) {
      boolean isMessage = field.getType() == FieldDescriptor.Type.MESSAGE;
      if (random.nextInt(5) > (isMessage ? 2 : 3) || (isMessage && depth == 0)) {
        continue;
      }
      if (field.isRepeated()) {
        for (int left = random.nextInt(3); left > 0; left--) {
          builder.addRepeatedField(field, value(builder, field, random, depth));
        }
      } else if (field.getContainingOneof() == null
          || !builder.hasOneof(field.getContainingOneof())) {
        builder.setField(field, value(builder, field, random, depth));
      }
    }
    return builder.build();
  }

  private static Object value(
      Message.Builder builder, FieldDescriptor field, RandomGenerator random, int depth) {
    return switch (field.getType()) {
      case STRING -> "text " + random.nextInt(1_000);
      case MESSAGE -> random(builder.newBuilderForField(field).buildPartial(), random, depth - 1);
      case BYTES -> com.google.protobuf.ByteString.copyFromUtf8("bytes");
      case BOOL -> random.nextBoolean();
      case ENUM ->
          field
              .getEnumType()
              .getValues()
              .get(random.nextInt(field.getEnumType().getValues().size()));
      case FLOAT -> random.nextFloat();
      case DOUBLE -> random.nextDouble();
      case INT32, UINT32, SINT32, FIXED32, SFIXED32 -> random.nextInt();
      default -> random.nextLong();
    };
  }
}
