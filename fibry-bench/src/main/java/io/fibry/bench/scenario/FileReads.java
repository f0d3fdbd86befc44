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
 * Compares two ways to run a program that reads files and computes. Either one pool with a platform
 * thread per processor does all work, or such a pool computes, and fibers read. Three quarters to
 * an eighth of the tasks are reads. Reads bypass the file cache if the operating system allows
 * that.
 */
public final class FileReads {
  private static final int BYTES = 1 << 20;
  private static final int PROCESSORS = Runtime.getRuntime().availableProcessors();
  private static final LongAdder CHECKSUM = new LongAdder(); // so that no computation is optimized away

  private final Path folder;
  private final int blockSize;
  private final OpenOption[] options;

  private FileReads(Path folder, int blockSize, OpenOption... options) {
    this.folder = folder;
    this.blockSize = blockSize;
    this.options = options;
  }

  /** Reads {@code -Dsize} files of a megabyte each. */
  public static void main(String[] args) throws Exception {
    int reads = Experiment.size(400);
    var folder = Files.createTempDirectory(Files.createDirectories(Path.of("target")), "reads");
    var content = new byte[BYTES];
    for (int i = 0; i < reads; i++) Files.write(folder.resolve("file" + i), content);
    var files = openWithoutCache(folder);
    var experiment = new Experiment("file-reads",
        String.format(
            "tasks a second: %,d reads of 1 MB%s, and computations of about 1 ms; the size is the percentage of reads",
            reads,
            files.options.length == 1 ? " from the cache of the system" : ""));
    for (int computations : new int[] {reads / 3, reads, reads * 3, reads * 7}) {
      int percent = Math.round(100f * reads / (reads + computations));
      String publishedGain =
          computations < reads ? "+17 % against one pool" : computations > reads * 3 ? "+1 % against one pool" : "";
      experiment.side("fibry, reads on fibers, a pool computes", "tasks/s", publishedGain, percent,
          () -> files.readOnFibers(reads, computations));
      experiment.side("fibry, all in one pool of platform threads", "tasks/s", "", percent,
          () -> files.runInOnePool(reads, computations));
    }
    try {
      experiment.runInTurns();
    } finally {
      for (int i = 0; i < reads; i++) Files.delete(folder.resolve("file" + i));
      Files.delete(folder);
    }
  }

  private static FileReads openWithoutCache(Path folder) throws IOException {
    int blockSize = (int) Files.getFileStore(folder).getBlockSize();
    try {
      // by reflection: javac warns of this type, and the warning cannot be suppressed
      var option = Class.forName("com.sun.nio.file.ExtendedOpenOption").getField("DIRECT").get(null);
      var directReads = new FileReads(folder, blockSize, StandardOpenOption.READ, (OpenOption) option);
      directReads.read(0);
      return directReads;
    } catch (ReflectiveOperationException | IOException | UnsupportedOperationException failure) {
      // the system does not allow reads without its cache
      return new FileReads(folder, blockSize, StandardOpenOption.READ);
    }
  }

  private void read(int number) throws IOException {
    try (var file = FileChannel.open(folder.resolve("file" + number), options)) {
      var buffer = ByteBuffer.allocateDirect(64 * 1024 + blockSize).alignedSlice(blockSize).limit(64 * 1024);
      while (file.read(buffer) > 0) buffer.clear();
    }
  }

  private static void compute() {
    long x = CHECKSUM.hashCode();
    for (int i = 0; i < 1_000_000; i++) x = x * 31 + i;
    CHECKSUM.add(x);
  }

  private static Actor<Handler.Task> pool() {
    return Pools.fixed(ActorSystem.anonymous().strategy(Strategy.THREAD).mailbox(Mailbox.unbounded()), PROCESSORS)
        .newActor(Handler.Task::run);
  }

  private double runInOnePool(int reads, int computations) throws Exception {
    try (var pool = pool()) {
      return rate(reads, computations, pool, pool);
    }
  }

  private double readOnFibers(int reads, int computations) throws Exception {
    try (var pool = pool();
        Actor<Handler.Task> fibers = Pools.perMessage(ActorSystem.anonymous()).newActor(Handler.Task::run)) {
      return rate(reads, computations, fibers, pool);
    }
  }

  private double rate(int reads, int computations, Actor<Handler.Task> readers, Actor<Handler.Task> computers)
      throws Exception {
    int tasks = reads + computations;
    var remaining = new CountDownLatch(tasks);
    var nextFile = new AtomicInteger();
    long began = System.nanoTime();
    for (int i = 0; i < tasks; i++) {
      boolean isRead = (long) (i + 1) * reads / tasks > (long) i * reads / tasks; // mixed evenly
      if (isRead) readers.sendMessage(() -> {
        read(nextFile.getAndIncrement());
        remaining.countDown();
      });
      else computers.sendMessage(() -> {
        compute();
        remaining.countDown();
      });
    }
    remaining.await();
    return tasks / Experiment.secondsSince(began);
  }
}
