package io.fibry.fsm;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Exitable;
import io.fibry.LeakProbe;
import io.fibry.fsm.DoorFixture.Closed;
import io.fibry.fsm.DoorFixture.Door;
import io.fibry.fsm.DoorFixture.Event;
import io.fibry.fsm.DoorFixture.Look;
import io.fibry.fsm.DoorFixture.Open;
import io.fibry.fsm.DoorFixture.Push;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import org.junit.jupiter.api.Test;

/** Ended actors are garbage, although machine and clock live on. */
class FsmLeakTest {
  private static final Fsm<Door, Event> MACHINE = Fsm.of(Door.class, Event.class, new Closed())
      .on(Closed.class, Push.class, (closed, push) -> new Open(push.by()))
      .on(Door.class, Event.class, (door, event) -> door)
      .postpone(Open.class, Look.class)
      .onTimeout(Open.class, DoorFixture.AWHILE, open -> new Closed());

  @Test
  void actorsThatEndedAreForgottenByMachineAndClock() {
    var clock = new ManualScheduler();
    var ended = new ArrayList<WeakReference<Object>>();
    try (var scope = ActorSystem.openScope("leaks", o -> o.withScheduler(clock))) {
      for (int i = 0; i < 100; i++) ended.add(ended(scope, i));

      assertTrue(LeakProbe.collected(ended));
    }
  }

  private static WeakReference<Object> ended(ActorScope scope, int number) {
    var door = MACHINE.newActor(scope.anonymous());
    door.sendMessage(new Push("Ada"));
    scope.awaitQuiescence(Patience.LONG); // a dead letter would keep its actor
    if (number % 2 == 0) door.close();
    else end(door);
    return new WeakReference<>(door);
  }

  private static void end(Exitable door) {
    door.kill();
    door.waitForExit();
  }

  @Test
  void idleActorsThatNobodyKnowsAreGarbage() {
    var idle = new ArrayList<WeakReference<Object>>();
    for (int i = 0; i < 100; i++) idle.add(new WeakReference<>(MACHINE.newActor(ActorSystem.anonymous())));

    assertTrue(LeakProbe.collected(idle));
  }
}
