package io.fibry.simulation;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.simulation.agent.Agent;
import io.fibry.simulation.agent.Attach;
import io.fibry.simulation.tap.Machine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The agent comes into a JVM by its flag, or is attached; from a jar, or from a folder. */
@Timeout(120)
class AttachJvmTest {
  private static final Path CLASSES = Path.of("target/classes").toAbsolutePath();

  /** Attaches from several threads at once, while virtual threads are at work. */
  static final class Program {
    public static void main(String[] args) throws Exception {
      try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
        Callable<Void> attach = () -> {
          Attach.ensure();
          return null;
        };
        for (var one : threads.invokeAll(List.of(attach, attach, attach))) one.get();
      }
      System.out.println("simulated: " + Simulated.sleep());
    }
  }

  /** Loaded when the agent is there. */
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
      System.out.println(Machine.class.getClassLoader() == null);
      Attach.ensure();
    }
  }

  @Test
  void attachesToAJvmWithoutTheFlag() throws Exception {
    assertSimulates(Jvm.run(0, List.of(), Jvm.CLASS_PATH, Program.class));
  }

  @Test
  void attachesTheJar(@TempDir Path folder) throws Exception {
    assertSimulates(Jvm.run(0, List.of(), withJar(jar(folder)), Program.class));
  }

  @Test
  void theJarIsTheAgent(@TempDir Path folder) throws Exception {
    var jar = jar(folder);

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
  void aClassThatWasLoadedTooEarlyIsTold() throws Exception {
    var printed = Jvm.run(1, List.of(), Jvm.CLASS_PATH, TooEarly.class);

    assertTrue(printed.contains("was loaded before the agent was there"), printed);
  }

  private static void assertSimulates(String printed) {
    assertTrue(printed.contains("simulated: PT72H"), printed);
  }

  private static String withJar(Path jar) {
    return Jvm.CLASS_PATH.replace(CLASSES.toString(), jar.toString());
  }

  /** What Maven makes, as far as the agent goes. */
  private static Path jar(Path folder) throws IOException {
    var jar = folder.resolve("a jar.jar");
    var manifest = new Manifest();
    manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
    for (var entry : List.of("Premain-Class", "Agent-Class"))
      manifest.getMainAttributes().putValue(entry, Agent.class.getName());
    for (var entry : List.of("Can-Redefine-Classes", "Can-Retransform-Classes"))
      manifest.getMainAttributes().putValue(entry, "true");
    try (var out = new JarOutputStream(Files.newOutputStream(jar), manifest); var files = Files.walk(CLASSES)) {
      for (var file : files.filter(Files::isRegularFile).toList()) {
        var name = CLASSES.relativize(file).toString().replace('\\', '/');
        if (name.startsWith("io/fibry/simulation/tap/")) continue;
        out.putNextEntry(new JarEntry(name));
        Files.copy(file, out);
      }
    }
    return jar;
  }
}
