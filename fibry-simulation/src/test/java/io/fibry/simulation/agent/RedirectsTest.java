package io.fibry.simulation.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.simulation.agent.Redirect.JdkVersions;
import java.lang.invoke.MethodType;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Tests that all targets in the table exist, and that members missing in the JDK are reported. */
class RedirectsTest {
  private static final int JAVA = Runtime.version().feature();

  @BeforeAll
  static void attach() {
    AgentAttacher.ensure();
  }

  @Test
  void targetMethodOfEachRedirectExists() throws Exception {
    for (var row : RedirectTable.ALL_ROWS) {
      var target = Class.forName(row.targetClass().replace('/', '.'));
      assertTrue(
          Arrays.stream(target.getMethods())
              .anyMatch(method -> method.getName().equals(row.targetMethod()) && MethodType
                  .methodType(method.getReturnType(), method.getParameterTypes()).descriptorString()
                  .equals(row.targetDescriptor())),
          row.targetClass() + "." + row.targetMethod() + row.targetDescriptor());
    }
  }

  @Test
  void exceptionNamesMissingJdkMethod() {
    var failure = assertThrows(UnsupportedOperationException.class,
        () -> RedirectTable.of(List.of(row("java/lang/VirtualThread", "leave", "()V")), JAVA));

    assertEquals("cannot simulate on Java " + JAVA + ": VirtualThread has no method `leave` of the type ()V;"
        + " run on Java 21 or 25, or with a fibry-simulation made for this Java", failure.getMessage());
  }

  @Test
  void exceptionNamesMissingJdkField() {
    var failure = assertThrows(UnsupportedOperationException.class,
        () -> RedirectTable.of(List.of(row("java/lang/Nowhere", "planner", "J")), JAVA));

    assertTrue(failure.getMessage().contains("Nowhere has no static field `planner` of the type J"),
        failure.getMessage());
  }

  @Test
  void redirectForAnotherJdkIsIgnored() {
    var other = JAVA == 21 ? JdkVersions.JAVA_25_OR_LATER : JdkVersions.JAVA_21;

    RedirectTable.of(List.of(new Redirect(other, "java/lang/Nowhere", "planner", "J", "", "", "", type -> true)), JAVA);
  }

  @Test
  void unsupportedJavaVersionIsRefused() {
    var failure = assertThrows(UnsupportedOperationException.class, () -> RedirectTable.of(RedirectTable.ALL_ROWS, 23));

    assertEquals("cannot simulate on Java 23: run on Java 21 or 25", failure.getMessage());
  }

  private static Redirect row(String owner, String name, String type) {
    return new Redirect(JdkVersions.ALL, owner, name, type, "", "", "", within -> true);
  }
}
