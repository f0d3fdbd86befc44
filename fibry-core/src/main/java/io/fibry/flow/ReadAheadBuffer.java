package io.fibry.flow;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.Handler;
import io.fibry.block.StackSafeLock;
import io.fibry.block.Throwables;
import io.fibry.block.WakeSignal;
import io.fibry.spi.BlockBuilder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The unread elements of one iteration. The lock guards all fields except {@code isClosed}; the
 * holder of the lock never waits.
 *
 * <p>A producer waits when the buffer is full or another producer waits. The reader wakes the first
 * producer when half of the capacity is free. A woken producer that leaves the line wakes the next
 * producer if the buffer is not full. So a producer waits only while there are elements to read, or
 * while the reader is about to run.
 *
 * <p>Each waiting thread waits for a {@link WakeSignal} of its own, not for a lock or condition. If
 * a fiber's stack is full, parking throws a StackOverflowError, and a lock or condition would then
 * keep the thread among its waiters forever.
 */
@SuppressWarnings("try") // the variable of the lock is not used
final class ReadAheadBuffer<T> {
  // makes the names of producers unique
  private static final AtomicLong NUMBERS = new AtomicLong();

  final int maxUnread;
  private final StackSafeLock lock = new StackSafeLock(true);
  private final ArrayDeque<T> elements = new ArrayDeque<>();
  // the wake-ups of producers that wait, or were woken and have not left the line
  private final ArrayDeque<WakeSignal> waitingProducers = new ArrayDeque<>();
  private final List<Actor<?>> producers = new ArrayList<>(); // actors that `producerEnded` has not removed yet
  private int takenUnread; // size of the chunk that the reader has taken; 0 after the reader has read the whole chunk
  private int unfinishedProducers; // producers that have not ended, or are not made yet
  private WakeSignal readerWake; // wakes the reader; null while the reader does not wait
  private Thread reader; // the thread of the reader; null while the reader does not wait
  private Thread starter; // starts the producers; null once all are started
  private Throwable failure; // first failure of a producer; null after it was thrown
  private boolean isSealed; // producers cannot yield any more
  private boolean isEndSeen; // the reader has seen the end or the failure
  private volatile boolean isClosed; // false -> true

  ReadAheadBuffer(int maxUnread, int producerCount) {
    this.maxUnread = maxUnread;
    this.unfinishedProducers = producerCount;
    this.starter = Thread.currentThread();
  }

  void start(ActorBuilder<Object> builder, Handler<Generator.Output<T>> producer) {
    var actor = BlockBuilder.of(builder).child("producer-" + NUMBERS.incrementAndGet())
        .newActorWithReturn((ProducerOutput output) -> output.produce());
    // the future completes once, even if the producer is retried, killed, or never run
    if (addUnlessFailed(actor)) actor.sendMessageReturn(new ProducerOutput(producer))
        .whenComplete((done, producerFailure) -> producerEnded(actor, producerFailure));
    actor.sendPoisonPill();
  }

  private boolean addUnlessFailed(Actor<?> actor) {
    try (var lockHold = lock.acquire()) {
      return failure == null && producers.add(actor);
    }
  }

  void markAllStarted() {
    try (var lockHold = lock.acquire()) {
      starter = null;
    }
  }

  /** The message that starts a producer, and the producer's side of the buffer. */
  private final class ProducerOutput implements Generator.Output<T> {
    private final Handler<Generator.Output<T>> producer;
    private boolean isOpen; // guarded by the lock

    ProducerOutput(Handler<Generator.Output<T>> producer) {
      this.producer = producer;
    }

    boolean produce() throws Exception {
      setOpen(true);
      try {
        producer.handle(this);
        return true;
      } finally {
        setOpen(false);
      }
    }

    private void setOpen(boolean isOpen) {
      try (var lockHold = lock.acquire()) {
        this.isOpen = isOpen;
        // other threads that yield for this producer may wait, and must notice that the producer
        // has ended
        waitingProducers.forEach(ReadAheadBuffer::wake);
      }
    }

    @Override
    public void yield(T element) {
      Objects.requireNonNull(element, "element");
      WakeSignal wakeUp = null;
      try {
        while ((wakeUp = addOrQueue(element, wakeUp)) != null) wakeUp.await();
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
        throw interrupted();
      } finally {
        if (wakeUp != null) leave(wakeUp);
      }
    }

    /**
     * Adds the element and returns null. If the thread must wait, joins the line and returns the
     * wake-up to wait for. {@code previousWakeUp} is the wake-up that woke this thread, at first
     * null.
     */
    private WakeSignal addOrQueue(T element, WakeSignal previousWakeUp) {
      WakeSignal readerToWake;
      try (var lockHold = lock.acquire()) {
        refuseIfEnded();
        if (isFull() || previousWakeUp == null && !waitingProducers.isEmpty()) {
          refuseStarter();
          var wakeUp = new WakeSignal();
          waitingProducers.add(wakeUp);
          waitingProducers.remove(previousWakeUp);
          return wakeUp;
        }
        elements.add(element);
        if (previousWakeUp != null) leaveLine(previousWakeUp);
        readerToWake = readerWake;
      }
      wake(readerToWake); // after the lock is released, because the reader acquires it
      return null;
    }

