package io.fibry.engine.cell;

import io.fibry.Schedules;
import io.fibry.engine.message.Envelope;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Senders at the edge of their stack race with others. A message that gets no thread is withdrawn
 * and its sender told. If another message came behind it, the next sender finds both.
 *
 * <p>Catches: a refused message that is still in the queue, and a right that is given back under
 * another message, or lost where it cannot be.
 */
@Tag("lincheck")
class StackEdgeTest {
  private static final int SCHEDULES = 2_000;

  @Test
  void noMessageIsLostOrHandledTwice() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var sending = new Sending();
      sending.send(false); // so that the actor is busy
      Schedules.join(Schedules.start(sending.queue::drain), Schedules.start(() -> sending.send(true)),
          Schedules.start(() -> sending.send(false)));
      sending.check();
    });
  }

  private static final class Sending {
    private static final int MESSAGES = 4; // three, and the last

    private final Queue queue = new Queue();
    private int sent; // by next
    private final boolean[] refused = new boolean[MESSAGES];

    private synchronized int next() {
      return sent++;
    }

    void send(boolean edge) {
      var message = new Message(next(), edge);
      try {
        queue.push(new Envelope(message));
      } catch (StackOverflowError told) {
        refused[message.number] = true;
      }
    }

    void check() {
      send(false); // finds what is stranded
      for (int number = 0; number < sent; number++) if (queue.handled[number] != (refused[number] ? 0 : 1))
        throw new AssertionError(number + " was handled " + queue.handled[number] + " times");
      if (queue.stranded != null || !queue.isIdle()) throw new AssertionError("the right to run is lost");
    }
  }

  private record Message(int number, boolean edge) {}

  /** Its senders handle what they find, except the first, which leaves that to {@code drain}. */
  private static final class Queue extends PlainQueue {
    private final int[] handled = new int[Sending.MESSAGES]; // by the holder of the right
    private Object begun; // the first node

    @Override
    protected Object prepare(Object first) {
      if (((Message) message(first)).edge) throw new StackOverflowError("planned");
      return null;
    }

    @Override
    protected void begin(Object prepared, Object first) {
      if (begun == null) begun = first;
      else drain(first);
    }

    void drain() {
      drain(begun);
    }

    private void drain(Object first) {
      for (Object node = first; node != null;) {
        handled[((Message) message(node)).number]++;
        Object next = next(node, false);
        node = next != null ? next : release(node) ? null : awaitNext(node);
      }
    }

    @Override
    public void rescue() {
      Object held = takeStranded();
      if (held != null) drain(held);
    }
  }
}
