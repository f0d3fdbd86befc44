package io.fibry.support;

import java.lang.management.ManagementFactory;
import javax.management.JMException;
import javax.management.ObjectName;

/** Runs a command of {@code jcmd} in this JVM. */
public final class DiagnosticCommand {
  private DiagnosticCommand() {}

  /**
   * Runs a command and returns its output.
   *
   * @param command the name of the operation of the management bean, such as {@code jfrStart}
   */
  public static String run(String command, String... arguments) {
    try {
      return (String) ManagementFactory.getPlatformMBeanServer().invoke(
          new ObjectName("com.sun.management:type=DiagnosticCommand"), command, new Object[] {arguments},
          new String[] {String[].class.getName()});
    } catch (JMException failure) {
      throw new AssertionError(failure);
    }
  }

  /** Collects garbage. Returns a text with the number and bytes of the objects of each class. */
  public static String classHistogram() {
    return run("gcClassHistogram");
  }
}
