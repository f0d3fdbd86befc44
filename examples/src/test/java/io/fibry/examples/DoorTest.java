package io.fibry.examples;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.examples.Door.Event;
import io.fibry.examples.Door.Lock;
import io.fibry.examples.Door.Push;
import io.fibry.examples.Door.Unlock;
import io.fibry.test.FibryExtension;
import io.fibry.test.TestScope;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Shows how to test code that takes time: the test moves the clock. */
@ExtendWith(FibryExtension.class)
class DoorTest {
  private Actor<Event> door;

  @BeforeEach
  void createDoor(TestScope scope) {
    door = Door.MACHINE.newActor(scope.named("door"));
  }

  @Test
  void lockMessageWaitsUntilOpenDoorIsClosed(TestScope scope) {
    door.sendMessage(new Push("Ada"));
    door.sendMessage(new Lock(1234));
    var unlockAnswer = door.sendMessageReturn(new Unlock(1234));
    scope.assertQuiet();

    scope.advance(Duration.ofMillis(99));
    assertFalse(unlockAnswer.isDone());

    scope.advance(Duration.ofMillis(1));
    assertTrue(unlockAnswer.join());
  }

  @Test
  void wrongCodeDoesNotOpenDoor() {
    door.sendMessage(new Lock(1234));

    boolean isOpen = door.ask(new Unlock(1111));

    assertFalse(isOpen);
  }
}
