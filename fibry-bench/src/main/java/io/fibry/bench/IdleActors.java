package io.fibry.bench;

import io.fibry.bench.peer.Peer;
import io.fibry.bench.peer.Peers;
import io.fibry.bench.peer.Receiver;
import io.fibry.bench.report.Result;
import io.fibry.bench.report.ResultRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CountDownLatch;

/**
 * Bytes of heap that an idle actor takes, new and after a message. Each peer has a process
 * of its own: {@code IdleActors fiber 1000000 worked} is one. The stack of a platform thread is not
 * in the heap.
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

  private IdleActors() {}

  public static void main(String[] args) throws Exception {
    if (args.length == 3) {
      measure(args[0], Integer.parseInt(args[1]), args[2]);
      System.exit(0); // threads of peers may be alive
    }
    System.out.println("JDK " + Runtime.version() + "; bytes of heap for each idle actor");
    for (var state : List.of(MADE, WORKED)) {
      var rows = new ArrayList<ResultRow>();
      for (var who : OURS) rows.add(inProcess(who, "fibry, " + who, state));
      for (var who : PEERS) rows.add(inProcess(who, who, state));
      var title = String.format(Locale.ROOT,
          "heap of an idle actor that has handled %s message, measured by %,d in a process (%,d where each has a "
              + "platform thread, whose stack is not in the heap)",
          state.equals(MADE) ? "no" : "a", MANY, THREADS);
      Result.here("idle-" + state, title, rows).write();
    }
  }

  private static ResultRow inProcess(String who, String side, String state) throws IOException, InterruptedException {
    return ResultRow.of(side, "B", "",
        ChildJvm.figures(List.of(), IdleActors.class, who, ON_THREADS.contains(who) ? THREADS : MANY, state));
  }

  private static void measure(String who, int many, String state) throws InterruptedException {
    var peer = Peers.of(who);
    Receiver.awaitEach(peer.actors(1, CountDownLatch::countDown)); // makes what all actors share
    var bare = new Object[many];
    long before = Heap.used();
    fill(bare, peer, state.equals(WORKED));
    double each = (double) (Heap.used() - before) / many;
    System.out.printf(Locale.ROOT, "%-14s %-6s %,9d actors: %8.1f%n", who, state, bare.length, each);
    ChildJvm.tell(String.format(Locale.ROOT, "%.1f", each));
  }

  private static void fill(Object[] bare, Peer peer, boolean worked) throws InterruptedException {
    var actors = peer.actors(bare.length, CountDownLatch::countDown);
    if (worked) Receiver.awaitEach(actors);
    for (int i = 0; i < bare.length; i++) bare[i] = actors.get(i).bare();
  }
}
