package io.fibry.yieldpoint;

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;

/**
 * Puts fine points into the classes of the library as they are loaded. Classes of tests, whose
 * accounts are no part of the race, and the simulator get no fine points.
 */
public final class YieldPointAgent implements ClassFileTransformer {
  private static final String PROPERTY = "fibry.fine";
  /** Without points: it counts as long as the JVM lives, so each run would have others. */
  private static final String COUNTS = "io/fibry/engine/jvm/StackProbe";

  private YieldPointAgent() {}

  /** With -javaagent: before a class of the library is loaded. */
  public static void premain(String arguments, Instrumentation jvm) {
    jvm.addTransformer(new YieldPointAgent());
    System.setProperty(PROPERTY, "true");
  }

  /** Fails where a test would see no fine points, and so pass. */
  public static void require() {
    if (!Boolean.getBoolean(PROPERTY)) throw new IllegalStateException(
        "no fine points in this JVM; start it with -javaagent:target/yield-points.jar, as Maven does");
  }

  @Override
  public byte[] transform(ClassLoader loader, String type, Class<?> redefined, ProtectionDomain domain, byte[] bytes) {
    if (type == null || !isOfLibrary(type, domain)) return null;
    try {
      return YieldPointInserter.of(bytes);
    } catch (RuntimeException unreadable) {
      System.err.println("no fine points in " + type + ": " + unreadable);
      return null;
    }
  }

  private static boolean isOfLibrary(String type, ProtectionDomain domain) {
    if (!type.startsWith("io/fibry/") || type.startsWith("io/fibry/simulation/") || type.startsWith("io/fibry/test/")
        || type.equals(COUNTS))
      return false;
    String source = domain.getCodeSource().getLocation().getPath();
    return !source.endsWith("/test-classes/") && !source.endsWith("-tests.jar");
  }
}
