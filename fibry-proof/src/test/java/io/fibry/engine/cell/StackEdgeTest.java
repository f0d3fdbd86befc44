package io.fibry.engine.cell;

import io.fibry.Schedules;
import io.fibry.engine.message.Envelope;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests a sender whose stack is too small to start a drain, while other threads send. If no message
 * is behind its message, the sender withdraws its message and gets an error. Otherwise the message
 * stays, the sender gets no error, and the next sender handles both messages.
 *
 * <p>The test fails if a refused message stays in the queue, if the right to run is given up
 * although another message waits, or if the right is not kept for the next sender.
 */
@Tag("lincheck")
class StackEdgeTest {
  private static final int SCHEDULES = 2_000;

  @Test
  void noMessageIsLostOrRepeatedWhenStackIsTooSmallForDrain() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var senders = new Senders();
      senders.send(false); // makes the actor busy
      Schedules.join(Schedules.start(senders.queue::drainFirst), Schedules.start(() -> senders.send(true)),
          Schedules.start(() -> senders.send(false)));
      senders.check();
    });
  }

  private static final class Senders {
    private static final int MESSAGES = 4; // three messages, and a message for the check

    private final Queue queue = new Queue();
    private int sent; // count of messages; guarded by the monitor
    private final boolean[] refused = new boolean[MESSAGES];

    private synchronized int newNumber() {
      return sent++;
    }

    void send(boolean hasSmallStack) {
      var message = new Message(newNumber(), hasSmallStack);
      try {
        queue.push(new Envelope(message));
      } catch (StackOverflowError overflow) {
        refused[message.number] = true;
      }
    }

    void check() {
      send(false); // handles messages that are stranded
      for (int number = 0; number < sent; number++) if (queue.handled[number] != (refused[number] ? 0 : 1))
        throw new AssertionError(number + " was handled " + queue.handled[number] + " times");
      if (queue.stranded != null || !queue.isIdle()) throw new AssertionError("the right to run is lost");
    }
  }

  private record Message(int number, boolean hasSmallStack) {}

  /**
   * A queue whose senders run its drain at once, except for the first sender, for which the test
   * calls {@code drainFirst}.
   */
  private static final class Queue extends PlainQueue {
    private final int[] handled = new int[Senders.MESSAGES]; // written by the holder of the right to run
    private Object firstNode;

    Queue() {
      super(null);
    }

    @Override
    protected Object prepare(Object first) {
      if (((Message) message(first)).hasSmallStack) throw new StackOverflowError("planned");
      return null;
    }

    @Override
    protected void begin(Object prepared, Object first) {
      if (firstNode == null) firstNode = first;
      else drain(first);
    }

    void drainFirst() {
      drain(firstNode);
    }

    private void drain(Object first) {
      for (Object node = first; node != null;) {
        handled[((Message) message(node)).number]++;
        Object next = next(node, false);
        node = next != null ? next : release(node) ? null : awaitNext(node);
      }
    }

    @Override
    public boolean tryRescue() {
      Object stranded = takeStranded();
      if (stranded != null) drain(stranded);
      return true;
    }
  }
}
