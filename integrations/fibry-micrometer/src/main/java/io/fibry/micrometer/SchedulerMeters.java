package io.fibry.micrometer;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.lang.management.ManagementFactory;
import java.util.OptionalDouble;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * Gauges of the JDK's scheduler of virtual threads: {@code fibry.scheduler.parallelism},
 * {@code fibry.scheduler.carriers}, {@code fibry.scheduler.mounted} and
 * {@code fibry.scheduler.queued}. Thread-safe.
 * {@snippet class="io.fibry.micrometer.SchedulerMetersTest" region="scheduler"}
 *
 * <p>The gauges need Java 24 or newer, and the module {@code jdk.management}. Otherwise
 * {@link #bindTo} registers no gauge. A gauge is never NaN. The threads of {@code fibry-carriers}
 * are not counted.
 */
public final class SchedulerMeters implements MeterBinder, AutoCloseable {
  private static final String BEAN = "jdk.management:type=VirtualThreadScheduler";

  private final Tags tags;
  private final String beanName;
  private final BoundMeters registered = new BoundMeters();

  /** Makes gauges without tags. */
  public SchedulerMeters() {
    this(Tags.empty());
  }

  /**
   * Makes gauges with the given tags.
   *
   * @param tags tags of all gauges
   */
  public SchedulerMeters(Iterable<Tag> tags) {
    this(tags, BEAN);
  }

  SchedulerMeters(Iterable<Tag> tags, String beanName) {
    this.tags = Tags.of(tags);
    this.beanName = beanName;
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    var beans = ManagementFactory.getPlatformMBeanServer();
    ObjectName bean;
    try {
      bean = new ObjectName(beanName);
    } catch (JMException malformedName) {
      throw new IllegalArgumentException(malformedName);
    }
    gauge(registry, "parallelism", beans, bean, "Parallelism", "Carriers that may run virtual threads at once");
    gauge(registry, "carriers", beans, bean, "PoolSize", "Carriers that exist, also the blocked carriers");
    gauge(registry, "mounted", beans, bean, "MountedVirtualThreadCount", "Virtual threads that run on a carrier");
    gauge(registry, "queued", beans, bean, "QueuedVirtualThreadCount", "Virtual threads that wait for a carrier");
  }

  /** Registers a gauge, unless the value is unknown. A value that becomes unknown later is 0. */
  private void gauge(MeterRegistry registry, String suffix, MBeanServer beans, ObjectName bean, String attribute,
      String description) {
    if (read(beans, bean, attribute).isEmpty()) return;
    registered.gauge(registry, "fibry.scheduler." + suffix, tags, description,
        () -> read(beans, bean, attribute).orElse(0));
  }

  /**
   * Returns empty if the value is unknown. The bean then reports -1, or the read throws: a
   * JMException if the bean or the attribute is missing, and a RuntimeException if the bean itself
   * throws.
   */
  private static OptionalDouble read(MBeanServer beans, ObjectName bean, String attribute) {
    try {
      if (beans.getAttribute(bean, attribute) instanceof Number number && number.longValue() >= 0)
        return OptionalDouble.of(number.doubleValue());
    } catch (JMException | RuntimeException unknown) { // an older JVM, or a scheduler without such a count
    }
    return OptionalDouble.empty();
  }

  /** Removes the gauges from their registries. */
  @Override
  public void close() {
    registered.remove();
  }
}
