package io.fibry.micrometer;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.lang.management.ManagementFactory;
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
 * {@link #bindTo} registers no gauge. The threads of {@code fibry-carriers} are not counted.
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
    if (!beans.isRegistered(bean)) return;
    gauge(registry, "parallelism", beans, bean, "Parallelism", "Carriers that may run virtual threads at once");
    gauge(registry, "carriers", beans, bean, "PoolSize", "Carriers that exist, also the blocked carriers");
    gauge(registry, "mounted", beans, bean, "MountedVirtualThreadCount", "Virtual threads that run on a carrier");
    gauge(registry, "queued", beans, bean, "QueuedVirtualThreadCount", "Virtual threads that wait for a carrier");
  }

  private void gauge(MeterRegistry registry, String suffix, MBeanServer beans, ObjectName bean, String attribute,
      String description) {
    registered.add(registry, Gauge.builder("fibry.scheduler." + suffix, () -> read(beans, bean, attribute)).tags(tags)
        .baseUnit("threads").description(description).register(registry));
  }

  /** Returns NaN if the value is unknown, which the bean reports as -1. */
  private static double read(MBeanServer beans, ObjectName bean, String attribute) {
    try {
      return beans.getAttribute(bean, attribute) instanceof Number number && number.longValue() >= 0
          ? number.doubleValue() : Double.NaN;
    } catch (JMException unknown) {
      return Double.NaN;
    }
  }

  /** Removes the gauges from their registries. */
  @Override
  public void close() {
    registered.remove();
  }
}
