package io.fibry.engine.message;

import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Schedules;
import io.fibry.engine.queue.GuardedQueue;
import io.fibry.engine.queue.RankedEntry;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.ThreadIdGen;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Handlers publish their wait, then look for a ring. If several waits close a cycle together, at
 * least one finds it; a cycle that was never complete is never found.
 *
 * <p>Catches faults that were tried by changing {@link Wait}. They are a search before the
 * publication ({@code ofTwoThat..}, {@code ofThreeThat..}), a wait published in the innermost
 * activation only ({@code aRingThroughANestedHandler..}), a cycle read only once, and an edge that
 * outlives its answer or promise ({@code whoWaitedBefore..}, {@code whoPromisesFirst..}).
 */
@Tag("lincheck")
class WaitCycleTest {
  private static final int SCHEDULES = 10;

  /** An actor with a handler at work, on a thread of the test. */
  private static final class Member {
    final FakeActor actor = new FakeActor();
    final FakeActor.FakeHandler handler = new FakeActor.FakeHandler(actor);
    final RequestFuture<Object> asked = new RequestFuture<>(actor, "request", null); // another member waits for it
    private FakeActor.FakeHandler innermost = handler;
    boolean told;

    Member() {
      actor.publish(handler);
      asked.begin();
    }

    /** With another handler inside of its own, as CALLER does it. */
    Member nested() {
      innermost = new FakeActor.FakeHandler(new FakeActor()).inside(handler);
      return this;
    }

    /** Publishes that it waits for another one, and looks for a ring; leaves the wait there. */
    void waitFor(Member other) {
      innermost.enter();
      told = WaitCycle.findFor(Wait.begin(other.actor, "x", other.asked)) != null;
    }
  }

  /** It would look again at once, for as long as that ring stands. */
  @Test
  void senderThatWaitsBehindCycleDoesNotWakeItself() {
    var members = List.of(new Member(), new Member(), new Member());
    var others = List.of(new Thread(), new Thread());
    for (int i = 0; i < 2; i++) {
      members.get(i).handler.thread = others.get(i);
      Wait.begin(members.get(1 - i).actor, "x", members.get(1 - i).asked, members.get(i).handler, false);
    }
    members.get(2).handler.enter();
    var full = new GuardedQueue<Object>(Mailbox.bounded(1, Overflow.BLOCK), System::nanoTime, (one, two) -> one);
    full.admit(RankedEntry.unranked("first"));
    full.offer(RankedEntry.unranked("second"), true);
    var entry = RankedEntry.<Object>unranked("third");
    full.offer(entry, true);
    assertTrue(entry.isBlocked());

    assertNull(WaitCycle.findFor(Wait.beginForSpace(members.get(0).actor, "x", entry)));

    long begun = System.nanoTime();
    LockSupport.parkNanos(20_000_000);
    assertTrue(System.nanoTime() - begun > 15_000_000, "it was woken");
  }

  @Test
  void actorIsToldWhenTwoCloseCycle() {
    Schedules.modelCheck(Two.class, 2, 1, 1, 10 * SCHEDULES);
  }

  @Test
  void actorIsToldWhenThreeCloseCycle() {
    Schedules.modelCheck(Three.class, 3, 1, 1, 10 * SCHEDULES);
  }

  public static class Two extends Closing {
    public Two() {
      super(2);
    }
  }

  public static class Three extends Closing {
    public Three() {
      super(3);
    }
  }

  @Param(name = "member", gen = ThreadIdGen.class)
  public abstract static class Closing {
    private final List<Member> members = new ArrayList<>();

    Closing(int size) {
      while (members.size() < size) members.add(new Member());
    }

    @Operation
    public void waitForTheNext(@Param(name = "member") int member) {
      members.get(member % members.size()).waitFor(members.get((member + 1) % members.size()));
    }

    @Validate
    public void somebodyWasTold() {
      if (members.stream().noneMatch(member -> member.told)) throw new AssertionError("nobody was told");
    }
  }

  @Test
  void cycleThroughNestedHandlerIsFound() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var one = new Member();
      var other = new Member().nested();

      var first = Schedules.start(() -> one.waitFor(other));
      var second = Schedules.start(() -> other.waitFor(one));
      Schedules.join(first, second);

      assertTrue(one.told || other.told, "nobody was told");
    });
  }

  @Test
  void actorThatAnswersThenWaitsClosesNoCycle() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var asker = new Member();
      var answerer = new Member();

      var waiting = Schedules.start(() -> asker.waitFor(answerer));
      var answering = Schedules.start(() -> {
        answerer.asked.finish("answer");
        answerer.waitFor(asker);
      });
      Schedules.join(waiting, answering);

      assertTrue(!asker.told && !answerer.told, "a ring that never was");
    });
  }

  @Test
  void actorThatWaitsAnswersAndWaitsAgainClosesNoCycle() {
    Schedules.modelCheck(4 * SCHEDULES, () -> {
      var asker = new Member();
      var answerer = new Member();
      var other = new Member();
      Schedules.join(Schedules.start(() -> answerer.waitFor(other)));

      var waiting = Schedules.start(() -> asker.waitFor(answerer));
      var answering = Schedules.start(() -> {
        other.asked.finish("answer");
        answerer.asked.finish("answer");
        answerer.waitFor(asker);
      });
      Schedules.join(waiting, answering);

      assertTrue(!asker.told && !answerer.told, "a ring that never was");
    });
  }

  @Test
  void actorThatPromisesThenWaitsClosesNoCycle() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var asker = new Member();
      var answerer = new Member();

      var waiting = Schedules.start(() -> asker.waitFor(answerer));
      var answering = Schedules.start(() -> {
        answerer.asked.markAnswered();
        answerer.waitFor(asker);
      });
      Schedules.join(waiting, answering);

      assertTrue(!asker.told && !answerer.told, "a ring that never was");
    });
  }

  @Test
  void aWaitThatEndedIsNoEdge() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var first = new Member();
      var second = new Member();

      var waiting = Schedules.start(() -> {
        first.handler.enter();
        try (var wait = Wait.begin(second.actor, "x", second.asked)) {
          first.told = WaitCycle.findFor(wait) != null;
        }
      });
      Schedules.join(waiting);
      var later = Schedules.start(() -> second.waitFor(first));
      Schedules.join(later);

      assertNull(first.handler.currentWait());
      assertTrue(!first.told && !second.told, "a ring that never was");
    });
  }
}
