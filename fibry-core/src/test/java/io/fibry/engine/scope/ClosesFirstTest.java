package io.fibry.engine.scope;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.ExitReason;
import io.fibry.spi.BlockBuilder;
import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/**
 * Tests {@code closesFirst} actors, such as servers. A closing scope notifies them before it waits
 * for any member.
 */
class ClosesFirstTest {
  private final ActorScope scope = ActorSystem.openScope("house", o -> o.withDrainLimit(Patience.LONG));
  private final List<String> endings = new CopyOnWriteArrayList<>();

  @Promise("16.16")
  @Test
  void actorWithClosesFirstEndsBeforeYoungerActorsAreAwaited() {
    var doorClosed = new CountDownLatch(1);
    BlockBuilder.of(scope.anonymous()).closesFirst().newSink().closeOnExit(doorClosed::countDown);
    var guest = scope.anonymous().newActor((String m) -> {
      doorClosed.await();
      endings.add(m);
    });
    guest.sendMessage("the guest has left");

    scope.close();

    assertEquals(List.of("the guest has left"), endings);
  }

  @Test
  void actorsWithoutClosesFirstEndInReverseCreationOrder() {
    for (String name : List.of("first", "second")) scope.anonymous().newSink().closeOnExit(() -> endings.add(name));

    scope.close();

    assertEquals(List.of("second", "first"), endings);
  }

  @Test
  void actorWithClosesFirstMayCloseItsOwnScope() {
    var door = BlockBuilder.of(scope.anonymous()).closesFirst().newSink();

    door.execAndWait(state -> scope.close());
    door.waitForExit();

    assertEquals(new ExitReason.Stopped(), door.onExit().join());
  }

  @Test
  void actorWithClosesFirstInChildScopeEndsWithThatScope() {
    var childScope = scope.openScope("below");
    var doorClosed = new CountDownLatch(1);
    BlockBuilder.of(childScope.anonymous()).closesFirst().newSink().closeOnExit(doorClosed::countDown);
    childScope.anonymous().newActor((String m) -> doorClosed.await()).sendMessage("waits for the door");
    scope.anonymous().newSink()
        .closeOnExit(() -> endings.add("made later, ended with the door open: " + doorClosed.getCount()));

    scope.close();

    assertEquals(List.of("made later, ended with the door open: 1"), endings);
  }
}
