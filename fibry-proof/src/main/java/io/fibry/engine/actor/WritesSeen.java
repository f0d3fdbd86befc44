package io.fibry.engine.actor;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fibry.engine.scope.StressActors;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IIII_Result;

/**
 * A handler sees the plain writes of the sender and of the previous handler, on any thread. Two
 * threads send three messages each, and run the actor in turn. Results: handled messages, the same
 * number by a second counter, messages whose writes were unseen, handlers that saw different
 * counters.
 */
@JCStressTest
@Outcome(id = "6, 6, 0, 0", expect = ACCEPTABLE, desc = "all handled, all seen")
@Outcome(expect = FORBIDDEN, desc = "a message is lost, a write unseen, or two handlers ran at the same time")
@State
public class WritesSeen {
  /** Written by the sender, read by the handler. */
  private static final class PlainMessage {
    int written;
    PlainMessage next;
  }

  private final ActorCell cell = (ActorCell) StressActors.actor(Runnable::run, this::handle);
  private int count; // count, secondCount, unseen and mismatches: written by handlers only
  private int secondCount;
  private int unseen;
  private int mismatches;

  private void handle(Object message) {
    var plainMessage = (PlainMessage) message;
    if (plainMessage.written != 1 || plainMessage.next == null || plainMessage.next.written != 2) unseen++;
    if (count != secondCount) mismatches++;
    count++;
    secondCount++;
  }

  private void sendThree() {
    for (int i = 0; i < 3; i++) send();
  }

  private void send() {
    var plainMessage = new PlainMessage();
    plainMessage.written = 1;
    plainMessage.next = new PlainMessage();
    plainMessage.next.written = 2;
    cell.sendMessage(plainMessage);
  }

  @Actor
  public void firstSender() {
    sendThree();
  }

  @Actor
  public void secondSender() {
    sendThree();
  }

  @Arbiter
  public void verdict(IIII_Result result) {
    result.r1 = count;
    result.r2 = secondCount;
    result.r3 = unseen;
    result.r4 = mismatches;
  }
}
