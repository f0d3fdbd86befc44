package io.fibry.flow;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.Handler;
import io.fibry.block.StackSafeLock;
import io.fibry.block.Throwables;
import io.fibry.spi.BlockBuilder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The unread elements of one iteration. The lock guards all fields but {@code closed}; its holder
 * never waits.
 *
 * <p>A producer waits when the buffer is full or another one waits. The reader wakes the first when
 * half of the room is free; a woken producer, as it leaves, wakes the next while there is room. So
 * a producer waits only while there are elements to read, or while the reader is about to run.
 *
 * <p>Each waiting thread has a future of its own. A park at the end of a fiber's stack throws a
 * StackOverflowError, and a lock or condition would keep that thread in its line for ever.
 */
@SuppressWarnings("try") // the variable of the lock is not used
final class ReadAheadBuffer<T> {
  // for unique names of producers
  private static final AtomicLong NUMBERS = new AtomicLong();

  final int ahead;
  private final StackSafeLock lock = new StackSafeLock(true);
  private final ArrayDeque<T> elements = new ArrayDeque<>();
  // Producers that wait, or were woken.
  private final ArrayDeque<CompletableFuture<Void>> waitingProducers = new ArrayDeque<>();
  private final List<Actor<?>> producers = new ArrayList<>(); // made, end not known
  private int handedOut; // of the reader
  private int unfinished; // producers, made or not
  private CompletableFuture<Void> reading; // while the reader waits
  private Thread reader; // while it waits
  private Thread starter; // null once all are started
  private Throwable failure; // the first one, until it is thrown
  private boolean sealed;
  private boolean endSeen;
  private volatile boolean closed; // false -> true

  ReadAheadBuffer(int ahead, int producers) {
    this.ahead = ahead;
    this.unfinished = producers;
    this.starter = Thread.currentThread();
  }

  void start(ActorBuilder<Object> builder, Handler<Generator.Output<T>> producer) {
    var actor = BlockBuilder.of(builder).child("producer-" + NUMBERS.incrementAndGet())
        .newActorWithReturn((ProducerOutput output) -> output.produce());
    // completes once, even if it is retried, killed, or never run
    if (wants(actor)) actor.sendMessageReturn(new ProducerOutput(producer))
        .whenComplete((done, thrown) -> producerEnded(actor, thrown));
    actor.sendPoisonPill();
  }

  private boolean wants(Actor<?> actor) {
    try (var held = lock.acquire()) {
      return failure == null && producers.add(actor);
    }
  }

  void started() {
    try (var held = lock.acquire()) {
      starter = null;
    }
  }

  /** The message that starts a producer, and its end of the buffer. */
  private final class ProducerOutput implements Generator.Output<T> {
    private final Handler<Generator.Output<T>> producer;
    private boolean open; // guarded by the lock

    ProducerOutput(Handler<Generator.Output<T>> producer) {
      this.producer = producer;
    }

    boolean produce() throws Exception {
      open(true);
      try {
        producer.handle(this);
        return true;
      } finally {
        open(false);
      }
    }

    private void open(boolean open) {
      try (var held = lock.acquire()) {
        this.open = open;
        waitingProducers.forEach(ReadAheadBuffer::wake); // one of its threads may wait
      }
    }

    @Override
    public void yield(T element) {
      Objects.requireNonNull(element, "element");
      CompletableFuture<Void> place = null;
      try {
        while ((place = place(element, place)) != null) place.get();
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
        throw interrupted();
      } catch (ExecutionException impossible) {
        throw new AssertionError(impossible);
      } finally {
        if (place != null) leave(place);
      }
    }

    /**
     * Adds the element and returns null, or returns a place in the line. {@code old} is the place
     * from which the caller was woken, null at first.
     */
    private CompletableFuture<Void> place(T element, CompletableFuture<Void> old) {
      CompletableFuture<Void> change;
      try (var held = lock.acquire()) {
        refuseUnlessWanted();
        if (isFull() || old == null && !waitingProducers.isEmpty()) {
          refuseStarter();
          var place = new CompletableFuture<Void>();
          waitingProducers.add(place);
          waitingProducers.remove(old);
          return place;
        }
        elements.add(element);
        if (old != null) leaveLine(old);
        change = reading;
      }
      wake(change); // not under the lock, which it wants
      return null;
    }

    private void refuseStarter() {
      if (Thread.currentThread() == starter)
        throw new IllegalStateException(
            "a producer would have to wait for its reader on the reader's own thread, after " + ahead
                + " elements; give the generator a strategy that has threads, such as Strategy.FIBER");
    }

