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

/** The agent comes into a JVM by its flag, or is attached; from a jar, or from a folder. */
class AttachJvmTest {
  /** Attaches from several threads at once, while virtual threads are at work. */
  static final class Program {
    public static void main(String[] args) throws Exception {
      try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
        Callable<Void> attach = () -> {
          AgentAttacher.ensure();
          return null;
        };
        for (var one : threads.invokeAll(List.of(attach, attach, attach))) one.get();
      }
      System.out.println("simulated: " + Simulated.sleep());
    }
  }

  /** Loaded after the agent. */
  private static final class Simulated {
    private static Duration sleep() throws Exception {
      return TinyMachine.play(() -> {
        Thread.sleep(Duration.ofDays(3));
        return Duration.ofNanos(System.nanoTime());
      });
    }
  }

  /** Uses a class of the tap too early. */
  static final class TooEarly {
    public static void main(String[] args) {
      System.out.println(SimulatedMachine.class.getClassLoader() == null);
      AgentAttacher.ensure();
    }
  }

  @Test
  void attachesToAJvmWithoutTheFlag() throws Exception {
    assertSimulates(Jvm.run(0, List.of(), Jvm.CLASS_PATH, Program.class));
  }

  @Test
  void attachesTheJar(@TempDir Path folder) throws Exception {
    assertSimulates(Jvm.run(0, List.of(), withJar(Jvm.jar(folder)), Program.class));
  }

  @Test
  void theJarIsTheAgent(@TempDir Path folder) throws Exception {
    var jar = Jvm.jar(folder);

    var printed =
        Jvm.run(0, List.of("-javaagent:" + jar, "-XX:-EnableDynamicAgentLoading"), withJar(jar), Program.class);

    assertSimulates(printed);
  }

  @Test
  void aJvmThatForbidsAgentsSaysWhatToDo() throws Exception {
    var printed = Jvm.run(1, List.of("-XX:-EnableDynamicAgentLoading"), Jvm.CLASS_PATH, Program.class);

    assertTrue(printed.contains("the agent of fibry-simulation cannot be attached to this JVM: "), printed);
    assertTrue(printed.contains("start the JVM with -javaagent:<path of fibry-simulation.jar>"), printed);
  }

  @Test
  void aJvmThatCannotBeReachedSaysWhatToDo() throws Exception {
    var printed = Jvm.run(1, List.of("-XX:+DisableAttachMechanism"), Jvm.CLASS_PATH, Program.class);

    assertTrue(printed.contains("start the JVM with -javaagent:<path of fibry-simulation.jar>"), printed);
  }

  @Test
  void classLoadedBeforeAgentIsReported() throws Exception {
    var printed = Jvm.run(1, List.of(), Jvm.CLASS_PATH, TooEarly.class);

    assertTrue(printed.contains("was loaded before the agent was there"), printed);
  }

  private static void assertSimulates(String printed) {
    assertTrue(printed.contains("simulated: PT72H"), printed);
  }

  private static String withJar(Path jar) {
    return Jvm.CLASS_PATH.replace(Jvm.CLASSES.toString(), jar.toString());
  }
}
