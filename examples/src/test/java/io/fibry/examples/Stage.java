package io.fibry.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.support.Child;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.lang.module.ModuleFinder;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

/**
 * A JVM that runs programs one after the other. Each has class loaders, so also a library, and an
 * output of its own. A program has ended when the JVM would: after its main method and its last
 * thread that is no daemon.
 */
final class Stage implements AutoCloseable {
  private static final String MODULE = "io.fibry.examples";
  private static final String START = MODULE + ".start.Start";
  private static final String END = "-- the end: ";
  private static final String WELL = END + "well";

  private final Child jvm;
  private int passed; // lines of programs before

  private Stage(List<String> flags, String... arguments) {
    jvm = Child.java(flags, Stage.class, arguments);
  }

  /** Programs are modules, in a layer of their own. */
  static Stage ofModules(String modulePath, String... flags) {
    return new Stage(List.of(flags), "modules", modulePath);
  }

  /** Programs are on the class path, to which this folder is added. They may simulate. */
  static Stage ofClasses(Path classes) {
    // its agent, and the warning that it costs the archive of the JDK's classes
    return new Stage(List.of("-XX:+EnableDynamicAgentLoading", "-XX:+UnlockDiagnosticVMOptions", "-XX:-PrintWarnings"),
        "classes", classes.toString());
  }

  /** Runs an example as {@code mvn -Prun} does; returns what it prints. */
  String run(String... example) {
    return call(START, example);
  }

  /** Runs a main method; returns what it prints. */
  String call(String main, String... arguments) {
    var command = new ArrayList<>(List.of(main));
    command.addAll(Arrays.asList(arguments));
    try {
      jvm.input().write((String.join("\t", command) + "\n").getBytes(StandardCharsets.UTF_8));
      jvm.input().flush();
    } catch (IOException ended) {
      throw new UncheckedIOException("it has ended; its output:\n" + jvm.output(), ended);
    }
    String end;
    try {
      end = jvm.awaitLine(line -> line.startsWith(END));
    } catch (AssertionError hangs) {
      throw new AssertionError(String.join(" ", command) + ": " + hangs.getMessage() + "\n" + jvm.output(), hangs);
    }
    var lines = jvm.lines();
    int last = passed + lines.subList(passed, lines.size()).indexOf(end);
    var printed = String.join("\n", lines.subList(passed, last)).strip();
    passed = last + 1;
    assertEquals(WELL, end, printed);
    return printed;
  }

  @Override
  public void close() {
    jvm.close();
  }

  /** The JVM's own program; its commands are lines. */
  public static void main(String[] path) throws Exception {
    var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    var loaders = path[0].equals("modules") ? layers(path[1]) : classes(path[1]);
    for (var line = in.readLine(); line != null; line = in.readLine()) {
      var command = line.split("\t");
      var arguments = Arrays.copyOfRange(command, 1, command.length);
      play(loaders.get(), command[0], arguments, Outputs.OUT);
    }
    Runtime.getRuntime().halt(0); // the process that sent the commands has ended
  }

  private static void play(ClassLoader loader, String main, String[] arguments, PrintStream out)
      throws InterruptedException {
    var failure = new Throwable[1];
    var thread = new Thread(() -> failure[0] = failure(loader, main, arguments), main);
    thread.setContextClassLoader(loader);
    Outputs.redirect(loader, out, out);
    thread.start();
    thread.join();
    for (var other : Thread.getAllStackTraces().keySet())
      if (!other.isDaemon() && other.getContextClassLoader() == loader) other.join();
    if (failure[0] != null) failure[0].printStackTrace(out);
    Outputs.redirect(loader, OutputStream.nullOutputStream(), OutputStream.nullOutputStream());
    out.println("\n" + (failure[0] == null ? WELL : END + failure[0].getClass()));
  }

  private static Throwable failure(ClassLoader loader, String main, String[] arguments) {
    try {
      var method = loader.loadClass(main).getDeclaredMethod("main", String[].class);
      method.setAccessible(true);
      method.invoke(null, (Object) arguments);
      return null;
    } catch (InvocationTargetException thrown) {
      return thrown.getCause();
    } catch (ReflectiveOperationException | LinkageError failed) {
      return failed;
    }
  }

  private static Supplier<ClassLoader> layers(String modulePath) {
    var paths = Arrays.stream(modulePath.split(File.pathSeparator)).map(Path::of).toArray(Path[]::new);
    var modules = ModuleLayer.boot().configuration().resolveAndBind(ModuleFinder.of(paths), ModuleFinder.of(),
        Set.of(MODULE));
    return () -> {
      var controller = ModuleLayer.defineModulesWithOneLoader(modules, List.of(ModuleLayer.boot()),
          ClassLoader.getPlatformClassLoader());
      var examples = controller.layer().findModule(MODULE).orElseThrow();
      controller.addOpens(examples, MODULE + ".start", Stage.class.getModule());
      return examples.getClassLoader();
    };
  }

  private static Supplier<ClassLoader> classes(String folder) throws IOException {
    var urls = new ArrayList<>(List.of(Path.of(folder).toUri().toURL()));
    for (var part : System.getProperty("java.class.path").split(File.pathSeparator))
      urls.add(Path.of(part).toUri().toURL());
    return () -> new URLClassLoader(urls.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
  }
}
