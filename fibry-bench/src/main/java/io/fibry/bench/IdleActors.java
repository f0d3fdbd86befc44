package io.fibry.bench;

import io.fibry.bench.peer.Peer;
import io.fibry.bench.peer.Peers;
import io.fibry.bench.peer.Receiver;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;

/**
 * How many bytes of heap does an idle actor take, when it is made and when it has handled a message? Makes many and looks at the heap before and after, each peer in a process of its own. {@code IdleActors fiber 1000000 worked} looks at one. A
 * platform thread's stack is not in the heap: of those there are two thousand, and what they really take is not seen.
 */
public final class IdleActors {
  private static final String MADE = "made";
  private static final String WORKED = "worked";
  private static final int MANY = 1_000_000;
  private static final int THREADS = 2_000;
  private static final List<String> ALL = List.of("sink", "fiber", "forkjoin", "resident", "pekko", "pojo-actor", "jox", "kotlin", "virtual-queue");
  private static final List<String> ON_THREADS = List.of("thread", "platform-queue", "executor");

  private IdleActors() {}

  /**
   * Looks.
   *
   * @param args the peer, how many, and {@code made} or {@code worked}; none: all
   * @throws Exception if a process cannot be run
   */
  public static void main(String[] args) throws Exception {
    if (args.length == 3) {
      look(args[0], Integer.parseInt(args[1]), args[2]);
      System.exit(0); // the threads of peers would keep it
    }
    System.out.println("JDK " + Runtime.version() + "; bytes of heap for each idle actor");
    boolean all = true;
    for (var state : List.of(MADE, WORKED)) {
      for (var who : ALL) all &= inProcess(who, MANY, state);
      for (var who : ON_THREADS) all &= inProcess(who, THREADS, state);
    }
    System.exit(all ? 0 : 1);
  }

  private static boolean inProcess(String who, int many, String state) throws IOException, InterruptedException {
    var java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    int exit = new ProcessBuilder(java, "-cp", System.getProperty("java.class.path"), IdleActors.class.getName(), who, String.valueOf(many), state).inheritIO().start().waitFor();
    if (exit != 0) System.err.println("FAILED: " + who + ", exit code " + exit);
    return exit == 0;
  }

  private static void look(String who, int many, String state) throws InterruptedException {
    var peer = Peers.of(who);
    work(peer.actors(1, CountDownLatch::countDown)); // what all have in common is there
    var bare = new Object[many];
    long before = heap();
    fill(bare, peer, state.equals(WORKED));
    long after = heap();
    System.out.printf(Locale.ROOT, "%-14s %-6s %,9d actors: %,8.1f%n", who, state, bare.length, (double) (after - before) / many);
  }

  private static void fill(Object[] bare, Peer peer, boolean worked) throws InterruptedException {
    var actors = peer.actors(bare.length, CountDownLatch::countDown);
    if (worked) work(actors);
    for (int i = 0; i < bare.length; i++) bare[i] = actors.get(i).bare();
  }

  private static void work(List<Receiver<CountDownLatch>> actors) throws InterruptedException {
    var all = new CountDownLatch(actors.size());
    for (var actor : actors) actor.send(all);
    all.await();
  }

  /** In use, once two collections agree. */
  private static long heap() throws InterruptedException {
    long last = Long.MAX_VALUE;
    while (true) {
      System.gc();
      Thread.sleep(50);
      long used = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
      if (Math.abs(last - used) < 64 * 1024) return used;
      last = used;
    }
  }
}
