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
 * The state of this JVM at the moment when a wait has failed: the scopes with their accounts and
 * waiting actors, the threads that run code of Fibry, and the holders of locks. The dump of all
 * threads, virtual threads included, goes to a file in {@code target/evidence}.
 */
public final class Evidence {
  /** Where failed tests leave what explains them. */
  public static final Path FOLDER = Path.of("target", "evidence").toAbsolutePath();
  private static final int MOST_DUMPS = 20; // of one JVM: one failure may cause a hundred
  private static final int MOST_THREADS = 40;
  private static final int MOST_FRAMES = 14;
  private static final int MOST_LINES = 120; // of scopes
  private static final AtomicInteger DUMPS = new AtomicInteger();

  private Evidence() {}

  public static String seen() {
    if (DUMPS.incrementAndGet() > MOST_DUMPS) return "this JVM has dumped its threads " + MOST_DUMPS + " times already";
    try {
      var threads = threads();
      return "the scopes, the locks and the threads:\n" + scopes() + locks() + ours(threads);
    } catch (IOException | RuntimeException | LinkageError failed) {
      return "its threads could not be dumped: " + failed;
    }
  }

  /** Every thread of this JVM with its stack; kept as a file, too. */
  private static String threads() throws IOException {
    Files.createDirectories(FOLDER);
    var file = FOLDER.resolve("threads-" + ProcessHandle.current().pid() + "-" + DUMPS.get() + ".txt");
    Files.deleteIfExists(file);
    ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).dumpThreads(file.toString(),
        ThreadDumpFormat.TEXT_PLAIN);
    return Files.readString(file);
  }

  /** The threads of a dump, which separates them by empty lines, that run code of Fibry. */
  private static String ours(String dump) {
    var threads = Arrays.stream(dump.split("\n\\s*\n")).map(String::strip)
        .filter(thread -> thread.lines().skip(1).anyMatch(Evidence::isOurs)).toList();
    return threads.stream().limit(MOST_THREADS)
        .map(thread -> thread.lines().limit(MOST_FRAMES).collect(Collectors.joining("\n")))
        .collect(Collectors.joining("\n", threads.size() + " threads run code of Fibry:\n", "\n"));
  }

  private static boolean isOurs(String frame) {
    return frame.contains("io.fibry.") && !frame.contains("io.fibry.support.");
  }

  /** Platform threads that wait for a monitor or a lock that another one owns. */
  private static String locks() {
    var infos = ManagementFactory.getThreadMXBean().dumpAllThreads(true, true);
    return Arrays.stream(infos).filter(Objects::nonNull).filter(info -> info.getLockOwnerName() != null)
        .map(Evidence::waiting).collect(Collectors.joining());
  }

  private static String waiting(ThreadInfo info) {
    return "'%s' waits for %s, which '%s' has%n".formatted(info.getThreadName(), info.getLockName(),
        info.getLockOwnerName());
  }

  /** Calls the library by reflection, because the library's own tests use this module. */
  private static String scopes() {
    try {
      var root = Class.forName("io.fibry.ActorSystem").getMethod("root").invoke(null);
      var dump = (String) Class.forName("io.fibry.ActorScope").getMethod("dump").invoke(root);
      List<String> lines = dump.lines().limit(MOST_LINES).toList();
      return String.join("\n", lines) + "\n";
    } catch (ReflectiveOperationException | RuntimeException | LinkageError absent) {
      return "";
    }
  }
}
