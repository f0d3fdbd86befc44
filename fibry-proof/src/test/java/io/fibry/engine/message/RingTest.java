package io.fibry;

import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.engine.actor.ActorCell;
import io.fibry.engine.cell.Activation;
import io.fibry.engine.cell.Behaviour;
import io.fibry.engine.message.RequestFuture;
import io.fibry.engine.message.Wait;
import java.util.ArrayList;
import java.util.List;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.ThreadIdGen;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Test;

/**
 * Handlers publish their wait, then look for a ring. Of several that close a ring together, at
 * least one finds it; a ring that never was complete is never found.
 *
 * <p>Catches, each tried by changing {@link Wait}: a search before the publication
 * ({@code ofTwoThat..}, {@code ofThreeThat..}); a wait published in the innermost activation only
 * ({@code aRingThroughANestedHandler..}); a ring read only once, and an edge that outlives its
 * answer or promise ({@code whoAnswersFirst..}, {@code whoPromisesFirst..}).
 */
class WaitTest {
  private static final int SCHEDULES = 60;

  /** An actor with a running handler, on a thread of the test. */
  private static final class Member {
    private static final Behaviour BEHAVIOUR = Stage.actor(Runnable::run, message -> {}).behaviour;

    final ActorCell cell = new ActorCell(BEHAVIOUR);
    final Activation handler = new Activation(cell, null, Activation.Kind.NORMAL);
    final RequestFuture<Object> asked = new RequestFuture<>(cell, "request"); // that somebody waits for
    private Activation innermost = handler;
    boolean told;

    Member() {
      cell.announce(handler);
      asked.begin();
    }

    /** Adds a handler inside its own, as CALLER does. */
    Member nested() {
      innermost = new Activation(new Member().cell, null, Activation.Kind.NORMAL);
      innermost.outer = handler;
      return this;
    }

    /** Publishes a wait that stays, and looks for a ring. */
    void waitFor(Member other) {
      handler.thread = Thread.currentThread();
      innermost.thread = Thread.currentThread();
      Activation.CURRENT.set(innermost);
      told = Wait.begin(other.cell, "x", other.asked).ring() != null;
    }
  }

  @Test
  void ofTwoThatCloseARingOneIsTold() {
    Schedules.modelCheck(Two.class, 2, 1, 1, 10 * SCHEDULES);
  }

  @Test
  void ofThreeThatCloseARingOneIsTold() {
    Schedules.modelCheck(Three.class, 3, 1, 1, 10 * SCHEDULES);
  }

  public static class Two extends Ring {
    public Two() {
      super(2);
    }
  }

  public static class Three extends Ring {
    public Three() {
      super(3);
    }
  }

  @Param(name = "member", gen = ThreadIdGen.class)
  public abstract static class Ring {
    private final List<Member> members = new ArrayList<>();

    Ring(int size) {
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
  void aRingThroughANestedHandlerIsFound() {
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
  void whoAnswersFirstAndWaitsThenClosesNoRing() {
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
  void whoPromisesFirstAndWaitsThenClosesNoRing() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var asker = new Member();
      var answerer = new Member();

      var waiting = Schedules.start(() -> asker.waitFor(answerer));
      var answering = Schedules.start(() -> {
        answerer.asked.answer();
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
        first.handler.thread = Thread.currentThread();
        Activation.CURRENT.set(first.handler);
        try (var wait = Wait.begin(second.cell, "x", second.asked)) {
          first.told = wait.ring() != null;
        }
      });
      Schedules.join(waiting);
      var later = Schedules.start(() -> second.waitFor(first));
      Schedules.join(later);

      assertNull(first.handler.waits);
      assertTrue(!first.told && !second.told, "a ring that never was");
    });
  }
}
