package io.fibry.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.FailurePolicy;
import io.fibry.Request;
import io.fibry.simulation.run.RunFailure;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Tests the text and the diagram of a failure. */
class ReportTest {
  private static final String STEP = "(?m)^ +\\d+ +0\\.000000 s  ";

  private record Ask(String text) implements Request<Ask, Integer> {
    @Override
    public String toString() {
      return "Ask[" + text + "]\nand more; much more #1";
    }
  }

  private static SimulationFailure failureOfTwoAsks() {
    return assertThrows(SimulationFailure.class, () -> Simulation.run(options -> options.withReplay("0:"), sim -> {
      Actor<Ask> second = sim.scope().anonymous()
          .newActor((Ask ask, ActorContext<Ask> context) -> context.reply(ask, 1));
      var first = sim.scope().named("first").newActorWithReturn((String text) -> second.ask(new Ask(text)));
      sim.trace("it begins");
      first.ask("hello");
      throw new IllegalStateException("it ends");
    }));
  }

  @Test
  void failureTextShowsMessagesAnswersAndNotesInOrder() {
    var text = failureOfTwoAsks().getMessage().replaceAll(STEP, "").replaceFirst("after \\d+ steps", "after 9 steps");

    assertEquals("""
        seed 0 fails after 9 steps
        java.lang.IllegalStateException: it ends
        ** it begins
        main --> first: hello
        first --> anonymous-2: Ask[hello] and more; much more #1
        anonymous-2 ..> first
        first ..> main
        again: -Dfibry.simulation=0:""", text);
  }

  /** Without its decisions, the shorter run with a fault disabled may not fail. */
  @Test
  void longReplayIsReplacedByReplayOfFirstRun() {
    var decisions = new StringBuilder("0=1");
    for (int i = 1; i < 200; i++) decisions.append(',').append(i).append("=1");
    var first = failedRun(RunReplay.parse("4:" + decisions));
    var shown = failedRun(RunReplay.parse("4:" + decisions + "!kills"));

    assertEquals("4", FailureReport.of(RunReplay.of(4), first, shown, "").replay());
    assertEquals("4:0=1!kills",
        FailureReport.of(RunReplay.of(4), first, failedRun(RunReplay.parse("4:0=1!kills")), "").replay());
  }

  private static RunOutcome failedRun(RunReplay replay) {
    return new RunOutcome(replay, RunFailure.of(RunFailure.FailureKind.DEADLOCK, "all threads wait"), 9, 1, 1, Set.of(),
        null);
  }

  @Test
  void failureTextShowsFailuresRestartsAndKills() {
    var failure =
        assertThrows(SimulationFailure.class, () -> Simulation.run(options -> options.withReplay("0:"), sim -> {
          sim.faults().withAllKinds().withKills(1, actor -> actor.name().equals("victim"));
          var cart =
              sim.scope().anonymous().onFailure(FailurePolicy.restart().withoutLog()).newActor((Integer number) -> {
                throw new IllegalStateException("none of " + number);
              });
          var victim = sim.scope().named("victim").newActor((Integer number) -> {});
          cart.sendMessage(5);
          victim.sendMessage(6);
          throw new IllegalStateException("it ends");
        }));

    assertEquals("""
        seed 0 fails after 4 steps
        java.lang.IllegalStateException: it ends
        faults: kills
        ** victim is killed: a fault
        main --> anonymous-2: 5
        ** anonymous-2 failed at 5; it restarts; java.lang.IllegalStateException: none of 5
        again: -Dfibry.simulation=0:""", failure.getMessage().replaceAll(STEP, ""));
  }

  private static final class ExceptionWithOwnText extends RuntimeException {
    private static final long serialVersionUID = 1;

    @Override
    public String getMessage() {
      return "its own text";
    }
  }

  /**
   * Fibry makes the text of such an exception on another thread. The shown run has no such thread
   * while it runs, so it has the same steps as the run that failed.
   */
  @Test
  void reportedRunEqualsFailedRunWhenExceptionOverridesGetMessage() {
    var failure = assertThrows(SimulationFailure.class, () -> Simulation.run(sim -> {
      var actor = sim.scope().anonymous().onFailure(FailurePolicy.resume()).newActor((Integer number) -> {
        throw new ExceptionWithOwnText();
      });
      actor.sendMessage(5);
      actor.close();
      throw new IllegalStateException("it ends");
    }));

    assertTrue(failure.getMessage().contains("failed at 5; it continues; " + ExceptionWithOwnText.class.getName()
        + ": its own text"), failure.getMessage());
    assertFalse(failure.getMessage().contains("the run that is shown differs"), failure.getMessage());
  }

  @Test
  void diagramEscapesMermaidSyntax() {
    assertEquals("""
        sequenceDiagram
          participant p0 as main
          participant p1 as first
          participant p2 as anonymous-2
          Note over p0,p2: it begins
          p0->>p1: hello
          p1->>p2: Ask[hello] and more, much more  1
          p2-->>p1: answer
          p1-->>p0: answer
        """, failureOfTwoAsks().diagram());
  }

  @Test
  void failureTextMarksStepThatRanOutOfDefaultOrder() {
    var failure = assertThrows(SimulationFailure.class, () -> Simulation.run(sim -> {
      var lastHandler = new String[1];
      var first = sim.scope().named("first").newActor((String text) -> lastHandler[0] = "first");
      var second = sim.scope().named("second").newActor((String text) -> lastHandler[0] = "second");
      first.sendMessage("hello");
      second.sendMessage("hello");
      first.close();
      second.close();
      assertEquals("second", lastHandler[0]);
    }));

    assertTrue(failure.getMessage().contains("hello   <-- out of turn"), failure.getMessage());
    assertTrue(failure.getMessage().lines().findFirst().orElseThrow()
        .matches("seed \\d+ fails after \\d+ steps; \\d+ decisions against the order of a quiet machine,"
            + " [12] after \\d+ more runs"),
        failure.getMessage());
  }
}
