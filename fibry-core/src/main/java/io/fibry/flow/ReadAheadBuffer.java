package io.fibry.flow;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.Handler;
import io.fibry.block.Rethrown;
import io.fibry.block.StackRoom;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * The unread elements of one iteration. The lock guards all fields but {@code closed}; its holder
 * waits only at its conditions.
 *
 * <p>A producer waits when the buffer is full or another one waits. The reader wakes the first when
 * half of the room is free; a woken producer, as it leaves, wakes the next while there is room. So
 * a producer waits only while there are elements to read, or a woken one is on its way.
 */
@SuppressWarnings("try") // what is held is not named
final class ReadAheadBuffer<T> {

  /** The lock, to be released. */
  private interface Held extends AutoCloseable {
    @Override
    void close();
  }

  // for unique names of producers
  private static final AtomicLong NUMBERS = new AtomicLong();

  final int ahead;
  private final ReentrantLock lock = new ReentrantLock();
  private final Held held = lock::unlock;
  private final Condition ready = lock.newCondition();
  private final Condition room = lock.newCondition();
  private final ArrayDeque<T> elements = new ArrayDeque<>();
  private final List<Actor<?>> producers = new ArrayList<>(); // made, end not known
  private int inHand; // of the reader
  private int waiting; // producers
  private int unfinished; // producers, made or not
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

  private Held held() {
    StackRoom.probe(); // the lock must be given back
    lock.lock();
    return held;
  }

  private <R> R locked(Supplier<R> step) {
    try (var held = held()) {
      return step.get();
    }
  }

  void start(ActorBuilder<Object> builder, Handler<Generator.Output<T>> producer) {
    var actor = builder.part("producer-" + NUMBERS.incrementAndGet())
        .newActorWithReturn((ProducerOutput output) -> output.produce());
    boolean wanted = locked(() -> failure == null && producers.add(actor));
    // completes once, even if it is retried, killed, or never run
    if (wanted) actor.sendMessageReturn(new ProducerOutput(producer))
        .whenComplete((done, thrown) -> producerEnded(actor, thrown));
    actor.sendPoisonPill();
  }

  void started() {
    locked(() -> starter = null);
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
      try (var held = held()) {
        this.open = open;
        if (waiting > 0) room.signalAll(); // one of its threads may wait
      }
    }

    @Override
    public void yield(T element) {
      Objects.requireNonNull(element, "element");
      try (var held = held()) {
        refuseUnlessWanted();
        if (full() || waiting > 0) awaitRoom();
        elements.add(element);
        if (reader != null) ready.signal();
      }
    }

    private void awaitRoom() {
      if (Thread.currentThread() == starter)
        throw new IllegalStateException(
            "a producer would have to wait for its reader on the reader's own thread, after " + ahead
                + " elements; give the generator a strategy that has threads, such as Strategy.FIBER");
      boolean admitted = false;
      waiting++;
      try {
        do {
          room.await();
          refuseUnlessWanted();
        } while (full());
        admitted = true;
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
        throw interrupted();
      } finally {
        waiting--;
        // also if this one was woken in vain
        if (waiting > 0 && elements.size() + inHand + (admitted ? 1 : 0) < ahead) room.signal();
      }
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

  private boolean full() {
    return elements.size() + inHand >= ahead;
  }

  /** Waits for an element; answers how many it moved into the reader's hand, 0 at the end. */
  int take(Object[] hand) {
    try (var held = held()) {
      while (elements.isEmpty() && !atEnd()) awaitElement();
      int taken = 0;
      while (taken < hand.length && !elements.isEmpty()) hand[taken++] = elements.poll();
      inHand = taken;
      return taken;
    }
  }

  private void awaitElement() {
    if (reader != null) throw new IllegalStateException("an iteration is read by two threads at once, by " + reader
        + " and by " + Thread.currentThread() + "; give each its own iterator()");
    reader = Thread.currentThread();
    try {
      ready.await();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new CancellationException("interrupted while waiting for an element of a generator");
    } finally {
      reader = null;
    }
    refuseIfClosed();
  }

  /** Throws the first failure instead, once. */
  private boolean atEnd() {
    if (endSeen) return true;
    endSeen = failure != null || unfinished == 0;
    var thrown = failure;
    failure = null;
    if (thrown == null) return endSeen;
    // or one object, thrown often, would grow for ever
    if (thrown.getSuppressed().length < 4) thrown.addSuppressed(new ReadHere());
    throw Rethrown.<RuntimeException>as(thrown);
  }

  void allRead() {
    try (var held = held()) {
      inHand = 0;
      if (waiting > 0 && elements.size() <= ahead / 2) room.signal();
    }
  }

  /** Not called on the producer's thread. */
  private void producerEnded(Actor<?> producer, Throwable thrown) {
    boolean first;
    try (var held = held()) {
      producers.remove(producer);
      unfinished--;
      first = thrown != null && !sealed && !endSeen && !closed && failure == null;
      if (first) failure = Rethrown.unwrapped(thrown);
      ready.signal();
    }
    if (first) end();
  }

  /** Kills before it seals: what producers throw at the seal is no failure. */
  void end() {
    for (var producer : living()) producer.kill();
    try (var held = held()) {
      sealed = true;
      room.signalAll();
    }
  }

  private List<Actor<?>> living() {
    return locked(() -> List.copyOf(producers));
  }

  void close() {
    try (var held = held()) {
      if (endSeen) return;
      closed = true;
      elements.clear();
      ready.signal();
    }
  }

  void refuseIfClosed() {
    if (closed) throw new CancellationException("the iteration was closed before its end");
  }

  void awaitEnd() {
    for (var producer : living()) producer.waitForExit();
  }

  private static final class ReadHere extends Exception {
    private static final long serialVersionUID = 1;

    ReadHere() {
      super("read here", null, false, true);
    }
  }
}
