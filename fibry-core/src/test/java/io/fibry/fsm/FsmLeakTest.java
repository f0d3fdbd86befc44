package io.fibry.fsm;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Exitable;
import io.fibry.fsm.DoorFixture.Closed;
import io.fibry.fsm.DoorFixture.Door;
import io.fibry.fsm.DoorFixture.Event;
import io.fibry.fsm.DoorFixture.Look;
import io.fibry.fsm.DoorFixture.Open;
import io.fibry.fsm.DoorFixture.Push;
import io.fibry.support.Patience;
import io.fibry.testing.LeakProbe;
import io.fibry.time.ManualScheduler;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import org.junit.jupiter.api.Test;

/** Tests that actors become garbage although their machine and their clock are still used. */
class FsmLeakTest {
  private static final Fsm<Door, Event> MACHINE = Fsm.of(Door.class, Event.class, new Closed())
      .on(Closed.class, Push.class, (closed, push) -> new Open(push.by()))
      .on(Door.class, Event.class, (door, event) -> door)
      .postpone(Open.class, Look.class)
      .onTimeout(Open.class, DoorFixture.OPEN_TIMEOUT, open -> new Closed());

  @Test
  void endedActorsAreGarbageWhileMachineAndClockLive() {
    var clock = new ManualScheduler();
    var references = new ArrayList<WeakReference<Object>>();
    try (var scope = ActorSystem.openScope("leaks", o -> o.withScheduler(clock))) {
      for (int i = 0; i < 100; i++) references.add(newEndedDoor(scope, i));

      assertTrue(LeakProbe.collected(references));
    }
  }

  private static WeakReference<Object> newEndedDoor(ActorScope scope, int number) {
    var door = MACHINE.newActor(scope.anonymous());
    door.sendMessage(new Push("Ada"));
    // no message may be left, because a dead letter would keep its actor in memory
    scope.awaitQuiescence(Patience.LONG);
    if (number % 2 == 0) door.close();
    else killAndWait(door);
    return new WeakReference<>(door);
  }

  private static void killAndWait(Exitable door) {
    door.kill();
    door.waitForExit();
  }

  @Test
  void unreferencedIdleActorsAreGarbage() {
    var references = new ArrayList<WeakReference<Object>>();
    for (int i = 0; i < 100; i++) references.add(new WeakReference<>(MACHINE.newActor(ActorSystem.anonymous())));

    assertTrue(LeakProbe.collected(references));
  }
}
