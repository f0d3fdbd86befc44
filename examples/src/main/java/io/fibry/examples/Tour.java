package io.fibry.examples;

import io.fibry.Strategy;
import io.fibry.examples.tour.Comparison;
import io.fibry.examples.tour.CreationWork;
import io.fibry.examples.tour.MessageWork;
import io.fibry.examples.tour.RequestWork;
import io.fibry.examples.tour.Row;
import io.fibry.stereotype.Stereotypes;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ThreadFactory;

/** Measures what actors cost on this machine, in 15 seconds. */
class Tour {
  private static final ThreadFactory PLATFORM = Thread.ofPlatform().daemon().factory();
  private static final ThreadFactory VIRTUAL = Thread.ofVirtual().factory();
  private static final int MANY = 500_000; // at most in a round: memory is finite
  private static final int SOME = 50_000; // virtual threads at a time, at most
  private static final int FEW = 500; // platform threads at a time, at most

  private final Comparison comparison;
  private final List<Row> rows = new ArrayList<>();

  private Tour(int roundMillis) {
    comparison = new Comparison(5, roundMillis);
  }

  public static void main(String[] args) throws Exception {
    var runtime = Runtime.getRuntime();
    long start = System.nanoTime();
    System.out.printf(Locale.ROOT, "Java %s, %d processors, %d MB of heap at most. This takes about 15 seconds.%n",
        Runtime.version().feature(), runtime.availableProcessors(), runtime.maxMemory() >> 20);

    var tour = new Tour(args.length == 0 ? 250 : Integer.parseInt(args[0]));
    tour.create();
    tour.ask();
    tour.send();
    Row.print(tour.rows, tour.sentences());

    System.out.printf(Locale.ROOT,
        "%nThat took %.0f seconds. One run is a first impression: figures change with what else the machine does.%n",
        (System.nanoTime() - start) / 1e9);
    System.out.println("Next: mvn -q -Prun -Dexample=list, then read examples/src/main/java/io/fibry/examples");
  }

  private void create() throws Exception {
    System.out.print("making actors      ");
    rows.add(comparison.run("make an actor with a thread of its own", CreationWork.sinks(Stereotypes.threads()),
        "start a platform thread that waits", CreationWork.parked(PLATFORM), FEW));
    rows.add(comparison.run("make an actor on fibers", CreationWork.sinks(Stereotypes.fibers()),
        "start a virtual thread that waits", CreationWork.parked(VIRTUAL), SOME));
  }

  private void ask() throws Exception {
    System.out.print("\nasking and waiting ");
    rows.add(comparison.run("ask, between threads", RequestWork.actors(Strategy.THREAD),
        "two platform threads, two LinkedTransferQueues", RequestWork.queues(PLATFORM), MANY));
    rows.add(comparison.run("ask, between fibers", RequestWork.actors(Strategy.FIBER),
        "two virtual threads, two LinkedTransferQueues", RequestWork.queues(VIRTUAL), MANY));
  }

  private void send() throws Exception {
    System.out.print("\nsending            ");
    for (int senders : new int[] {1, 4}) {
      String from = senders == 1 ? ", one sender" : ", " + senders + " senders";
      rows.add(comparison.run("message to a thread" + from, MessageWork.actor(Strategy.THREAD, PLATFORM, senders),
          "platform threads, LinkedTransferQueue", MessageWork.queue(PLATFORM, senders), MANY));
      rows.add(comparison.run("message to a fiber" + from, MessageWork.actor(Strategy.FIBER, VIRTUAL, senders),
          "virtual threads, LinkedTransferQueue", MessageWork.queue(VIRTUAL, senders), MANY));
    }
    System.out.println();
  }

  /** One for each row. */
  private List<String> sentences() {
    return List.of(
        "A platform thread with a mailbox: for some hundreds that compute, not for many that wait.",
        say("An object; a thread only while it works. %,.0f of these in the time of one on a thread.",
            rows.get(0).nanos() / rows.get(1).nanos()),
        say("%,.0f questions answered in a second; each wakes two threads of the system.", rows.get(2).perSecond()),
        say("%,.0f in a second, %.1f times as many; each starts a fiber for the idle actor.", rows.get(3).perSecond(),
            rows.get(2).nanos() / rows.get(3).nanos()),
        say("%,.0f handled in a second. Sending is one atomic operation.", rows.get(4).perSecond()),
        say("%,.0f handled in a second, %.1f times as many as on a thread.", rows.get(5).perSecond(),
            rows.get(4).nanos() / rows.get(5).nanos()),
        say("%,.0f in a second: four senders get %.1f times as much through as one.", rows.get(6).perSecond(),
            rows.get(4).nanos() / rows.get(6).nanos()),
        say("%,.0f in a second: four senders get %.1f times as much through as one.", rows.get(7).perSecond(),
            rows.get(5).nanos() / rows.get(7).nanos()));
  }

  private static String say(String text, Object... figures) {
    return String.format(Locale.ROOT, text, figures);
  }
}
