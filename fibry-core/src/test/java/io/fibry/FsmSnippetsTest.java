package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.fsm.Fsm;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** Runs the Javadoc snippets of state machines. */
class FsmSnippetsTest {
  private final List<Object> printed = new CopyOnWriteArrayList<>();

  private void print(Object line) {
    printed.add(line);
  }

  sealed interface Door {}
  record Closed() implements Door {}
  record Open(String visitor) implements Door {}

  sealed interface Event {}
  record Push(String visitor) implements Event {}
  record Pull() implements Event {}
  record Lock() implements Event {}

  @Test
  void pushOpensDoorAndRunsEnterCode() {
    // @start region="fsm"
    var machine = Fsm.of(Door.class, Event.class, new Closed())
        .on(Closed.class, Push.class, (closed, push) -> new Open(push.visitor()))
        .on(Open.class, Pull.class, (open, pull) -> new Closed())
        .on(Closed.class, Lock.class, (closed, lock) -> closed) // stays closed
        .postpone(Open.class, Lock.class) // until the door is closed
        .onTimeout(Open.class, Duration.ofSeconds(10), open -> new Closed())
        .onEnter(Open.class, open -> print(open.visitor() + " came in"));

    var frontDoor = machine.newActor(ActorSystem.named("front door"));
    frontDoor.sendMessage(new Push("Ada"));
    // @end

    frontDoor.close();
    assertEquals(List.of("Ada came in"), printed);
  }
}
