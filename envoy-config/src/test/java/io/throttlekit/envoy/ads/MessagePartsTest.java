package io.throttlekit.envoy.ads;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.google.protobuf.ListValue;
import com.google.protobuf.UnknownFieldSet;
import com.google.protobuf.Value;
import java.util.Collections;
import org.junit.jupiter.api.Test;

class MessagePartsTest {

  private static int count(ByteString bytes, int max) {
    return MessageParts.count(bytes.newCodedInput(), ListValue.getDescriptor(), max);
  }

  private static ListValue list(int nulls) {
    return ListValue.newBuilder()
        .addAllValues(Collections.nCopies(nulls, Value.getDefaultInstance()))
        .build();
  }

  @Test
  void countsMessagesAtAnyDepth() {
    Value nested = Value.newBuilder().setListValue(list(3)).build();
    ListValue outer = ListValue.newBuilder().addValues(nested).addValues(nested).build();
    assertThat(count(outer.toByteString(), 100)).isEqualTo(2 * (2 + 3));
    assertThat(count(ByteString.EMPTY, 100)).isZero();
  }

  @Test
  void countsUnknownFields() {
    UnknownFieldSet.Field text =
        UnknownFieldSet.Field.newBuilder()
            .addLengthDelimited(ByteString.EMPTY)
            .addVarint(1)
            .build();
    UnknownFieldSet unknown = UnknownFieldSet.newBuilder().addField(77, text).build();
    assertThat(count(list(1).toBuilder().setUnknownFields(unknown).build().toByteString(), 100))
        .isEqualTo(3);
  }

  @Test
  void endsBeyondTheMaximum() {
    assertThat(count(list(50).toByteString(), 10)).isEqualTo(11);
  }

  @Test
  void countsUpToWhereTheMessageIsBroken() {
    ByteString whole = list(5).toByteString();
    assertThat(count(whole.substring(0, whole.size() - 1), 100)).isEqualTo(5);
    assertThat(count(whole.concat(ByteString.copyFrom(new byte[] {-1})), 100)).isEqualTo(5);
  }
}
