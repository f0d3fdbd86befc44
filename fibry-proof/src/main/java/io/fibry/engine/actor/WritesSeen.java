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
 * A handler sees the plain writes of the sender and of the handler before it, on any thread. Two
 * threads send three messages each, and run the actor in turn.
 */
@JCStressTest
@Outcome(id = "6, 6, 0, 0", expect = ACCEPTABLE, desc = "all handled, all seen")
@Outcome(expect = FORBIDDEN, desc = "lost, unseen or two at once")
@State
public class WritesSeen {
  /** Written by the sender, read by the handler. */
  private static final class Letter {
    int written;
    Letter more;
  }

  private final ActorCell cell = (ActorCell) Stage.actor(Runnable::run, this::handle);
  private int count; // this and the next three: used by handlers only
  private int twin;
  private int unseen;
  private int torn;

  private void handle(Object message) {
    var letter = (Letter) message;
    if (letter.written != 1 || letter.more == null || letter.more.written != 2) unseen++;
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
    letter.more = new Letter();
    letter.more.written = 2;
    cell.sendMessage(letter);
  }

  @Actor
  public void one() {
    sendThree();
  }

  @Actor
  public void other() {
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
