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
 * The heap of 10, 50 and 100 million live actors that have worked, and how many fit in 1 GB. Every
 * row has a JVM of its own.
 */
public final class LiveActors {
  private static final int BLOCK = 10_000;
  private static final int THREADS = Integer.getInteger("threads", 10_000);

  private LiveActors() {}

  /**
   * {@code -Dsize} actors, and five and ten times as many; {@code -Dheap} megabytes, with at most
   * {@code -Dthreads} platform threads.
   */
  public static void main(String[] args) throws Exception {
    if (args.length > 0) {
      if (args[0].equals("keep")) keep(Integer.parseInt(args[1]));
      else ChildJvm.tell(fill(args[0]));
      System.out.flush();
      Runtime.getRuntime().halt(0); // threads are parked, and an exit that is logged needs memory
    }
    int size = Experiment.size(10_000_000);
    var experiment = new Experiment("live",
        "live actors on fibers, and how many (size); each has run one task; the heap has 64 bytes for each");
    for (int times : new int[] {1, 5, 10}) {
      long actors = (long) size * times;
      double[] figures =
          ChildJvm.figures(List.of("-Xmx" + Math.max(32, actors * 64 >> 20) + "m"), LiveActors.class, "keep",
              actors);
      experiment
          .add(ResultRow
              .of("fibry, heap with the array that holds them", "B each", times == 1 ? "3 million possible" : "",
                  figures[0])
              .withSize(actors));
      experiment.add(ResultRow.of("fibry, to create one", "ns each", "", figures[1]).withSize(actors));
      experiment.add(ResultRow.of("fibry, to have it work once", "ns each", "", figures[2]).withSize(actors));
    }
    int heap = Integer.getInteger("heap", 1_024);
    experiment.write();
    var full = new Experiment("live-in-heap",
        String.format(
            "alive at once when a heap of %,d MB is nine tenths full; at most %,d platform threads are tried",
            heap, THREADS));
    full.add(filled("fibry, actors on fibers", heap, "fibers", "3 million in 16 GB"));
    full.add(filled("by hand: virtual threads, parked", heap, "virtual", ""));
    full.add(filled("by hand: platform threads, parked", heap, "threads", "3,000; 4,000 not possible untuned"));
    full.write();
  }

  /**
   * Its JVM ends at the first OutOfMemoryError of the heap. A virtual thread that throws this error
   * before it runs says nothing, and would be waited for without end.
   */
  private static ResultRow filled(String side, int heap, String which, String published) throws Exception {
    return ResultRow.of(side, "live", published,
        ChildJvm.figures(List.of("-Xmx" + heap + "m", "-XX:+ExitOnOutOfMemoryError", "-Dthreads=" + THREADS),
            LiveActors.class, which));
  }

  private static void keep(int actors) throws Exception {
    long empty = Experiment.usedHeap();
    var made = new Sink<?>[actors];
    long began = System.nanoTime();
    for (int i = 0; i < actors; i++) made[i] = Stereotypes.fibers().sink(null);
    double created = Experiment.seconds(began);
    began = System.nanoTime();
    for (int from = 0; from < actors; from += BLOCK) { // so that not all run at the same time
      int to = Math.min(actors, from + BLOCK);
      var all = new CountDownLatch(to - from);
      for (int i = from; i < to; i++) made[i].execAsync(nothing -> all.countDown());
      all.await();
    }
    double worked = Experiment.seconds(began);
    double each = (Experiment.usedHeap() - empty) / (double) actors;
    ChildJvm.tell(each, created * 1e9 / actors, worked * 1e9 / actors);
    if (made[actors - 1] == null) throw new AssertionError(); // keeps them alive until here
  }

  /** How many fill the heap. Their blocks are small beside the tenth that stays free. */
  private static int fill(String which) throws InterruptedException {
    var kept = new ArrayList<Object[]>();
    int live = 0;
    int size = which.equals("threads") ? 10 : (int) Math.min(1_000, Runtime.getRuntime().maxMemory() / 200_000);
    try {
      while (!isFull() && !(which.equals("threads") && live >= THREADS)) {
        var block = new Object[size];
        kept.add(block);
        var begun = new CountDownLatch(which.equals("fibers") ? 0 : block.length);
        for (int i = 0; i < block.length; i++) {
          block[i] = switch (which) {
            case "fibers" -> Stereotypes.fibers().sink(null);
            case "virtual" -> Thread.startVirtualThread(() -> park(begun));
            default -> Thread.ofPlatform().daemon().start(() -> park(begun));
          };
        }
        begun.await(); // a thread that has not begun has no stack yet
        live += block.length;
      }
    } catch (OutOfMemoryError noMoreThreads) {
      if (!which.equals("threads")) throw noMoreThreads;
    }
    return kept.isEmpty() ? 0 : live;
  }

  private static void park(CountDownLatch begun) {
    begun.countDown();
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
