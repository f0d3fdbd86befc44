package io.fibry.bench.scenario;

import io.fibry.Actor;
import io.fibry.ActorSystem;
import io.fibry.Handler;
import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import io.fibry.pool.Pools;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * Compares two ways to run a program that reads files and computes: all work in one pool of as many
 * platform threads as processors, or the reads on fibers beside such a pool. Reads are from three
 * quarters to an eighth of the tasks, and bypass the cache of the system where it allows that.
 */
public final class FileReads {
  private static final int BYTES = 1 << 20;
  private static final int PROCESSORS = Runtime.getRuntime().availableProcessors();
  private static final LongAdder KEPT = new LongAdder(); // so that no computation is left out

  private final Path folder;
  private final int block;
  private final OpenOption[] options;

  private FileReads(Path folder, int block, OpenOption... options) {
    this.folder = folder;
    this.block = block;
    this.options = options;
  }

  /** {@code -Dsize} reads of a megabyte each. */
  public static void main(String[] args) throws Exception {
    int reads = Experiment.size(400);
    var folder = Files.createTempDirectory(Files.createDirectories(Path.of("target")), "reads");
    var content = new byte[BYTES];
    for (int i = 0; i < reads; i++) Files.write(folder.resolve("file" + i), content);
    var files = bypassingTheCache(folder);
    var experiment = new Experiment("file-reads",
        String.format(
            "tasks a second: %,d reads of 1 MB%s, and computations of about 1 ms; the size is the percentage of reads",
            reads,
            files.options.length == 1 ? " from the cache of the system" : ""));
    for (int computations : new int[] {reads / 3, reads, reads * 3, reads * 7}) {
      int percent = Math.round(100f * reads / (reads + computations));
      String published =
          computations < reads ? "+17 % against one pool" : computations > reads * 3 ? "+1 % against one pool" : "";
      experiment.side("fibry, reads on fibers, a pool computes", "tasks/s", published, percent,
          () -> files.apart(reads, computations));
      experiment.side("fibry, all in one pool of platform threads", "tasks/s", "", percent,
          () -> files.together(reads, computations));
    }
    try {
      experiment.inTurns();
    } finally {
      for (int i = 0; i < reads; i++) Files.delete(folder.resolve("file" + i));
      Files.delete(folder);
    }
  }

  private static FileReads bypassingTheCache(Path folder) throws IOException {
    int block = (int) Files.getFileStore(folder).getBlockSize();
    try {
      // by name: javac warns of this type, and the warning cannot be suppressed
      var option = Class.forName("com.sun.nio.file.ExtendedOpenOption").getField("DIRECT").get(null);
      var direct = new FileReads(folder, block, StandardOpenOption.READ, (OpenOption) option);
      direct.read(0);
      return direct;
    } catch (ReflectiveOperationException | IOException | UnsupportedOperationException refused) {
      return new FileReads(folder, block, StandardOpenOption.READ);
    }
  }

  private void read(int number) throws IOException {
    try (var file = FileChannel.open(folder.resolve("file" + number), options)) {
      var buffer = ByteBuffer.allocateDirect(64 * 1024 + block).alignedSlice(block).limit(64 * 1024);
      while (file.read(buffer) > 0) buffer.clear();
    }
  }

  private static void compute() {
    long x = KEPT.hashCode();
    for (int i = 0; i < 1_000_000; i++) x = x * 31 + i;
    KEPT.add(x);
  }

  private static Actor<Handler.Task> pool() {
    return Pools.fixed(ActorSystem.anonymous().strategy(Strategy.THREAD).mailbox(Mailbox.unbounded()), PROCESSORS)
        .newActor(Handler.Task::run);
  }

  private double together(int reads, int computations) throws Exception {
    try (var pool = pool()) {
      return tasks(reads, computations, pool, pool);
    }
  }

  private double apart(int reads, int computations) throws Exception {
    try (var pool = pool();
        Actor<Handler.Task> fibers = Pools.perMessage(ActorSystem.anonymous()).newActor(Handler.Task::run)) {
      return tasks(reads, computations, fibers, pool);
    }
  }

  private double tasks(int reads, int computations, Actor<Handler.Task> reading, Actor<Handler.Task> computing)
      throws Exception {
    int tasks = reads + computations;
    var done = new CountDownLatch(tasks);
    var next = new AtomicInteger();
    long began = System.nanoTime();
    for (int i = 0; i < tasks; i++) {
      boolean isRead = (long) (i + 1) * reads / tasks > (long) i * reads / tasks; // mixed evenly
      if (isRead) reading.sendMessage(() -> {
        read(next.getAndIncrement());
        done.countDown();
      });
      else computing.sendMessage(() -> {
        compute();
        done.countDown();
      });
    }
    done.await();
    return tasks / Experiment.seconds(began);
  }
}
