package io.fibry.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.support.Patience;
import java.io.ByteArrayOutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.eclipse.jdt.core.compiler.batch.BatchCompiler;
import org.junit.jupiter.api.Assumptions;

/**
 * Compiles and runs programs as a user would, against the public API. Each program has a class
 * loader with its own copy of the library, so programs do not share names and options.
 */
final class Programs {
  private static final String CLASS_PATH = System.getProperty("java.class.path");
  private static final Pattern PROBLEM = Pattern.compile("^/(.*)\\.java:\\d+: (?:error|warning): ");

  private Programs() {}

  /**
   * Returns the errors and warnings of javac by the name of the source; an empty text means none.
   * All sources are compiled at once, and an error in one source does not affect the others. Skips
   * the test if there is no javac (on a JRE).
   */
  static Map<String, String> javac(Path out, Map<String, String> sources) throws Exception {
    var compiler = ToolProvider.getSystemJavaCompiler();
    Assumptions.assumeTrue(compiler != null, "no javac in this Java runtime");
    var output = new StringWriter();
    var options = List.of("--release", "21", "-Xlint:all", "-Werror", "-proc:none", "-Xmaxerrs", "1000", "-Xmaxwarns",
        "1000", "-XDshould-stop.ifError=FLOW", "-cp", library(), "-d", out.toString());
    boolean isClean;
    try (var files = compiler.getStandardFileManager(null, Locale.ENGLISH, StandardCharsets.UTF_8)) {
      var units = sources.entrySet().stream().map(source -> new Source(source.getKey(), source.getValue())).toList();
      var task = compiler.getTask(output, files, null, options, null, units);
      task.setLocale(Locale.ENGLISH);
      isClean = task.call();
    }
    var messages = new TreeMap<String, String>();
    sources.keySet().forEach(name -> messages.put(name, ""));
    for (var problem : output.toString().split("(?m)^(?=/)")) {
      var match = PROBLEM.matcher(problem);
      if (match.find()) messages.merge(match.group(1), problem, String::concat);
    }
    assertEquals(isClean, messages.values().stream().allMatch(String::isEmpty), output::toString);
    return messages;
  }

  /** Returns the errors of the Eclipse compiler, or an empty text. Needs no JDK. */
  static String ecj(Path out, Path... sources) {
    var output = new StringWriter();
    // on a JRE, the compiler knows only the JRE's own release
    var release = Runtime.version().feature() == 21 ? List.of("-21") : List.of("--release", "21");
    var options = new ArrayList<>(release);
    options.addAll(List.of("-nowarn", "-proc:none", "-encoding", "UTF-8", "-cp", library(), "-d", out.toString()));
    Arrays.stream(sources).map(Path::toString).forEach(options::add);
    boolean isCompiled =
        BatchCompiler.compile(options.toArray(String[]::new), new PrintWriter(output), new PrintWriter(output), null);
    return isCompiled ? "" : "errors:\n" + output;
  }

  /** Runs the main method of a class. Returns the printed lines when they are as expected. */
  static List<String> run(Path classes, String main, Predicate<List<String>> areExpected) throws Exception {
    var printedBytes = new ByteArrayOutputStream();
    // not closed, because the timers of the program continue
    var loader = new URLClassLoader(urls(classes), ClassLoader.getPlatformClassLoader());
    Outputs.redirect(loader, printedBytes, Outputs.ERR);
    var mainEnd = new CompletableFuture<Void>();
    var method = mainOf(loader.loadClass(main));
    var thread = Thread.ofPlatform().daemon().name("main of " + main).unstarted(() -> call(method, mainEnd));
    thread.setContextClassLoader(loader);
    thread.start();
    try {
      Patience.value(mainEnd);
      // an actor may print after the main method has ended
      Patience.progress("the printed lines are not the expected lines", printedBytes::size,
          () -> areExpected.test(lines(printedBytes)));
    } catch (AssertionError failure) {
      throw new AssertionError(failure.getMessage() + "\n" + main + " has printed " + lines(printedBytes), failure);
    }
    return lines(printedBytes);
  }

  private static Method mainOf(Class<?> type) throws NoSuchMethodException {
    var method = type.getDeclaredMethod("main", String[].class);
    method.setAccessible(true);
    return method;
  }

  private static void call(Method method, CompletableFuture<Void> mainEnd) {
    try {
      method.invoke(null, (Object) new String[0]);
      mainEnd.complete(null);
    } catch (InvocationTargetException thrown) {
      mainEnd.completeExceptionally(thrown.getCause());
    } catch (Throwable failure) { // such as an ExceptionInInitializerError
      mainEnd.completeExceptionally(failure);
    }
  }

  private static List<String> lines(ByteArrayOutputStream printedBytes) {
    return printedBytes.toString(StandardCharsets.UTF_8).lines().toList();
  }

  /** Returns the class path without the test classes. */
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
