package io.fibry.simulation;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.simulation.agent.AgentAttacher;
import io.fibry.simulation.tap.SimulatedMachine;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that the agent is loaded by a flag or attached later, from a jar or from a folder. */
class AttachJvmTest {
  /** Attaches the agent from several virtual threads at the same time. */
  static final class Program {
    public static void main(String[] args) throws Exception {
      try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
        Callable<Void> attach = () -> {
          AgentAttacher.ensure();
          return null;
        };
        for (var future : threads.invokeAll(List.of(attach, attach, attach))) future.get();
      }
      System.out.println("simulated: " + Simulated.sleep());
    }
  }

  /** A class that is loaded after the agent. */
  private static final class Simulated {
    private static Duration sleep() throws Exception {
      return TinyMachine.play(() -> {
        Thread.sleep(Duration.ofDays(3));
        return Duration.ofNanos(System.nanoTime());
      });
    }
  }

  /**
   * Uses a class of the package {@code tap} before it attaches the agent; the attachment then
   * fails.
   */
  static final class TooEarly {
    public static void main(String[] args) {
      System.out.println(SimulatedMachine.class.getClassLoader() == null);
      AgentAttacher.ensure();
    }
  }

  @Test
  void agentAttachesToJvmStartedWithoutJavaagentFlag() throws Exception {
    assertSimulates(Jvm.run(0, List.of(), Jvm.CLASS_PATH, Program.class));
  }

  @Test
  void agentAttachesWhenClassPathHasSimulationJar(@TempDir Path folder) throws Exception {
    assertSimulates(Jvm.run(0, List.of(), withJar(Jvm.jar(folder)), Program.class));
  }

  @Test
  void javaagentFlagLoadsAgentFromJar(@TempDir Path folder) throws Exception {
    var jar = Jvm.jar(folder);

    var printed =
        Jvm.run(0, List.of("-javaagent:" + jar, "-XX:-EnableDynamicAgentLoading"), withJar(jar), Program.class);

    assertSimulates(printed);
  }

  @Test
  void errorNamesJavaagentFlagWhenJvmForbidsLoadingAgents() throws Exception {
    var printed = Jvm.run(1, List.of("-XX:-EnableDynamicAgentLoading"), Jvm.CLASS_PATH, Program.class);

    assertTrue(printed.contains("the agent of fibry-simulation cannot be attached to this JVM: "), printed);
    assertTrue(printed.contains("start the JVM with -javaagent:<path of fibry-simulation.jar>"), printed);
  }

  @Test
  void errorNamesJavaagentFlagWhenJvmHasNoAttachMechanism() throws Exception {
    var printed = Jvm.run(1, List.of("-XX:+DisableAttachMechanism"), Jvm.CLASS_PATH, Program.class);

    assertTrue(printed.contains("start the JVM with -javaagent:<path of fibry-simulation.jar>"), printed);
  }

  @Test
  void classLoadedBeforeAgentIsReported() throws Exception {
    var printed = Jvm.run(1, List.of(), Jvm.CLASS_PATH, TooEarly.class);

    assertTrue(printed.contains("was loaded before the agent started"), printed);
  }

  private static void assertSimulates(String printed) {
    assertTrue(printed.contains("simulated: PT72H"), printed);
  }

  private static String withJar(Path jar) {
    return Jvm.CLASS_PATH.replace(Jvm.CLASSES.toString(), jar.toString());
  }
}
