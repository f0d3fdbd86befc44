package io.fibry.engine.queue;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.openjdk.jol.info.ClassLayout;

/** Tests that the fields of the drain share no cache line with fields of other objects. */
class TakenMessagesLayoutTest {
  private static final int LINE = 64;

  @Test
  void paddingSurroundsAllFieldsOfDrain() {
    var layout = ClassLayout.parseClass(TakenMessages.class);
    var fields = layout.fields().stream().filter(field -> !field.name().matches("p\\d*")).toList();

    assertTrue(fields.stream().map(field -> field.name()).toList().containsAll(List.of("messageNanos", "first")));
    for (var field : fields) {
      assertTrue(field.offset() >= LINE, field + " is too near to the beginning");
      assertTrue(field.offset() + field.size() + LINE <= layout.instanceSize(), field + " is too near to the end");
    }
  }
}
