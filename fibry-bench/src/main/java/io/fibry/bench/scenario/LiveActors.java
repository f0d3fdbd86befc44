package io.fibry.bench.scenario;

import io.fibry.Sink;
import io.fibry.bench.ChildJvm;
import io.fibry.bench.report.ResultRow;
import io.fibry.stereotype.Stereotypes;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * Measures the heap of 10, 50 and 100 million live actors, each of which has run a task. Measures
 * also how many actors or threads fit in a heap of 1 GB. Every measurement has its own JVM.
 */
public final class LiveActors {
  private static final int BLOCK = 10_000;
  private static final int THREADS = Integer.getInteger("threads", 10_000);

  private LiveActors() {}

  /**
   * Makes {@code -Dsize} actors, and five and ten times as many. After that, fills heaps of {@code
   * -Dheap} megabytes: with actors, with virtual threads, and with at most {@code -Dthreads}
   * platform threads.
   */
  public static void main(String[] args) throws Exception {
    if (args.length > 0) {
      if (args[0].equals("keep")) keep(Integer.parseInt(args[1]));
      else ChildJvm.tell(fill(args[0]));
      System.out.flush();
      // halts, because threads are parked, and an ordinary exit may be logged, which needs memory
      Runtime.getRuntime().halt(0);
    }
    int size = Experiment.size(10_000_000);
    var experiment = new Experiment("live",
        "live actors on fibers, and how many (size); each has run one task; the heap has 64 bytes for each");
    for (int factor : new int[] {1, 5, 10}) {
      long actors = (long) size * factor;
      double[] measurements =
          ChildJvm.measurements(List.of("-Xmx" + Math.max(32, actors * 64 >> 20) + "m"), LiveActors.class, "keep",
              actors);
      experiment
          .add(ResultRow
              .of("fibry, heap with the array that holds them", "B each", factor == 1 ? "3 million possible" : "",
                  measurements[0])
              .withSize(actors));
      experiment.add(ResultRow.of("fibry, to create one", "ns each", "", measurements[1]).withSize(actors));
      experiment.add(ResultRow.of("fibry, to have it work once", "ns each", "", measurements[2]).withSize(actors));
    }
    int heap = Integer.getInteger("heap", 1_024);
    experiment.write();
    var fullHeap = new Experiment("live-in-heap",
        String.format(
            "alive at once when a heap of %,d MB is nine tenths full; at most %,d platform threads are tried",
            heap, THREADS));
    fullHeap.add(fillInChild("fibry, actors on fibers", heap, "fibers", "3 million in 16 GB"));
    fullHeap.add(fillInChild("by hand: virtual threads, parked", heap, "virtual", ""));
    fullHeap.add(fillInChild("by hand: platform threads, parked", heap, "threads",
        "3,000; 4,000 not possible untuned"));
    fullHeap.write();
  }

  /**
   * Fills the heap of a child JVM, which exits at the first OutOfMemoryError of its heap. A virtual
   * thread that fails with this error before it runs reports nothing, so without the exit the child
   * would wait for it forever.
   */
  private static ResultRow fillInChild(String side, int heap, String kind, String publishedCount) throws Exception {
    return ResultRow.of(side, "live", publishedCount,
        ChildJvm.measurements(List.of("-Xmx" + heap + "m", "-XX:+ExitOnOutOfMemoryError", "-Dthreads=" + THREADS),
            LiveActors.class, kind));
  }

  private static void keep(int actors) throws Exception {
    long heapBefore = Experiment.usedHeap();
    var sinks = new Sink<?>[actors];
    long began = System.nanoTime();
    for (int i = 0; i < actors; i++) sinks[i] = Stereotypes.fibers().sink(null);
    double makingSeconds = Experiment.secondsSince(began);
    began = System.nanoTime();
    for (int start = 0; start < actors; start += BLOCK) { // so that not all tasks run at the same time
      int end = Math.min(actors, start + BLOCK);
      var remaining = new CountDownLatch(end - start);
      for (int i = start; i < end; i++) sinks[i].execAsync(nothing -> remaining.countDown());
      remaining.await();
    }
    double workingSeconds = Experiment.secondsSince(began);
    double bytesPerActor = (Experiment.usedHeap() - heapBefore) / (double) actors;
    ChildJvm.tell(bytesPerActor, makingSeconds * 1e9 / actors, workingSeconds * 1e9 / actors);
    if (sinks[actors - 1] == null) throw new AssertionError(); // keeps the actors reachable until here
  }

  /**
   * Fills nine tenths of the heap, and returns the number of live actors or threads. Makes these in
   * blocks, each of which is small compared with the tenth that stays free.
   */
  private static int fill(String kind) throws InterruptedException {
    var blocks = new ArrayList<Object[]>();
    int count = 0;
    int blockSize = kind.equals("threads") ? 10 : (int) Math.min(1_000, Runtime.getRuntime().maxMemory() / 200_000);
    try {
      while (!isFull() && !(kind.equals("threads") && count >= THREADS)) {
        var block = new Object[blockSize];
        blocks.add(block);
        var startLatch = new CountDownLatch(kind.equals("fibers") ? 0 : block.length);
        for (int i = 0; i < block.length; i++) {
          block[i] = switch (kind) {
            case "fibers" -> Stereotypes.fibers().sink(null);
            case "virtual" -> Thread.startVirtualThread(() -> park(startLatch));
            default -> Thread.ofPlatform().daemon().start(() -> park(startLatch));
          };
        }
        startLatch.await(); // a thread that has not begun has no stack yet
        count += block.length;
      }
    } catch (OutOfMemoryError failure) {
      if (!kind.equals("threads")) throw failure;
    }
    return blocks.isEmpty() ? 0 : count;
  }

  private static void park(CountDownLatch startLatch) {
    startLatch.countDown();
    LockSupport.park();
  }

  private static boolean isFull() {
    return isNearlyFull() && Experiment.usedHeap() > Runtime.getRuntime().maxMemory() * 9 / 10;
  }

  private static boolean isNearlyFull() {
    var runtime = Runtime.getRuntime();
    return runtime.totalMemory() - runtime.freeMemory() > runtime.maxMemory() * 9 / 10;
  }
}
