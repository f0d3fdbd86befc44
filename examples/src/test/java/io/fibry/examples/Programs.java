package io.fibry.examples;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.Method;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.eclipse.jdt.core.compiler.batch.BatchCompiler;
import org.junit.jupiter.api.Assumptions;

/**
 * Compiles and runs programs as a user would: against the public API, in a class loader with a
 * library of its own, so that programs do not share names and options.
 */
final class Programs {
  private static final String CLASS_PATH = System.getProperty("java.class.path");

  private Programs() {}

  /**
   * The output of javac, warnings included; empty if there is none. Skips the test without javac (a
   * JRE).
   */
  static String javac(Path out, String name, String source) throws Exception {
    var compiler = ToolProvider.getSystemJavaCompiler();
    Assumptions.assumeTrue(compiler != null, "no javac in this Java runtime");
    var said = new StringWriter();
    var options =
        List.of("--release", "21", "-Xlint:all", "-Werror", "-proc:none", "-cp", library(), "-d", out.toString());
    try (var files = compiler.getStandardFileManager(null, Locale.ENGLISH, StandardCharsets.UTF_8)) {
      var task = compiler.getTask(said, files, null, options, null, List.of(new Source(name, source)));
      task.setLocale(Locale.ENGLISH);
      task.call();
    }
    return said.toString();
  }

  /** The errors of the Eclipse compiler, or an empty text. Needs no JDK. */
  static String ecj(Path out, Path... sources) {
    var said = new StringWriter();
    // a JRE does not know other releases
    var release = Runtime.version().feature() == 21 ? List.of("-21") : List.of("--release", "21");
    var options = new ArrayList<>(release);
    options.addAll(List.of("-nowarn", "-proc:none", "-encoding", "UTF-8", "-cp", library(), "-d", out.toString()));
    Arrays.stream(sources).map(Path::toString).forEach(options::add);
    boolean content =
        BatchCompiler.compile(options.toArray(String[]::new), new PrintWriter(said), new PrintWriter(said), null);
    return content ? "" : "errors:\n" + said;
  }

  /**
   * Runs its main method. Returns the printed lines once they are as wanted, or after 30 seconds.
   * Throws what main throws.
   */
  static List<String> run(Path classes, String main, Predicate<List<String>> wanted) throws Exception {
    var printed = new ByteArrayOutputStream();
    var before = System.out;
    var deadline = System.nanoTime() + Duration.ofSeconds(30).toNanos();
    var loader = new URLClassLoader(urls(classes), ClassLoader.getPlatformClassLoader()); // open: its timers go on
    try (var out = new PrintStream(printed, true, StandardCharsets.UTF_8)) {
      System.setOut(out);
      var ended = new CompletableFuture<Void>();
      var method = mainOf(loader.loadClass(main));
      Thread.ofPlatform().daemon().name("main of " + main).start(() -> call(method, ended))
          .setContextClassLoader(loader);
      ended.get(30, TimeUnit.SECONDS);
      // an actor may still print
      while (!wanted.test(lines(printed)) && System.nanoTime() < deadline) Thread.yield();
      return lines(printed);
    } finally {
      System.setOut(before);
    }
  }

  private static Method mainOf(Class<?> type) throws NoSuchMethodException {
    var method = type.getDeclaredMethod("main", String[].class);
    method.setAccessible(true);
    return method;
  }

  private static void call(Method method, CompletableFuture<Void> ended) {
    try {
      method.invoke(null, (Object) new String[0]);
      ended.complete(null);
    } catch (Throwable failure) {
      ended.completeExceptionally(failure);
    }
  }

  private static List<String> lines(ByteArrayOutputStream printed) {
    return printed.toString(StandardCharsets.UTF_8).lines().toList();
  }

  /** The class path without the test classes. */
  static String library() {
    var parts =
        Arrays.stream(CLASS_PATH.split(java.io.File.pathSeparator)).filter(part -> !part.contains("test-classes"));
    return String.join(java.io.File.pathSeparator, parts.toList());
  }

  private static URL[] urls(Path classes) throws Exception {
    var urls = new ArrayList<>(List.of(classes.toUri().toURL()));
    for (var part : library().split(java.io.File.pathSeparator)) urls.add(Path.of(part).toUri().toURL());
    return urls.toArray(URL[]::new);
  }

  private static final class Source extends SimpleJavaFileObject {
    private final String text;

    Source(String name, String text) {
      super(URI.create("string:///" + name + ".java"), Kind.SOURCE);
      this.text = text;
    }

    @Override
    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
      return text;
    }
  }
}
