package io.fibry.bench;

import io.fibry.ActorSystem;
import java.io.File;
import java.nio.file.Path;
import java.util.List;
import java.util.StringJoiner;
import java.util.concurrent.CountDownLatch;
import org.slf4j.LoggerFactory;

/**
 * Programs that start, do one thing, and end. Their cost is the processor time of the JVM, which
 * mostly loads classes. The class path has only the library and SLF4J.
 */
final class StartWorkloads {
  /**
   * The system rounds user time and system time down to steps of 10 ms, each by 5 ms on average.
   */
  private static final double MEAN_ROUNDING_NANOS = 10_000_000;

  private StartWorkloads() {}

  static double actors(int times) throws Exception {
    return processorNanosEach(times, OneActor.class);
  }

  static double virtualThreads(int times) throws Exception {
    return processorNanosEach(times, OneVirtualThread.class);
  }

  private static double processorNanosEach(int times, Class<?> program) throws Exception {
    var classPath = new StringJoiner(File.pathSeparator);
    for (var type : List.of(program, ActorSystem.class, LoggerFactory.class))
      classPath.add(Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI()).toString());
    // replaces the long class path, and prevents a warning that there is no logger
    var flags = List.of("-cp", classPath.toString(), "-Dslf4j.internal.verbosity=ERROR");
    double nanos = 0;
    for (int i = 0; i < times; i++) nanos += ChildJvm.measurements(flags, program)[0];
    return nanos / times + MEAN_ROUNDING_NANOS;
  }

  /** Called by a program at its end. */
  private static void tellProcessorTime() {
    ChildJvm.tell(ProcessHandle.current().info().totalCpuDuration().orElseThrow().toNanos());
  }

  /** Makes one actor, which handles one message. */
  static final class OneActor {
    public static void main(String[] args) throws Exception {
      var handled = new CountDownLatch(1);
      ActorSystem.anonymous().newActor((CountDownLatch message) -> message.countDown()).sendMessage(handled);
      handled.await();
      tellProcessorTime();
    }
  }

  /** Starts one virtual thread, and waits for it. */
  static final class OneVirtualThread {
    public static void main(String[] args) throws Exception {
      var handled = new CountDownLatch(1);
      Thread.startVirtualThread(handled::countDown);
      handled.await();
      tellProcessorTime();
    }
  }
}