    private void refuseStarter() {
      if (Thread.currentThread() == starter)
        throw new IllegalStateException(
            "a producer would have to wait for its reader on the reader's own thread, after " + maxUnread
                + " elements; give the generator a strategy that has threads, such as Strategy.FIBER");
    }

    private void refuseIfEnded() {
      if (!isOpen) throw new IllegalStateException(
          "the producer has returned, so nothing more can be yielded; let it wait for the threads that yield for it");
      if (Thread.currentThread().isInterrupted()) throw interrupted();
      if (isSealed) throw new CancellationException("the iteration that reads this producer has ended");
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
    return elements.size() + takenUnread >= maxUnread;
  }

  /**
   * Leaves the line of waiting producers. If the buffer is not full, wakes the next producer,
   * because this producer does not use the free capacity for which it may have been woken.
   */
  private void leave(WakeSignal wakeUp) {
    try (var lockHold = lock.acquire()) {
      leaveLine(wakeUp);
    }
  }

  private void leaveLine(WakeSignal wakeUp) {
    waitingProducers.remove(wakeUp);
    if (!isFull()) wake(waitingProducers.peek());
  }

  private static void wake(WakeSignal wakeUp) {
    if (wakeUp != null) wakeUp.wake();
  }

  /**
   * Waits for an element, and returns how many elements it moved into the reader's array, or 0 at
   * the end.
   */
  int takeElements(Object[] target) {
    while (true) {
      WakeSignal wakeUp;
      try (var lockHold = lock.acquire()) {
        if (!elements.isEmpty() || isAtEnd()) return moveTo(target);
        wakeUp = beginReading();
      }
      awaitElement(wakeUp);
    }
  }

  private int moveTo(Object[] target) {
    int count = 0;
    while (count < target.length && !elements.isEmpty()) target[count++] = elements.poll();
    takenUnread = count;
    return count;
  }

  private WakeSignal beginReading() {
    if (readerWake != null) throw new IllegalStateException("an iteration is read by two threads at once, by " + reader
        + " and by " + Thread.currentThread() + "; give each thread its own iterator()");
    reader = Thread.currentThread();
    return readerWake = new WakeSignal();
  }

  private void awaitElement(WakeSignal wakeUp) {
    try {
      wakeUp.await();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new CancellationException("interrupted while waiting for an element of a generator");
    } finally {
      try (var lockHold = lock.acquire()) {
        readerWake = null;
        reader = null;
      }
    }
    refuseIfClosed();
  }

  /** Returns whether the reader is at the end. Throws the first failure of a producer, once. */
  private boolean isAtEnd() {
    if (isEndSeen) return true;
    isEndSeen = failure != null || unfinishedProducers == 0;
    var thrown = failure;
    failure = null;
    if (thrown == null) return isEndSeen;
    // limited, because an exception object that is thrown often would grow forever
    if (thrown.getSuppressed().length < 4) thrown.addSuppressed(new ReaderStack());
    throw Throwables.<RuntimeException>sneakyThrow(thrown);
  }

  void onChunkRead() {
    try (var lockHold = lock.acquire()) {
      takenUnread = 0;
      if (elements.size() <= maxUnread / 2) wake(waitingProducers.peek());
    }
  }

  /**
   * Notes the end of a producer. Called by the future of the producer's request, on another thread
   * than the producer's.
   */
  private void producerEnded(Actor<?> producer, Throwable producerFailure) {
    boolean isFirstFailure;
    try (var lockHold = lock.acquire()) {
      producers.remove(producer);
      unfinishedProducers--;
      isFirstFailure = producerFailure != null && !isSealed && !isEndSeen && !isClosed && failure == null;
      if (isFirstFailure) failure = Throwables.unwrap(producerFailure);
      wake(readerWake);
    }
    if (isFirstFailure) end();
  }

  /**
   * Ends the producers. Kills them before it seals the buffer: the seal makes {@code yield} throw,
   * and after a kill this exception does not count as a failure of the producer.
   */
  void end() {
    for (var producer : livingProducers()) producer.kill();
    try (var lockHold = lock.acquire()) {
      isSealed = true;
      waitingProducers.forEach(ReadAheadBuffer::wake);
    }
  }

  private List<Actor<?>> livingProducers() {
    try (var lockHold = lock.acquire()) {
      return List.copyOf(producers);
    }
  }

  void close() {
    try (var lockHold = lock.acquire()) {
      if (isEndSeen) return;
      isClosed = true;
      elements.clear();
      wake(readerWake);
    }
  }

  void refuseIfClosed() {
    if (isClosed) throw new CancellationException("the iteration was closed before its end");
  }

  void awaitEnd() {
    for (var producer : livingProducers()) producer.waitForExit();
  }

  private static final class ReaderStack extends Exception {
    private static final long serialVersionUID = 1;

    ReaderStack() {
      super("read here", null, false, true);
    }
  }
}
