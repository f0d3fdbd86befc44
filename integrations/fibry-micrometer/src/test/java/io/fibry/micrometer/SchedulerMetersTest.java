package io.fibry.micrometer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import javax.management.Attribute;
import javax.management.AttributeList;
import javax.management.AttributeNotFoundException;
import javax.management.DynamicMBean;
import javax.management.MBeanInfo;
import javax.management.ObjectName;
import org.junit.jupiter.api.Test;

class SchedulerMetersTest {
  private static final int FIRST_VERSION = 24; // of Java, whose scheduler has a bean

  private final MeterRegistry registry = new SimpleMeterRegistry();

  /** A bean with the given attributes. */
  private record FakeScheduler(Map<String, Number> attributes) implements DynamicMBean {
    static final Integer FAILS = -2;

    @Override
    public Object getAttribute(String name) throws AttributeNotFoundException {
      var value = attributes.get(name);
      if (value == null) throw new AttributeNotFoundException(name);
      if (value == FAILS) throw new UnsupportedOperationException(); // the server wraps it in a RuntimeMBeanException
      return value;
    }

    @Override
    public void setAttribute(Attribute attribute) {
      throw new UnsupportedOperationException();
    }

    @Override
    public AttributeList getAttributes(String[] names) {
      throw new UnsupportedOperationException();
    }

    @Override
    public AttributeList setAttributes(AttributeList newAttributes) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Object invoke(String action, Object[] parameters, String[] signature) {
      throw new UnsupportedOperationException();
    }

    @Override
    public MBeanInfo getMBeanInfo() {
      return new MBeanInfo(FakeScheduler.class.getName(), "for a test", null, null, null, null);
    }
  }

  private double gauge(String suffix) {
    return registry.get("fibry.scheduler." + suffix).tag("floor", "two").gauge().value();
  }

  @Test
  void gaugesShowAttributesOfSchedulerBean() throws Exception {
    var attributes = new ConcurrentHashMap<String, Number>(Map.of("Parallelism", 8, "PoolSize", 9,
        "MountedVirtualThreadCount", 3, "QueuedVirtualThreadCount", 5_000_000_000L));
    var name = "io.fibry:type=SchedulerMetersTest";
    var beans = ManagementFactory.getPlatformMBeanServer();
    beans.registerMBean(new FakeScheduler(attributes), new ObjectName(name));
    try (var meters = new SchedulerMeters(Tags.of("floor", "two"), name)) {
      meters.bindTo(registry);

      assertEquals(List.of(8.0, 9.0, 3.0, 5e9),
          Stream.of("parallelism", "carriers", "mounted", "queued").map(this::gauge).toList());
      attributes.put("QueuedVirtualThreadCount", -1L);
      attributes.remove("PoolSize");
      attributes.put("Parallelism", FakeScheduler.FAILS);
      assertEquals(List.of(0.0, 0.0, 0.0), Stream.of("queued", "carriers", "parallelism").map(this::gauge).toList());
    } finally {
      beans.unregisterMBean(new ObjectName(name));
    }
    assertEquals(List.of(), registry.getMeters());
  }

  @Test
  void unknownAttributeHasNoGauge() throws Exception {
    var name = "io.fibry:type=SchedulerMetersTest,scheduler=partial";
    var beans = ManagementFactory.getPlatformMBeanServer();
    beans.registerMBean(new FakeScheduler(Map.of("Parallelism", 8, "PoolSize", -1, "QueuedVirtualThreadCount",
        FakeScheduler.FAILS)), new ObjectName(name));
    try {
      new SchedulerMeters(Tags.empty(), name).bindTo(registry);

      assertEquals(List.of("fibry.scheduler.parallelism"),
          registry.getMeters().stream().map(meter -> meter.getId().getName()).toList());
    } finally {
      beans.unregisterMBean(new ObjectName(name));
    }
  }

  @Test
  void noGaugeIsRegisteredWithoutSchedulerBean() {
    new SchedulerMeters(Tags.empty(), "io.fibry:type=NoSuchBean").bindTo(registry);

    assertEquals(List.of(), registry.getMeters());
  }

  @Test
  void jdkSchedulerIsMeteredIfItHasBean() {
    // @start region="scheduler"
    new SchedulerMeters().bindTo(registry);
    // @end
    if (Runtime.version().feature() < FIRST_VERSION) assertEquals(List.of(), registry.getMeters());
    else assertTrue(registry.get("fibry.scheduler.parallelism").gauge().value() >= 1);
  }
}
