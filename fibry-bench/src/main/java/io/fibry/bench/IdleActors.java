package io.fibry.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.fibry.bench.peer.Peer;
import io.fibry.bench.peer.Peers;
import io.fibry.bench.peer.Receiver;
import io.fibry.bench.report.Result;
import io.fibry.bench.report.Row;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Pattern;

/**
 * How many bytes of heap does an idle actor take, when it is made and when it has handled a
 * message? Makes many and looks at the heap before and after, each peer in a process of its own.
 * {@code IdleActors fiber 1000000 worked} looks at one. A platform thread's stack is not in the
 * heap: of those there are two thousand, and what they really take is not seen.
 */
public final class IdleActors {
  private static final String MADE = "made";
  private static final String WORKED = "worked";
  private static final int MANY = 1_000_000;
  private static final int THREADS = 2_000;
  private static final List<String> OURS = List.of("sink", "fiber", "forkjoin", "resident", "thread");
  private static final List<String> PEERS =
      List.of("pekko", "pojo-actor", "jox", "kotlin", "virtual-queue", "platform-queue", "executor");
  private static final Set<String> ON_THREADS = Set.of("thread", "platform-queue", "executor");
  private static final Pattern BYTES = Pattern.compile("actors: +([\\d.]+)");

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
    for (var state : List.of(MADE, WORKED)) {
      var rows = new ArrayList<Row>();
      for (var who : OURS) rows.add(inProcess(who, "fibry, " + who, state));
      for (var who : PEERS) rows.add(inProcess(who, who, state));
      var title = "heap of an idle actor that " + (state.equals(MADE) ? "was made" : "has handled a message")
          + String.format(Locale.ROOT,
              ", by %,d of them in a process (%,d of those that have a platform thread, whose stack is not in the "
                  + "heap)",
              MANY, THREADS);
      Result.here("idle-" + state, title, rows).write();
    }
  }

  private static Row inProcess(String who, String side, String state) throws IOException, InterruptedException {
    var java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    int many = ON_THREADS.contains(who) ? THREADS : MANY;
    var process = new ProcessBuilder(java, "-cp", System.getProperty("java.class.path"), IdleActors.class.getName(),
        who, String.valueOf(many), state).redirectError(Redirect.INHERIT).start();
    var said = new String(process.getInputStream().readAllBytes(), UTF_8);
    System.out.print(said);
    var bytes = BYTES.matcher(said);
    if (process.waitFor() != 0 || !bytes.find()) throw new IllegalStateException(side + " came to grief, exit code "
        + process.exitValue() + "; run IdleActors " + who + " " + many + " " + state);
    return Row.of(side, "B", "", Double.parseDouble(bytes.group(1)));
  }

  private static void look(String who, int many, String state) throws InterruptedException {
    var peer = Peers.of(who);
    work(peer.actors(1, CountDownLatch::countDown)); // what all have in common is there
    var bare = new Object[many];
    long before = heap();
    fill(bare, peer, state.equals(WORKED));
    long after = heap();
    System.out.printf(Locale.ROOT, "%-14s %-6s %,9d actors: %8.1f%n", who, state, bare.length,
        (double) (after - before) / many);
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
