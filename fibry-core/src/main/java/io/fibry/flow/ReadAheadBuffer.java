package io.fibry.flow;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.Handler;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What the producers of one iteration share with its reader. All fields are guarded by the lock,
 * where not said otherwise; nobody waits while he holds it, but at its conditions.
 *
 * <p>A producer that finds no room, or others who wait for it, waits too. The reader wakes the
 * first when half of the room is free; who was woken and leaves wakes the next while there is room.
 * So something waits for room only while there are elements to read, or somebody woken is on his
 * way.
 */
final class ReadAheadBuffer<T> {
  // of producers: two iterations of one generator go on at a time, and names are unique
  private static final AtomicLong NUMBERS = new AtomicLong();

  final int ahead;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition ready = lock.newCondition(); // the reader waits at it
  private final Condition room = lock.newCondition(); // producers wait at it
  private final ArrayDeque<T> elements = new ArrayDeque<>();
  private final List<Actor<?>> producers = new ArrayList<>(); // made, and not known to have ended
  private int unread; // in the reader's hand
  private int waiting; // for room
  private int left; // producers of which the end is not known, made or not
  private Thread reader; // while he waits
  private Thread starter; // until all are started
  private Throwable failure; // the first one; null: none, or it was thrown
  private boolean sealed; // takes nothing more of producers
  private boolean over; // the reader has seen the end
  private volatile boolean closed; // false -> true, by whoever closes

  ReadAheadBuffer(int ahead, int producers) {
    this.ahead = ahead;
    this.left = producers;
    this.starter = Thread.currentThread();
  }

  // ---- producers come

  void start(ActorBuilder<Object> how, Handler<Generator.Output<T>> producer) {
    var actor = how.part("producer-" + NUMBERS.incrementAndGet()).newActorWithReturn((Out out) -> out.produce());
    if (!join(actor)) {
      actor.sendPoisonPill();
      return;
    }
    // once, whatever becomes of it: retried, killed, or never run
    actor.sendMessageReturn(new Out(producer)).whenComplete((done, thrown) -> ended(actor, thrown));
    actor.sendPoisonPill();
  }

  /** False: one that was started before has failed. */
  private boolean join(Actor<?> actor) {
    lock.lock();
    try {
      return failure == null && producers.add(actor);
    } finally {
      lock.unlock();
    }
  }

  void started() {
    lock.lock();
    try {
      starter = null;
    } finally {
      lock.unlock();
    }
  }

  // ---- an element

  /** Its producer's end of the buffer; the message that a producer is started by. */
  private final class Out implements Generator.Output<T> {
    private final Handler<Generator.Output<T>> producer;
    private boolean open; // guarded by the lock

    Out(Handler<Generator.Output<T>> producer) {
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
      lock.lock();
      try {
        this.open = open;
        if (waiting > 0) room.signalAll(); // it may have lent this to other threads
      } finally {
        lock.unlock();
      }
    }

    @Override
    public void yield(T element) {
      Objects.requireNonNull(element, "element");
      lock.lock();
      try {
        refuseUnlessWanted();
        if (full() || waiting > 0) awaitRoom();
        elements.add(element);
        if (reader != null) ready.signal();
      } finally {
        lock.unlock();
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
        // also where this one was woken in vain
        if (waiting > 0 && elements.size() + unread + (admitted ? 1 : 0) < ahead) room.signal();
      }
    }

    private void refuseUnlessWanted() {
      if (!open) throw new IllegalStateException(
          "the producer has returned, so nothing more can be yielded; let it wait for the threads that yield for it");
      if (Thread.currentThread().isInterrupted()) throw interrupted();
      if (sealed) throw new CancellationException("nobody reads what this producer makes any more");
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
    return elements.size() + unread >= ahead;
  }

  /**
   * The reader waits for elements, and takes as many as there are, and as his hand can hold. 0: the
   * end.
   */
  int take(Object[] hand) {
    lock.lock();
    try {
      while (elements.isEmpty() && !ended()) awaitElement();
      int taken = 0;
      while (taken < hand.length && !elements.isEmpty()) hand[taken++] = elements.poll();
      unread = taken;
      return taken;
    } finally {
      lock.unlock();
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

  /** Whether nothing more comes; once, instead, by what was thrown. */
  private boolean ended() {
    if (over) return true;
    over = failure != null || left == 0;
    var thrown = failure;
    failure = null;
    if (thrown == null) return over;
    // one object thrown for ever would grow for ever
    if (thrown.getSuppressed().length < 4) thrown.addSuppressed(new ReadHere());
    throw ReadAheadBuffer.<RuntimeException>sneak(thrown);
  }

  @SuppressWarnings("unchecked") // the point of it: a checked exception leaves as itself
  private static <E extends Throwable> E sneak(Throwable failure) throws E {
    throw (E) failure;
  }

  /** The last one in the reader's hand was read. */
  void allRead() {
    lock.lock();
    try {
      unread = 0;
      if (waiting > 0 && elements.size() <= ahead / 2) room.signal();
    } finally {
      lock.unlock();
    }
  }

  // ---- the end

  /** A producer has ended; not on its thread. */
  private void ended(Actor<?> producer, Throwable thrown) {
    boolean first;
    lock.lock();
    try {
      producers.remove(producer);
      left--;
      first = thrown != null && !sealed && !over && !closed && failure == null;
      // a request's future wraps what the JDK would take for its own
      if (first) failure = thrown instanceof CompletionException wrapped ? wrapped.getCause() : thrown;
      ready.signal();
    } finally {
      lock.unlock();
    }
    if (first) end();
  }

  /**
   * Ends all producers. They are killed before the buffer is sealed: then what they throw because
   * of it is no failure of theirs.
   */
  void end() {
    for (var producer : living()) producer.kill();
    lock.lock();
    try {
      sealed = true;
      room.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private List<Actor<?>> living() {
    lock.lock();
    try {
      return List.copyOf(producers);
    } finally {
      lock.unlock();
    }
  }

  /** Nothing after the end. */
  void close() {
    lock.lock();
    try {
      if (over) return;
      closed = true;
      elements.clear();
      ready.signal();
    } finally {
      lock.unlock();
    }
  }

  void refuseIfClosed() {
    if (closed) throw new CancellationException("the iteration was closed before its end");
  }

  void awaitEnd() {
    for (var producer : living()) producer.waitForExit();
  }

  /** The reader's stack. */
  private static final class ReadHere extends Exception {
    private static final long serialVersionUID = 1;

    ReadHere() {
      super("read here", null, false, true);
    }
  }
}
