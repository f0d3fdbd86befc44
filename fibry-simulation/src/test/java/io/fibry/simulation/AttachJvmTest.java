package io.fibry.simulation;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.simulation.agent.AgentAttacher;
import io.fibry.simulation.tap.SimulatedMachine;
import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
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

  /**
   * Simulates a program in a class loader with the parent "app" or "platform", the first argument.
   * The other arguments are the paths of the class loader.
   */
  static final class OwnLoader {
    public static void main(String[] arguments) throws Exception {
      var urls = new URL[arguments.length - 1];
      for (int i = 0; i < urls.length; i++) urls[i] = Path.of(arguments[i + 1]).toUri().toURL();
      var app = ClassLoader.getSystemClassLoader();
      try (var loader = new URLClassLoader(urls, arguments[0].equals("app") ? app : app.getParent())) {
        loader.loadClass("io.fibry.simulation.AttachJvmTest$EmptyProgram").getMethod("run").invoke(null);
      }
    }
  }

  public static final class EmptyProgram {
    public static void run() {
      System.out.println(Simulation.run(options -> options.withSeeds(10), simulation -> {}));
    }
  }

  /** The JUnit console does so if it is started by {@code -jar}. */
  @Test
  void classLoaderBelowClassPathIsRefusedWithAdvice(@TempDir Path folder) throws Exception {
    var jar = Jvm.jar(folder);
    var advice = "; give the JVM a class path or module path that has all modules of Fibry, such as "
        + "'java -cp <all jars> org.junit.platform.console.ConsoleLauncher'";

    assertContains("IllegalStateException: cannot simulate: fibry-simulation is not on the class path of this JVM, "
        + "but in the class loader java.net.URLClassLoader@", advice, runInOwnLoader(1, folder, jar, "app", List.of()));
    assertContains("IllegalStateException: cannot simulate: fibry-core is not on the class path of this JVM", advice,
        runInOwnLoader(1, folder, jar, "app", List.of("-javaagent:" + jar)));
  }

  @Test
  void classLoaderWithoutClassPathSimulates(@TempDir Path folder) throws Exception {
    var jar = Jvm.jar(folder);

    for (var flags : List.of(List.<String>of(), List.of("-javaagent:" + jar))) {
      var printed = runInOwnLoader(0, folder, jar, "platform", flags);
      assertTrue(printed.contains("11 runs in "), printed);
    }
  }

  /** Runs {@link OwnLoader} in a JVM whose class path has no other class. Returns its output. */
  private static String runInOwnLoader(int exit, Path folder, Path jar, String parent, List<String> flags)
      throws Exception {
    var name = OwnLoader.class.getName();
    var file = folder.resolve("classes/" + name.replace('.', '/') + ".class");
    Files.createDirectories(file.getParent());
    try (var bytes = OwnLoader.class.getResourceAsStream("AttachJvmTest$OwnLoader.class")) {
      Files.write(file, bytes.readAllBytes());
    }
    var arguments = new ArrayList<>(flags);
    arguments.addAll(List.of("-cp", folder.resolve("classes").toString(), name, parent));
    arguments.addAll(List.of(withJar(jar).split(File.pathSeparator)));
    return Jvm.run(exit, arguments);
  }

  private static void assertContains(String problem, String advice, String printed) {
    assertTrue(printed.contains(problem) && printed.contains(advice), printed);
    assertFalse(printed.contains("NoClassDefFoundError"), printed);
  }

  private static void assertSimulates(String printed) {
    assertTrue(printed.contains("simulated: PT72H"), printed);
  }

  private static String withJar(Path jar) {
    return Jvm.CLASS_PATH.replace(Jvm.CLASSES.toString(), jar.toString());
  }
}
