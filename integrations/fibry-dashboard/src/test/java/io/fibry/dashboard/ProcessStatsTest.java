package io.fibry.dashboard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ProcessStatsTest {
  @Test
  void statsAlwaysContainHeapAndProcessors() {
    var text = JsonText.of(ProcessStats.asMap());

    assertTrue(text.matches("\\{\"heapUsed\":[1-9]\\d*,\"heapMax\":[1-9]\\d*,\"processors\":[1-9]\\d*[,}].*"), text);
  }

  @Test
  void statsContainVirtualThreadSchedulerSinceJava24() {
    var keys = ProcessStats.asMap().keySet();

    assertEquals(Runtime.version().feature() >= 24, keys.containsAll(List.of("carriers", "mounted", "queued")),
        keys::toString);
  }

  @Test
  void valueOfUnknownBeanOrAttributeIsEmpty() {
    assertEquals(Optional.empty(), ProcessStats.read("jdk.management:type=Unknown", "PoolSize"));
    assertEquals(Optional.empty(), ProcessStats.read("java.lang:type=OperatingSystem", "Unknown"));
    assertEquals(Optional.empty(), ProcessStats.read("java.lang:type=OperatingSystem", "Name"));
    assertEquals(Optional.empty(), ProcessStats.read("malformed", "PoolSize"));
  }
}
