package io.fibry.examples;

import io.fibry.ActorSystem;
import io.fibry.Handler;
import io.fibry.Strategy;
import io.fibry.examples.tour.BlockingWork;
import io.fibry.examples.tour.CarrierRun;
import io.fibry.examples.tour.Comparison;
import io.fibry.examples.tour.CreationWork;
import io.fibry.examples.tour.HandOverWork;
import io.fibry.examples.tour.HeapWork;
import io.fibry.examples.tour.MessageWork;
import io.fibry.examples.tour.RequestWork;
import io.fibry.examples.tour.Row;
import io.fibry.examples.tour.Side;
import io.fibry.stereotype.Stereotypes;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;

/**
 * Measures what actors cost on this machine, in 30 seconds. The arguments are the duration of a
 * round in milliseconds, and the number of actors. A second JVM measures the actors on carriers,
 * the scheduler of the module fibry-carriers.
 */
class Tour {
  private static final int MAX_MESSAGES = 500_000; // of a round, because unhandled messages take memory
  private static final int MILLION = 1_000_000;
  private static final int SLEEP_MILLIS = 100;
  private static final int POOL_THREADS = 200;
  private static final int ROUND_MILLIS = 250;
  private static final int ROWS_OF_MAKING = 2; // rows without a thread, which are the same on carriers

  private final Comparison comparison;
  private final List<Row> rows = new ArrayList<>();
  private final int wantedActors; // number of actors that the user wants
  // actors that fit into the heap: all wanted actors or fewer
  private final int actorCount;
  private final int threadCount; // threads for which the heap is large enough
  private final int blockedActors; // blocked actors for which the heap is large enough
  private double sinkBytes; // heap bytes of a sink

  private Tour(int roundMillis, int wantedActors) {
    comparison = new Comparison(roundMillis);
    this.wantedActors = wantedActors;
    actorCount = fitToHeap(wantedActors, 70);
    threadCount = fitToHeap(wantedActors / 20, 1_000);
    blockedActors = fitToHeap(wantedActors / 10, 2_000);
  }

  public static void main(String[] args) throws Exception {
    boolean isSecondJvm = args.length == 3 && args[2].equals(CarrierRun.ARGUMENT);
    if (!isSecondJvm) System.setProperty("fibry.carriers", "off"); // the manifest of the jar permits them
    int roundMillis = args.length == 0 ? ROUND_MILLIS : Integer.parseInt(args[0]);
    var tour = new Tour(roundMillis, args.length < 2 ? MILLION : Integer.parseInt(args[1]));
    if (isSecondJvm) {
      tour.send();
      tour.block();
      CarrierRun.tell(tour.rows);
    } else tour.print(roundMillis);
  }

  private void print(int roundMillis) throws Exception {
    var runtime = Runtime.getRuntime();
    long start = System.nanoTime();
    System.out.printf(Locale.ROOT, "Java %s, %d processors, %d MB of heap at most. This takes about 30 seconds.%n",
        Runtime.version().feature(), runtime.availableProcessors(), runtime.maxMemory() >> 20);

    make();
    send();
    block();
    measureOnCarriers(roundMillis);
    Row.print(rows, explanations());

    System.out.printf(Locale.ROOT,
        "%nThat took %.0f seconds. One run is a first impression: other load on the machine changes the results.%n",
        (System.nanoTime() - start) / 1e9);
    System.out.println("docs/benchmarks.md compares Fibry with other libraries, and explains the differences.");
    System.out.println("Next: mvn -q -Prun -Dexample=list, then read examples/src/main/java/io/fibry/examples");
  }

  /** Halves the wanted number until so many objects take at most a quarter of the heap. */
  private static int fitToHeap(int wanted, int bytesOfEach) {
    long maxCount = Runtime.getRuntime().maxMemory() / 4 / bytesOfEach;
    int count = wanted;
    while (count > maxCount && count > 1) count /= 2;
    return count;
  }