    private void refuseUnlessWanted() {
      if (!open) throw new IllegalStateException(
          "the producer has returned, so nothing more can be yielded; let it wait for the threads that yield for it");
      if (Thread.currentThread().isInterrupted()) throw interrupted();
      if (sealed) throw new CancellationException("the iteration that reads this producer has ended");
    }

    private CancellationException interrupted() {
      return new CancellationException("a producer was interrupted while it yielded an element");
    }

    @Override
    public String toString() {
      return "the output of a producer";
    }
  }

  private boolean isFull() {
    return elements.size() + handedOut >= ahead;
  }

  /** Wakes the next, also if this one was woken in vain. */
  private void leave(CompletableFuture<Void> place) {
    try (var held = lock.acquire()) {
      leaveLine(place);
    }
  }

  private void leaveLine(CompletableFuture<Void> place) {
    waitingProducers.remove(place);
    if (!isFull()) wake(waitingProducers.peek());
  }

  private static void wake(CompletableFuture<Void> waiting) {
    if (waiting != null) waiting.complete(null);
  }

  /**
   * Waits for an element, and returns how many elements it moved into the reader's array, or 0 at
   * the end.
   */
  int take(Object[] hand) {
    while (true) {
      CompletableFuture<Void> change;
      try (var held = lock.acquire()) {
        if (!elements.isEmpty() || isAtEnd()) return takeNow(hand);
        change = beginReading();
      }
      awaitElement(change);
    }
  }

  private int takeNow(Object[] hand) {
    int taken = 0;
    while (taken < hand.length && !elements.isEmpty()) hand[taken++] = elements.poll();
    handedOut = taken;
    return taken;
  }

  private CompletableFuture<Void> beginReading() {
    if (reading != null) throw new IllegalStateException("an iteration is read by two threads at once, by " + reader
        + " and by " + Thread.currentThread() + "; give each its own iterator()");
    reader = Thread.currentThread();
    return reading = new CompletableFuture<>();
  }

  private void awaitElement(CompletableFuture<Void> change) {
    try {
      change.get();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new CancellationException("interrupted while waiting for an element of a generator");
    } catch (ExecutionException impossible) {
      throw new AssertionError(impossible);
    } finally {
      try (var held = lock.acquire()) {
        reading = null;
        reader = null;
      }
    }
    refuseIfClosed();
  }

  /** Throws the first failure instead, once. */
  private boolean isAtEnd() {
    if (endSeen) return true;
    endSeen = failure != null || unfinished == 0;
    var thrown = failure;
    failure = null;
    if (thrown == null) return endSeen;
    // or one object, thrown often, would grow for ever
    if (thrown.getSuppressed().length < 4) thrown.addSuppressed(new ReaderStack());
    throw Throwables.<RuntimeException>sneakyThrow(thrown);
  }

  void allRead() {
    try (var held = lock.acquire()) {
      handedOut = 0;
      if (elements.size() <= ahead / 2) wake(waitingProducers.peek());
    }
  }

  /** Must not be called on the producer's thread. */
  private void producerEnded(Actor<?> producer, Throwable thrown) {
    boolean first;
    try (var held = lock.acquire()) {
      producers.remove(producer);
      unfinished--;
      first = thrown != null && !sealed && !endSeen && !closed && failure == null;
      if (first) failure = Throwables.unwrap(thrown);
      wake(reading);
    }
    if (first) end();
  }

  /**
   * Kills before it seals, because an exception that a producer throws at the seal is no failure.
   */
  void end() {
    for (var producer : living()) producer.kill();
    try (var held = lock.acquire()) {
      sealed = true;
      waitingProducers.forEach(ReadAheadBuffer::wake);
    }
  }

  private List<Actor<?>> living() {
    try (var held = lock.acquire()) {
      return List.copyOf(producers);
    }
  }

  void close() {
    try (var held = lock.acquire()) {
      if (endSeen) return;
      closed = true;
      elements.clear();
      wake(reading);
    }
  }

  void refuseIfClosed() {
    if (closed) throw new CancellationException("the iteration was closed before its end");
  }

  void awaitEnd() {
    for (var producer : living()) producer.waitForExit();
  }

  private static final class ReaderStack extends Exception {
    private static final long serialVersionUID = 1;

    ReaderStack() {
      super("read here", null, false, true);
    }
  }
}
