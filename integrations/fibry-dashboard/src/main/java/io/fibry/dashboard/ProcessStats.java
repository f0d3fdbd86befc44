package io.fibry.dashboard;

import java.lang.management.ManagementFactory;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import javax.management.JMException;
import javax.management.ObjectName;

/**
 * Reads the heap, the load of the processors, and the JDK's scheduler of virtual threads. The beans
 * are found by name, because the bean of the scheduler exists only since Java 24.
 */
final class ProcessStats {
  /** The virtual threads that wait for a carrier, and how many carriers run at the same time. */
  record QueuedThreads(long queued, long carriers) {
    static final QueuedThreads NONE = new QueuedThreads(0, 0); // also if the JVM does not know them

    /** Returns whether the scheduler is saturated, as the alert FibrySchedulerSaturated has it. */
    boolean isSaturated() {
      return queued > 2 * carriers;
    }
  }

  private static final String SYSTEM = "java.lang:type=OperatingSystem";
  private static final String SCHEDULER = "jdk.management:type=VirtualThreadScheduler";

  private ProcessStats() {}

  /** Returns a JSON object, without the values that this JVM does not know. */
  static Map<String, Object> asMap() {
    var runtime = Runtime.getRuntime();
    var map = new LinkedHashMap<String, Object>();
    map.put("heapUsed", runtime.totalMemory() - runtime.freeMemory());
    map.put("heapMax", runtime.maxMemory());
    map.put("processors", runtime.availableProcessors());
    add(map, "load", SYSTEM, "ProcessCpuLoad");
    add(map, "carriers", SCHEDULER, "PoolSize");
    add(map, "mounted", SCHEDULER, "MountedVirtualThreadCount");
    add(map, "queued", SCHEDULER, "QueuedVirtualThreadCount");
    return map;
  }

  /** Returns how many virtual threads wait for a carrier; 0 if this JVM does not count them. */
  static QueuedThreads queuedThreads() {
    return read(SCHEDULER, "QueuedVirtualThreadCount").flatMap(queued -> read(SCHEDULER, "Parallelism")
        .map(carriers -> new QueuedThreads(queued.longValue(), carriers.longValue()))).orElse(QueuedThreads.NONE);
  }

  private static void add(Map<String, Object> map, String name, String bean, String attribute) {
    read(bean, attribute).ifPresent(value -> map.put(name, value));
  }

  /** Returns the value; empty if there is no such bean, or it does not know the value. */
  static Optional<Number> read(String bean, String attribute) {
    try {
      return ManagementFactory.getPlatformMBeanServer().getAttribute(new ObjectName(bean),
          attribute) instanceof Number number && number.doubleValue() >= 0 ? Optional.of(number) : Optional.empty();
    } catch (JMException | RuntimeException unknown) { // an older JVM, or a scheduler without such a count
      return Optional.empty();
    }
  }
}
