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
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/**
 * A JVM that runs programs one after the other. Each program has its own class loader, and thus its
 * own copy of the library and its own output. A program has ended when its main method and its
 * non-daemon threads have ended.
 */
final class ProgramJvm implements AutoCloseable {
  private static final String MODULE = "io.fibry.examples";
  private static final String START = MODULE + ".start.Start";
  private static final String END = "-- the end: ";
  private static final String NORMAL_END = END + "well";

  private final Child jvm;
  private int oldLines; // the number of lines that earlier programs printed

  private ProgramJvm(List<String> flags, String... arguments) {
    var allFlags = new ArrayList<>(flags);
    allFlags.add("-Dfibry.carriers=off"); // otherwise the log would have a line about them
    jvm = Child.java(allFlags, ProgramJvm.class, arguments);
  }

  /** Starts a JVM whose programs are modules, each in its own layer. */
  static ProgramJvm ofModules(String modulePath, String... flags) {
    return new ProgramJvm(List.of(flags), "modules", modulePath);
  }

  /**
   * Starts a JVM whose programs have this folder on their class path, beside the class path of the
   * JVM. The programs may simulate.
   */
  static ProgramJvm ofClasses(Path classes) {
    // allows the simulation's agent, and hides the JVM's warning that an agent disables class-data
    // sharing
    return new ProgramJvm(
        List.of("-XX:+EnableDynamicAgentLoading", "-XX:+UnlockDiagnosticVMOptions", "-XX:-PrintWarnings"),
        "classes", classes.toString());
  }

  /** Runs an example as {@code mvn -Prun} does, and returns its output. */
  String run(String... example) {
    return call(START, example);
  }

  /** Runs a main method, and returns its output. */
  String call(String main, String... arguments) {
    var command = new ArrayList<>(List.of(main));
    command.addAll(Arrays.asList(arguments));
    try {
      jvm.input().write((String.join("\t", command) + "\n").getBytes(StandardCharsets.UTF_8));
      jvm.input().flush();
    } catch (IOException failure) {
      throw new UncheckedIOException("the JVM has ended; its output:\n" + jvm.output(), failure);
    }
    String end;
    try {
      end = jvm.awaitLine(line -> line.startsWith(END));
    } catch (AssertionError timeout) {
      throw new AssertionError(String.join(" ", command) + ": " + timeout.getMessage() + "\n" + jvm.output(), timeout);
    }
    var lines = jvm.lines();
    int lastLine = oldLines + lines.subList(oldLines, lines.size()).indexOf(end);
    var printedText = String.join("\n", lines.subList(oldLines, lastLine)).strip();
    oldLines = lastLine + 1;
    assertEquals(NORMAL_END, end, printedText);
    return printedText;
  }

  @Override
  public void close() {
    jvm.close();
  }

  /** Runs in the JVM: runs the program that each line of the input names. */
  public static void main(String[] setup) throws Exception {
    var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    var loaders = setup[0].equals("modules") ? layers(setup[1]) : classes(setup[1]);
    for (var line = in.readLine(); line != null; line = in.readLine()) {
      var command = line.split("\t");
      var arguments = Arrays.copyOfRange(command, 1, command.length);
      runProgram(loaders.get(), command[0], arguments, Outputs.OUT);
    }
    Runtime.getRuntime().halt(0); // the process that sent the commands has ended
  }

  private static void runProgram(ClassLoader loader, String main, String[] arguments, PrintStream out)
      throws InterruptedException {
    var failure = new Throwable[1];
    var thread = new Thread(() -> failure[0] = failureOf(loader, main, arguments), main);
    thread.setContextClassLoader(loader);
    Outputs.redirect(loader, out, out);
    thread.start();
    thread.join();
    for (var other = nextThread(loader); other.isPresent(); other = nextThread(loader)) other.get().join();
    if (failure[0] != null) failure[0].printStackTrace(out);
    Outputs.redirect(loader, OutputStream.nullOutputStream(), OutputStream.nullOutputStream());
    out.println("\n" + (failure[0] == null ? NORMAL_END : END + failure[0].getClass()));
  }

  /** Returns a live non-daemon thread of the program. Any thread of the program may start it. */
  private static Optional<Thread> nextThread(ClassLoader loader) {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> !thread.isDaemon() && thread.isAlive() && thread.getContextClassLoader() == loader).findAny();
  }

  private static Throwable failureOf(ClassLoader loader, String main, String[] arguments) {
    try {
      var method = loader.loadClass(main).getDeclaredMethod("main", String[].class);
      method.setAccessible(true);
      method.invoke(null, (Object) arguments);
      return null;
    } catch (InvocationTargetException thrown) {
      return thrown.getCause();
    } catch (ReflectiveOperationException | LinkageError exception) {
      return exception;
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
      controller.addOpens(examples, MODULE + ".start", ProgramJvm.class.getModule());
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
