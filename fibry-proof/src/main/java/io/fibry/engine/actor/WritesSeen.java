package io.fibry.engine.actor;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fibry.engine.scope.Stage;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IIII_Result;

/**
 * A handler sees the plain writes of the sender and of the previous handler, on any thread. Two
 * threads send three messages each, and run the actor in turn. Results: handled messages, the same
 * by a second counter, messages whose writes were unseen, handlers that saw the counters differ.
 */
@JCStressTest
@Outcome(id = "6, 6, 0, 0", expect = ACCEPTABLE, desc = "all handled, all seen")
@Outcome(expect = FORBIDDEN, desc = "a message is lost, a write unseen, or two handlers ran at the same time")
@State
public class WritesSeen {
  /** Written by the sender, read by the handler. */
  private static final class Letter {
    int written;
    Letter next;
  }

  private final ActorCell cell = (ActorCell) Stage.actor(Runnable::run, this::handle);
  private int count; // count, twin, unseen and torn: written by handlers only
  private int twin;
  private int unseen;
  private int torn;

  private void handle(Object message) {
    var letter = (Letter) message;
    if (letter.written != 1 || letter.next == null || letter.next.written != 2) unseen++;
    if (count != twin) torn++;
    count++;
    twin++;
  }

  private void sendThree() {
    for (int i = 0; i < 3; i++) send();
  }

  private void send() {
    var letter = new Letter();
    letter.written = 1;
    letter.next = new Letter();
    letter.next.written = 2;
    cell.sendMessage(letter);
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
    result.r2 = twin;
    result.r3 = unseen;
    result.r4 = torn;
  }
}
