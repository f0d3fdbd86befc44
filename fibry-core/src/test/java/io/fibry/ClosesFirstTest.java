package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.spi.BlockBuilder;
import io.fibry.support.Patience;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** A scope tells its doors to the outside of a close before all other members. */
class ClosesFirstTest {
  private final ActorScope scope = ActorSystem.openScope("house", o -> o.withDrainLimit(Patience.LONG));
  private final List<String> ended = new CopyOnWriteArrayList<>();

  @Promise("16.16")
  @Test
  void closesFirstActorEndsBeforeYoungerActorsAreAwaited() {
    var doorIsShut = new CountDownLatch(1);
    BlockBuilder.of(scope.anonymous()).closesFirst().newSink().closeOnExit(doorIsShut::countDown);
    var guest = scope.anonymous().newActor((String m) -> {
      doorIsShut.await();
      ended.add(m);
    });
    guest.sendMessage("the guest has left");

    scope.close();

    assertEquals(List.of("the guest has left"), ended);
  }

  @Test
  void otherActorsEndInReverseCreationOrder() {
    for (String name : List.of("first", "second")) scope.anonymous().newSink().closeOnExit(() -> ended.add(name));

    scope.close();

    assertEquals(List.of("second", "first"), ended);
  }

  @Test
  void closesFirstActorMayCloseItsOwnScope() {
    var door = BlockBuilder.of(scope.anonymous()).closesFirst().newSink();

    door.execAndWait(none -> scope.close());
    door.waitForExit();

    assertEquals(new ExitReason.Stopped(), door.onExit().join());
  }

  @Test
  void closesFirstActorOfChildScopeEndsInTurn() {
    var below = scope.openScope("below");
    var doorIsShut = new CountDownLatch(1);
    BlockBuilder.of(below.anonymous()).closesFirst().newSink().closeOnExit(doorIsShut::countDown);
    below.anonymous().newActor((String m) -> doorIsShut.await()).sendMessage("waits for the door");
    scope.anonymous().newSink()
        .closeOnExit(() -> ended.add("made later, ended with the door open: " + doorIsShut.getCount()));

    scope.close();

    assertEquals(List.of("made later, ended with the door open: 1"), ended);
  }
}
