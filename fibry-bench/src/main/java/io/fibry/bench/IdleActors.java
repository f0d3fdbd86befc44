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
 * Measures how many bytes of heap an idle actor takes, when it is new and after a message. Each
 * peer has its own process, for example {@code IdleActors fiber 1000000 worked}. The stack of a
 * platform thread is not in the heap.
 */
public final class IdleActors {
  private static final String MADE = "made";
  private static final String WORKED = "worked";
  private static final int ACTORS = 1_000_000;
  private static final int ACTORS_WITH_THREADS = 2_000;
  private static final List<String> STRATEGIES = List.of("sink", "fiber", "forkjoin", "resident", "thread");
  private static final List<String> PEERS =
      List.of("pekko", "pojo-actor", "jox", "kotlin", "virtual-queue", "platform-queue", "executor");
  private static final Set<String> PEERS_WITH_THREADS = Set.of("thread", "platform-queue", "executor");

  private IdleActors() {}

  public static void main(String[] args) throws Exception {
    if (args.length == 3) {
      measure(args[0], Integer.parseInt(args[1]), args[2]);
      System.exit(0); // threads of peers may be alive
    }
    System.out.println("JDK " + Runtime.version() + "; bytes of heap for each idle actor");
    for (var state : List.of(MADE, WORKED)) {
      var rows = new ArrayList<ResultRow>();
      for (var peerName : STRATEGIES) rows.add(measureInProcess(peerName, "fibry, " + peerName, state));
      for (var peerName : PEERS) rows.add(measureInProcess(peerName, peerName, state));
      var title = String.format(Locale.ROOT,
          "heap of an idle actor that has handled %s message; mean of %,d actors in one process (%,d if each has a "
              + "platform thread, whose stack is not in the heap)",
          state.equals(MADE) ? "no" : "a", ACTORS, ACTORS_WITH_THREADS);
      Result.here("idle-" + state, title, rows).write();
    }
  }

  private static ResultRow measureInProcess(String peerName, String side, String state)
      throws IOException, InterruptedException {
    return ResultRow.of(side, "B", "",
        ChildJvm.measurements(List.of(), IdleActors.class, peerName,
            PEERS_WITH_THREADS.contains(peerName) ? ACTORS_WITH_THREADS : ACTORS, state));
  }

  private static void measure(String peerName, int actorCount, String state) throws InterruptedException {
    var peer = Peers.of(peerName);
    Receiver.awaitEach(peer.actors(1, CountDownLatch::countDown)); // creates the objects that all actors share
    var objects = new Object[actorCount];
    long before = Heap.used();
    fill(objects, peer, state.equals(WORKED));
    double bytesPerActor = (double) (Heap.used() - before) / actorCount;
    System.out.printf(Locale.ROOT, "%-14s %-6s %,9d actors: %8.1f%n", peerName, state, objects.length,
        bytesPerActor);
    ChildJvm.tell(String.format(Locale.ROOT, "%.1f", bytesPerActor));
  }

  private static void fill(Object[] objects, Peer peer, boolean isMessageSent) throws InterruptedException {
    var actors = peer.actors(objects.length, CountDownLatch::countDown);
    if (isMessageSent) Receiver.awaitEach(actors);
    for (int i = 0; i < objects.length; i++) objects[i] = actors.get(i).bare();
  }
}
