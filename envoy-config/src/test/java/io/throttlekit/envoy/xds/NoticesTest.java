package io.throttlekit.envoy.xds;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class NoticesTest {
  @Test
  void pendingLinesAreBoundedAndWrittenOnFlush() {
    Notices notices = new Notices();
    List<Integer> written = new ArrayList<>();
    for (int i = 0; i < 1_000_000; i++) {
      int line = i;
      notices.add(() -> written.add(line));
    }
    assertThat(written).isEmpty();
    notices.write();
    assertThat(written).hasSize(Notices.MAX_PENDING).startsWith(0, 1, 2);
    notices.write();
    assertThat(written).hasSize(Notices.MAX_PENDING);
    notices.add(() -> written.add(-1));
    notices.write();
    assertThat(written).endsWith(-1);
  }
}
