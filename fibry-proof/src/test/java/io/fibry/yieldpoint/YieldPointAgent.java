package io.fibry.yieldpoint;

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;

/**
 * Inserts yield points into the classes of the library as they are loaded. Classes of the simulator
 * and of tests get no yield points; for example, the counters of tests do not belong to the tested
 * race.
 */
public final class YieldPointAgent implements ClassFileTransformer {
  private static final String PROPERTY = "fibry.yieldPoints";
  /**
   * A class without yield points. Its counters live as long as the JVM, so each run would have
   * other yield points.
   */
  private static final String STACK_PROBE = "io/fibry/engine/jvm/StackProbe";

  private YieldPointAgent() {}

  /** Called for the option -javaagent, before a class of the library is loaded. */
  public static void premain(String arguments, Instrumentation jvm) {
    jvm.addTransformer(new YieldPointAgent());
    System.setProperty(PROPERTY, "true");
  }

  /** Fails if the agent is missing, because a test would pass without any yield point. */
  public static void require() {
    if (!Boolean.getBoolean(PROPERTY)) throw new IllegalStateException(
        "no yield points in this JVM; start it with -javaagent:target/yield-points.jar, as Maven does");
  }

  @Override
  public byte[] transform(ClassLoader loader, String className, Class<?> redefined, ProtectionDomain domain,
      byte[] bytes) {
    if (className == null || !isOfLibrary(className, domain)) return null;
    try {
      return YieldPointInserter.of(bytes);
    } catch (RuntimeException unreadable) {
      System.err.println("no yield points in " + className + ": " + unreadable);
      return null;
    }
  }

  private static boolean isOfLibrary(String className, ProtectionDomain domain) {
    if (!className.startsWith("io/fibry/") || className.startsWith("io/fibry/simulation/")
        || className.startsWith("io/fibry/test/") || className.equals(STACK_PROBE))
      return false;
    String source = domain.getCodeSource().getLocation().getPath();
    return !source.endsWith("/test-classes/") && !source.endsWith("-tests.jar");
  }
}
