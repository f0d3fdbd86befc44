package io.fibry.engine.message;

import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Schedules;
import io.fibry.engine.queue.GuardedQueue;
import io.fibry.engine.queue.RankedEntry;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.ThreadIdGen;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests handlers that publish their wait, and then search for a cycle. If several waits close a
 * cycle together, at least one handler must find it. A cycle that was never complete must not be
 * found.
 *
 * <p>The tests were checked against four deliberate bugs in {@link Wait}. The tests {@code
 * cycleOfTwo..} and {@code cycleOfThree..} fail if a handler searches before it publishes. The test
 * {@code cycleThroughNestedHandler..} fails if a wait is published only in the innermost
 * activation. The tests {@code actorThatWaitsAnswers..} and {@code actorThatPromises..} fail if a
 * cycle is read only once, or if a wait still counts after its answer or promise.
 */
@Tag("lincheck")
class WaitCycleTest {
  private static final int SCHEDULES = 10;

  /** An actor whose handler runs on a thread of the test. */
  private static final class Member {
    final FakeActor actor = new FakeActor();
    final FakeActor.FakeHandler handler = new FakeActor.FakeHandler(actor);
    // Another member waits for this request
    final RequestFuture<Object> request = new RequestFuture<>(actor, "request", null);
    private FakeActor.FakeHandler innermost = handler;
    boolean foundCycle;

    Member() {
      actor.publish(handler);
      request.begin();
    }

    /** Adds a handler that runs inside the member's own handler, as with the strategy CALLER. */
    Member nested() {
      innermost = new FakeActor.FakeHandler(new FakeActor()).inside(handler);
      return this;
    }

    /** Publishes that this member waits for another, searches for a cycle, and keeps the wait. */
    void waitFor(Member other) {
      innermost.enter();
      foundCycle = WaitCycle.findFor(Wait.begin(other.actor, "x", other.request)) != null;
    }
  }

  /**
   * The sender waits for a member of a cycle, but does not belong to the cycle. If the sender woke
   * itself, it would search again and again, as long as the cycle exists.
   */
  @Test
  void senderWaitingForCycleMemberDoesNotWakeItself() {
    var members = List.of(new Member(), new Member(), new Member());
    var otherThreads = List.of(new Thread(), new Thread());
    for (int i = 0; i < 2; i++) {
      members.get(i).handler.thread = otherThreads.get(i);
      Wait.begin(members.get(1 - i).actor, "x", members.get(1 - i).request, members.get(i).handler, false);
    }
    var isSearchDone = new AtomicBoolean();
    var sender = Patience.startFiber(() -> {
      while (!isSearchDone.get()) Thread.yield(); // a wake during the search makes the park below return
      LockSupport.park();
    });
    members.get(2).handler.enter();
    members.get(2).handler.thread = sender;
    var fullQueue = new GuardedQueue<Object>(Mailbox.bounded(1, Overflow.BLOCK), System::nanoTime, (one, two) -> one);
    fullQueue.admit(RankedEntry.unranked("first"));
    fullQueue.offer(RankedEntry.unranked("second"), true);
    var entry = RankedEntry.<Object>unranked("third");
    fullQueue.offer(entry, true);
    assertTrue(entry.isBlocked());

    try {
      assertNull(WaitCycle.findFor(Wait.beginForSpace(members.get(0).actor, "x", entry)));

      isSearchDone.set(true);
      Patience.eventually(() -> Patience.isParked(sender) || !sender.isAlive());
      assertTrue(sender.isAlive(), "the sender was woken");
    } finally {
      isSearchDone.set(true);
      LockSupport.unpark(sender);
    }
  }

  @Test
  void cycleOfTwoWaitingHandlersIsFound() {
    Schedules.modelCheck(CycleOfTwo.class, 2, 1, 1, 10 * SCHEDULES);
  }

  @Test
  void cycleOfThreeWaitingHandlersIsFound() {
    Schedules.modelCheck(CycleOfThree.class, 3, 1, 1, 10 * SCHEDULES);
  }

  public static class CycleOfTwo extends CycleOfMembers {
    public CycleOfTwo() {
      super(2);
    }
  }

  public static class CycleOfThree extends CycleOfMembers {
    public CycleOfThree() {
      super(3);
    }
  }

  @Param(name = "member", gen = ThreadIdGen.class)
  public abstract static class CycleOfMembers {
    private final List<Member> members = new ArrayList<>();

    CycleOfMembers(int size) {
      while (members.size() < size) members.add(new Member());
    }

    @Operation
    public void waitForNextMember(@Param(name = "member") int member) {
      members.get(member % members.size()).waitFor(members.get((member + 1) % members.size()));
    }

    @Validate
    public void cycleWasFound() {
      if (members.stream().noneMatch(member -> member.foundCycle))
        throw new AssertionError("no member found the cycle");
    }
  }

  @Test
  void cycleThroughNestedHandlerIsFound() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var member = new Member();
      var nestedMember = new Member().nested();

      var first = Schedules.start(() -> member.waitFor(nestedMember));
      var second = Schedules.start(() -> nestedMember.waitFor(member));
      Schedules.join(first, second);

      assertTrue(member.foundCycle || nestedMember.foundCycle, "no member found the cycle");
    });
  }

  @Test
  void actorThatAnswersThenWaitsClosesNoCycle() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var asker = new Member();
      var answerer = new Member();

      var waiting = Schedules.start(() -> asker.waitFor(answerer));
      var answering = Schedules.start(() -> {
        answerer.request.finish("answer");
        answerer.waitFor(asker);
      });
      Schedules.join(waiting, answering);

      assertTrue(!asker.foundCycle && !answerer.foundCycle, "found a cycle that never existed");
    });
  }

  @Test
  void actorThatWaitsAnswersAndWaitsAgainClosesNoCycle() {
    Schedules.modelCheck(4 * SCHEDULES, () -> {
      var asker = new Member();
      var answerer = new Member();
      var thirdMember = new Member();
      Schedules.join(Schedules.start(() -> answerer.waitFor(thirdMember)));

      var waiting = Schedules.start(() -> asker.waitFor(answerer));
      var answering = Schedules.start(() -> {
        thirdMember.request.finish("answer");
        answerer.request.finish("answer");
        answerer.waitFor(asker);
      });
      Schedules.join(waiting, answering);

      assertTrue(!asker.foundCycle && !answerer.foundCycle, "found a cycle that never existed");
    });
  }

  @Test
  void actorThatPromisesAnswerThenWaitsClosesNoCycle() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var asker = new Member();
      var answerer = new Member();

      var waiting = Schedules.start(() -> asker.waitFor(answerer));
      var answering = Schedules.start(() -> {
        answerer.request.markAnswered();
        answerer.waitFor(asker);
      });
      Schedules.join(waiting, answering);

      assertTrue(!asker.foundCycle && !answerer.foundCycle, "found a cycle that never existed");
    });
  }

  @Test
  void waitThatHasEndedClosesNoCycleWithLaterWait() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var first = new Member();
      var second = new Member();

      var firstThread = Schedules.start(() -> {
        first.handler.enter();
        try (var wait = Wait.begin(second.actor, "x", second.request)) {
          first.foundCycle = WaitCycle.findFor(wait) != null;
        }
      });
      Schedules.join(firstThread);
      var secondThread = Schedules.start(() -> second.waitFor(first));
      Schedules.join(secondThread);

      assertNull(first.handler.currentWait());
      assertTrue(!first.foundCycle && !second.foundCycle, "found a cycle that never existed");
    });
  }
}
