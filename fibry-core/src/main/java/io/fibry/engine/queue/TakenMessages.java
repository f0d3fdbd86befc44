package io.fibry.engine.queue;

import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;

/**
 * The messages that the drain has taken from the queue together, and not yet begun. So the drain
 * enters the monitor of the queue once for up to 64 messages. The queue also counts its departures
 * here, and estimates the time of a message.
 *
 * <p>Only {@link MessageEntry}s are taken together, because no other thread withdraws such an
 * entry. They belong to the thread that has the right to run. Their messages still wait: they use
 * capacity until each begins, and {@link GuardedQueue#queued} and {@link GuardedQueue#newest} show
 * them. Their state is TAKEN until each begins, so {@link GuardedQueue#remove} refuses them.
 *
 * <p>The drain changes its fields at each message, and senders read other fields of the queue at
 * each message. So the padding keeps the fields of the drain on cache lines of their own. The
 * superclasses order them, because the JVM reorders the fields of one class.
 */
final class TakenMessages<E> extends TakenMessagesFields<E> {
  private static final int MAX_COUNT = 64;
  private static final int QUICK_MESSAGE = 250; // ns; the move of a message to another carrier takes 50 to 100 ns
  private static final int MAX_SAMPLE = 2_000; // ns; one long message does not change the estimate for long
  private static final int SINGLE_SAMPLE = 8; // one of this many single messages is measured
  private static final VarHandle DEPARTED = ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "departed",
      VarHandle.class, TakenMessagesFields.class, long.class);

  static {
    new TakenMessages<>().depart(); // links the code now, because a drain may have little stack left
  }

  long p10, p11, p12, p13, p14, p15, p16, p17;

  /**
   * Takes messages from the head of the chain, behind the messages that are taken already. Called
   * by the drain under the monitor. Returns the number of messages that it took.
   */
  int takeFrom(EntryChain<E> chain) {
    int count = 0;
    var firstEntry = chain.head;
    QueueEntry<E> lastEntry = null;
    var entry = firstEntry;
    while (count < MAX_COUNT && entry instanceof MessageEntry) {
      entry.setState(QueueEntry.TAKEN);
      entry.previous = null;
      lastEntry = entry;
      entry = entry.next;
      count++;
    }
    if (count == 0) return 0;
    lastEntry.next = null;
    chain.head = entry;
    if (entry == null) chain.tail = null;
    else entry.previous = null;
    if (first == null) first = firstEntry;
    else last.next = firstEntry;
    last = lastEntry;
    return count;
  }

  /**
   * Begins the first message: returns its element, and counts its departure. A thread that then
   * reads whether senders are blocked, and a sender that then reads {@code departed}, need the full
   * fence of this method.
   */
  E begin(BiFunction<Object, Object, E> toElement) {
    var entry = first;
    E item = entry.item(toElement); // before any change, because it allocates memory
    first = entry.next; // the entry keeps its link, because another thread may be reading the list
    entry.setGone();
    entry.clear();
    depart();
    return item;
  }

  void depart() {
    DEPARTED.getAndAdd(this, 1L);
  }

  /**
   * Returns the number of departed entries. After this call, a thread sees the messages that had
   * begun by then as begun.
   */
  long departed() {
    return departed;
  }

  void recordMessageTime(long nanos) {
    int sample = (int) Math.min(nanos, MAX_SAMPLE);
    messageNanos = messageNanos == 0 ? sample : (7 * messageNanos + sample) / 8;
  }

  /**
   * Called after the drain has taken a single message. Begins to measure every eighth of them,
   * because reading the clock takes a tenth of the time of an activation. The drain itself measures
   * only activations with several messages.
   */
  void beginSample() {
    if (++singleCount % SINGLE_SAMPLE == 0) sampleStart = System.nanoTime();
  }

  /** Ends the measurement of a single message, if one has begun. */
  void endSample() {
    if (sampleStart == 0) return;
    recordMessageTime(System.nanoTime() - sampleStart);
    sampleStart = 0;
  }

  /** Returns whether messages took little time, or no message was measured. */
  boolean isQuick() {
    return messageNanos < QUICK_MESSAGE;
  }

  // ---- for all threads, under the monitor; the drain may begin messages meanwhile

  int count() {
    int count = 0;
    for (var entry = departed() < 0 ? null : first; entry != null; entry = entry.next)
      if (!((MessageEntry<E>) entry).isCleared()) count++;
    return count;
  }

  /** Returns the last message that has not begun, or null. */
  QueueEntry<E> newest() {
    QueueEntry<E> newest = null;
    for (var entry = departed() < 0 ? null : first; entry != null; entry = entry.next)
      if (!((MessageEntry<E>) entry).isCleared()) newest = entry;
    return newest;
  }

  /** Returns at most {@code max} elements of messages that have not begun. */
  List<E> elements(int max, BiFunction<Object, Object, E> toElement) {
    var elements = new ArrayList<E>();
    for (var entry = departed() < 0 ? null : first; entry != null && elements.size() < max; entry = entry.next) {
      E element = ((MessageEntry<E>) entry).itemOrNull(toElement);
      if (element != null) elements.add(element);
    }
    return elements;
  }
}

/** See {@link TakenMessages}. */
abstract class TakenMessagesFields<E> extends TakenMessagesPadding {
  int messageNanos; // mean time of a message; 0: unknown. Written by the drain, read by all
  volatile long departed; // number of departed entries; written by the drain and under the monitor, read by senders
  QueueEntry<E> first; // null: no messages are taken; written by the drain, also read under the monitor
  QueueEntry<E> last; // the last taken message, meaningful while `first` is not null; used by the drain
  int singleCount; // number of single messages that the drain has taken; used by the drain
  long sampleStart; // nanoTime when the measured single message was taken; 0: none. Used by the drain
}

/** See {@link TakenMessages}. */
abstract class TakenMessagesPadding {
  int p; // fills the gap behind the object's header, where a field of a subclass would be otherwise
  long p0, p1, p2, p3, p4, p5, p6, p7;
}