  private void make() throws Exception {
    System.out.print("making   ");
    var builder = ActorSystem.anonymous().strategy(Strategy.FIBER);
    Handler<String> handler = message -> {};
    Supplier<?> actor = () -> builder.newActor(handler);
    rows.add(comparison.total(new Side(format("make %,d actors", actorCount), CreationWork.actors(actor)),
        new Side(format("start %,d virtual threads (calculated from %,d)", actorCount, threadCount),
            CreationWork.threads(threadCount)),
        actorCount));
    rows.add(comparison.heap(new Side("heap of an idle actor", HeapWork.actors(actor)), actorCount,
        new Side("heap of a virtual thread that waits", HeapWork.threads()), threadCount));
    sinkBytes = (double) HeapWork.actors(() -> Stereotypes.fibers().sink(null)).measure(actorCount) / actorCount;
  }

  private void send() throws Exception {
    System.out.print("\nsending  ");
    for (int senders : new int[] {1, 4})
      rows.add(comparison.each(
          new Side("message to an actor, " + (senders == 1 ? "one sender" : senders + " senders"),
              MessageWork.actor(senders)),
          new Side("message to a virtual thread with a LinkedTransferQueue", MessageWork.queue(senders)),
          MAX_MESSAGES));
    rows.add(comparison.each(new Side("hand-over between two actors", HandOverWork.actors()),
        new Side("two virtual threads, two LinkedTransferQueues", HandOverWork.queues()), MAX_MESSAGES));
    rows.add(comparison.each(new Side("ask an actor, and wait for its answer", RequestWork.actors()),
        new Side("two virtual threads, two LinkedTransferQueues", RequestWork.queues()), MAX_MESSAGES));
  }

  private void block() throws Exception {
    System.out.print("\nblocking ");
    var work = new BlockingWork(SLEEP_MILLIS);
    rows.add(comparison.total(
        new Side(format("%,d handlers that block for %d ms, all at once", blockedActors, SLEEP_MILLIS), work.actors()),
        new Side(format("%,d virtual threads that block for %d ms", blockedActors, SLEEP_MILLIS), work.threads()),
        blockedActors));
    System.out.println();
  }

  private void measureOnCarriers(int roundMillis) throws Exception {
    System.out.println("the same on carriers, in a second JVM");
    var values = CarrierRun.values(Tour.class, Integer.toString((roundMillis + 1) / 2), Integer.toString(wantedActors),
        CarrierRun.ARGUMENT);
    if (values.length == 0) System.out.println("The second JVM could not use the carriers of fibry-carriers.");
    for (int i = 0; i < values.length; i++)
      rows.set(ROWS_OF_MAKING + i, rows.get(ROWS_OF_MAKING + i).withCarriers(values[i]));
  }

  /** Returns the explanations of the rows, one for each. */
  private List<String> explanations() {
    var creation = rows.get(0);
    var heap = rows.get(1);
    var block = rows.get(6);
    double addedMicros = (block.value() - block.reference()) / blockedActors / 1000;
    return List.of(
        warnIfFewer(actorCount, wantedActors)
            + format("%.0f ns each. An actor is an object; it has a thread only while it works.",
                creation.value() / actorCount),
        format(
            "%,d actors take %,.1f MB; as many threads would take %,.1f MB. "
                + "A sink, which has no handler, takes %.0f bytes.",
            actorCount,
            heap.value() * actorCount / 1e6, heap.reference() * actorCount / 1e6, sinkBytes),
        format("%,.0f handled in a second, one at a time: the handler needs no locks.", rows.get(2).perSecond()),
        format("%,.0f in a second: four senders get %.1f times as much through as one.", rows.get(3).perSecond(),
            rows.get(2).value() / rows.get(3).value()),
        format("%,.0f in a second. Each message wakes an idle actor, which handles it and becomes idle again.",
            rows.get(4).perSecond()),
        format("%,.0f answers in a second, one after the other. The wait holds no platform thread.",
            rows.get(5).perSecond()),
        warnIfFewer(blockedActors, wantedActors / 10)
            + format(
                "Compared with a virtual thread, an actor %s %.1f us. "
                    + "A pool of %d platform threads would need %,.0f seconds at least.",
                addedMicros < 0 ? "saves" : "adds", Math.abs(addedMicros), POOL_THREADS,
                SLEEP_MILLIS / 1e3 * blockedActors / POOL_THREADS));
  }

  private static String warnIfFewer(int actual, int wanted) {
    return actual < wanted ? format("The heap is too small for %,d. ", wanted) : "";
  }

  private static String format(String text, Object... values) {
    return String.format(Locale.ROOT, text, values);
  }
}
