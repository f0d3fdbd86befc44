package io.fibry.simulation.agent;

import com.sun.tools.attach.VirtualMachine;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;

/**
 * Attaches the agent to this JVM if the JVM was started without it. A helper process makes the
 * attach call. Thread-safe.
 */
public final class AgentAttacher {
  private static final int TIMEOUT_SECONDS = 60;
  private static final String CORE_CLASS = "io.fibry.engine.world.Environment";

  private AgentAttacher() {}

  /**
   * Attaches the agent, unless it is attached already.
   *
   * @throws IllegalStateException if the agent cannot be attached, or the classes of Fibry have no
   * common class loader; the text names another way to start the agent or the JVM
   * @throws UnsupportedOperationException if the agent was attached but its start failed; the text
   * gives the reason
   */
  public static synchronized void ensure() {
    if (System.getProperty(Agent.STATE_PROPERTY) == null) attach();
    var state = System.getProperty(Agent.STATE_PROPERTY);
    if (state == null) throw failed("the agent was attached but did not start", null);
    if (!state.equals(Agent.READY)) throw new UnsupportedOperationException(state);
    requireCommonLoader();
  }

  /**
   * Throws if the classes of this module and of the core have no common class loader. The JVM adds
   * the jar of the agent to its class path. A class loader that asks this class path first then
   * gets the classes of this module from there, where the classes of the core are missing. A class
   * loader that does not ask it keeps its own classes.
   */
  private static void requireCommonLoader() {
    var loader = AgentAttacher.class.getClassLoader();
    boolean hasOwnClasses = loaderOf(LoadedAfterAgent.NAME, loader) == loader;
    if (hasOwnClasses && loaderOf(CORE_CLASS, loader) != null) return;
    throw new IllegalStateException("cannot simulate: "
        + (hasOwnClasses ? "fibry-core is not on the class path of this JVM"
            : "fibry-simulation is not on the class path of this JVM, but in the class loader " + loader)
        + "; give the JVM a class path or module path that has all modules of Fibry, such as 'java -cp <all jars> "
        + "org.junit.platform.console.ConsoleLauncher' instead of 'java -jar junit-platform-console-standalone.jar'");
  }

  /** Returns the loader of the class that a loader finds; null if it finds none. */
  private static ClassLoader loaderOf(String className, ClassLoader loader) {
    try {
      return Class.forName(className, false, loader).getClassLoader();
    } catch (ClassNotFoundException missing) {
      return null;
    }
  }

  private static void attach() {
    try {
      var classes = classesLocation();
      var helper = new ProcessBuilder(javaCommand(), "--add-modules", "jdk.attach", "-cp", classes.toString(),
          AttachProgram.class.getName(), Long.toString(ProcessHandle.current().pid()), agentJar(classes).toString())
          .redirectErrorStream(true).start();
      helper.getOutputStream().close();
      if (!helper.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
        helper.destroyForcibly();
        throw failed("the helper process did not end in " + TIMEOUT_SECONDS + " s", null);
      }
      var output = String.join(" ", helper.inputReader().lines().toList()); // a pipe can hold these few lines
      if (helper.exitValue() != 0) throw failed(output, null);
    } catch (IOException | URISyntaxException failure) {
      throw failed(failure.toString(), failure);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw failed("the thread was interrupted", interrupted);
    }
  }

  /** Returns the path of this module's classes: a jar, or a folder. */
  private static Path classesLocation() throws URISyntaxException, IOException {
    var source = AgentAttacher.class.getProtectionDomain().getCodeSource();
    var location = source == null ? URI.create("unknown:") : source.getLocation().toURI();
    if (!"file".equals(location.getScheme()))
      throw new IOException("the classes of fibry-simulation are not in a file, but in " + location);
    return Path.of(location);
  }

  private static String javaCommand() throws IOException {
    return ProcessHandle.current().info().command()
        .orElseThrow(() -> new IOException("the system does not say which program this JVM is"));
  }

  /**
   * Makes a jar that consists of a manifest, which names the agent and refers to the classes. The
   * classes may be in a folder, or in a jar with another manifest.
   */
  private static Path agentJar(Path classes) throws IOException {
    var jar = Files.createTempFile("fibry-simulation-agent", ".jar");
    jar.toFile().deleteOnExit();
    var manifest = new Manifest();
    var entries = manifest.getMainAttributes();
    entries.put(Attributes.Name.MANIFEST_VERSION, "1.0");
    entries.put(Attributes.Name.CLASS_PATH, classes.toUri().toString());
    entries.putValue("Agent-Class", Agent.class.getName());
    entries.putValue("Can-Redefine-Classes", "true");
    entries.putValue("Can-Retransform-Classes", "true");
    new JarOutputStream(Files.newOutputStream(jar), manifest).close();
    return jar;
  }

  private static IllegalStateException failed(String reason, Throwable cause) {
    return new IllegalStateException("the agent of fibry-simulation cannot be attached to this JVM: " + reason
        + "; start the JVM with -javaagent:<path of fibry-simulation.jar>; with Maven, add it to surefire's argLine",
        cause);
  }

  /** A class that is loaded only by its name, and so not before the agent. */
  private static final class LoadedAfterAgent {
    private static final String NAME = "io.fibry.simulation.agent.AgentAttacher$LoadedAfterAgent";
  }

  /** The program of the helper process, needed because a JVM may not attach an agent to itself. */
  static final class AttachProgram {
    private AttachProgram() {}

    public static void main(String[] arguments) throws Exception {
      try {
        var jvm = VirtualMachine.attach(arguments[0]);
        jvm.loadAgent(arguments[1]);
        jvm.detach();
      } catch (Exception failure) {
        System.out.println(failure);
        System.exit(1);
      }
    }
  }
}
