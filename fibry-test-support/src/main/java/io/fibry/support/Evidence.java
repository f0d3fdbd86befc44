package io.fibry.support;

import com.sun.management.HotSpotDiagnosticMXBean;
import com.sun.management.HotSpotDiagnosticMXBean.ThreadDumpFormat;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

/**
 * The state of this JVM when a wait has failed: scopes with their statistics and waiting actors,
 * threads that run code of Fibry, and holders of locks. The dump of all threads, virtual threads
 * included, goes to a file in {@code target/evidence}.
 */
public final class Evidence {
  /** The folder for thread dumps and other files that explain failed tests. */
  public static final Path FOLDER = Path.of("target", "evidence").toAbsolutePath();
  private static final int MAX_DUMPS = 20; // for each JVM, because one failure may cause a hundred others
  private static final int MAX_THREADS = 40;
  private static final int MAX_FRAMES = 14;
  private static final int MAX_LINES = 120; // of the dump of scopes
  private static final AtomicInteger DUMPS = new AtomicInteger();

  private Evidence() {}

  /** Dumps all threads to a file, and returns the description of this JVM's state. */
  public static String describe() {
    if (DUMPS.incrementAndGet() > MAX_DUMPS) return "this JVM has dumped its threads " + MAX_DUMPS + " times already";
    try {
      var threads = dumpThreads();
      return "the scopes, the locks and the threads:\n" + scopes() + locks() + fibryThreads(threads);
    } catch (IOException | RuntimeException | LinkageError failed) {
      return "the threads of this JVM could not be dumped: " + failed;
    }
  }

  /** Writes the stacks of all threads of this JVM to a file, and returns the text of the file. */
  private static String dumpThreads() throws IOException {
    Files.createDirectories(FOLDER);
    var file = FOLDER.resolve("threads-" + ProcessHandle.current().pid() + "-" + DUMPS.get() + ".txt");
    Files.deleteIfExists(file);
    ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).dumpThreads(file.toString(),
        ThreadDumpFormat.TEXT_PLAIN);
    return Files.readString(file);
  }

  /** Returns the threads of a dump that run code of Fibry. Empty lines separate the threads. */
  private static String fibryThreads(String dump) {
    var threads = Arrays.stream(dump.split("\n\\s*\n")).map(String::strip)
        .filter(thread -> thread.lines().skip(1).anyMatch(Evidence::isFibryFrame)).toList();
    return threads.stream().limit(MAX_THREADS)
        .map(thread -> thread.lines().limit(MAX_FRAMES).collect(Collectors.joining("\n")))
        .collect(Collectors.joining("\n", threads.size() + " threads run code of Fibry:\n", "\n"));
  }

  private static boolean isFibryFrame(String frame) {
    return frame.contains("io.fibry.") && !frame.contains("io.fibry.support.");
  }

  /** Returns the platform threads that wait for a monitor or lock of another thread. */
  private static String locks() {
    var threadInfos = ManagementFactory.getThreadMXBean().dumpAllThreads(true, true);
    return Arrays.stream(threadInfos).filter(Objects::nonNull).filter(info -> info.getLockOwnerName() != null)
        .map(Evidence::describeWait).collect(Collectors.joining());
  }

  private static String describeWait(ThreadInfo info) {
    return "'%s' waits for %s, which '%s' holds%n".formatted(info.getThreadName(), info.getLockName(),
        info.getLockOwnerName());
  }

  /** Calls the library by reflection, because the library's own tests use this module. */
  private static String scopes() {
    try {
      var root = Class.forName("io.fibry.ActorSystem").getMethod("root").invoke(null);
      var dump = (String) Class.forName("io.fibry.ActorScope").getMethod("dump").invoke(root);
      List<String> lines = dump.lines().limit(MAX_LINES).toList();
      return String.join("\n", lines) + "\n";
    } catch (ReflectiveOperationException | RuntimeException | LinkageError noLibrary) {
      return "";
    }
  }
}
